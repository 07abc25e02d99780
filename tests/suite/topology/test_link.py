"""A mobility that was written out is read again as what it was."""

import pytest

from middlemark.suite import Mobility


@pytest.mark.parametrize(
    "asked",
    [
        {"distance": "5 m"},
        {"farthest": "200 m", "speed": "100 m/s"},
        {"farthest": "9 m", "speed": "1 m/s", "rounds": 1},
    ],
)
def test_a_stored_mobility_can_be_read_again(asked: dict[str, object]) -> None:
    mobility = Mobility.model_validate(asked)
    assert Mobility.model_validate_json(mobility.model_dump_json()) == mobility
