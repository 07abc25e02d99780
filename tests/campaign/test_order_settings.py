"""A suite that names an option or a profile which no worker has is refused before anything runs."""

import pytest

from middlemark.errors import SuiteError
from staged import placed, suite_text


def test_an_unknown_option_is_refused_with_its_place_and_the_closest_names() -> None:
    with pytest.raises(SuiteError) as refused:
        placed(suite_text(fualt="dies_at_start"))
    assert (refused.value.line, refused.value.problem) == (4, "`fake` has no option `fualt`")
    assert (refused.value.allowed or "").startswith("did you mean `fault`?")


def test_an_unknown_profile_is_refused_with_those_there_are() -> None:
    with pytest.raises(SuiteError) as refused:
        placed(suite_text(more="profiles: [default, tunned]"))
    assert refused.value.problem == "no middleware has a profile `tunned`"
    assert "default" in (refused.value.allowed or "")


@pytest.mark.parametrize(
    ("written", "why"),
    [("median(latancy)", "is no metric"), ("loss", "is a share"), ("capacity", "belongs to searches")],
)
def test_a_stop_on_what_has_no_relative_width_is_refused_with_its_place(written: str, why: str) -> None:
    with pytest.raises(SuiteError, match=why) as refused:
        placed(suite_text(more=f'stop: {{figures: ["{written}"]}}'))
    assert refused.value.line == 8
