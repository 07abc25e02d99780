"""A claim of what no experiment is, is refused before anything runs, with its place in the suite."""

import pytest

from middlemark.campaign.order import check_claims
from middlemark.errors import SuiteError
from middlemark.plan import expand
from middlemark.suite import LoadedSuite, parse_suite

SUITE = """\
suite: mine
middlewares: {middlewares}
workloads: {{workload: imu, size: [100 B, 1 kB]}}
claims:
  - no loss
  - {claim}
"""


def checked(claim: str, middlewares: str = "[one, two]") -> None:
    text = SUITE.format(claim=claim, middlewares=middlewares)
    suite = parse_suite(text, file="mine.yaml")
    check_claims(LoadedSuite("mine.yaml", text, suite), expand(suite, available=["one", "two"]))


@pytest.mark.parametrize(
    ("claim", "problem", "allowed"),
    [
        ("cpu[sice=1 kB] < 50 %", "no factor `sice`", "did you mean `size`?"),
        ("cpu[size=2 kB] < 50 %", "no experiment of the suite has size=2 kB", "size: "),
        ("cpu[stream=camera] < 50 %", "no experiment of the suite has stream=camera", "stream: imu"),
    ],
)
def test_what_no_experiment_has_is_refused(claim: str, problem: str, allowed: str) -> None:
    with pytest.raises(SuiteError) as refused:
        checked(claim)
    assert (refused.value.line, refused.value.problem) == (6, problem)
    assert allowed in (refused.value.allowed or "")


@pytest.mark.parametrize("claim", ["cpu[size=1kB, stream=imu] < 50 %", "no loss[middleware=two, topology=C1-1]"])
def test_what_an_experiment_has_is_taken(claim: str) -> None:
    checked(claim)


def test_a_middleware_that_is_left_out_here_is_no_mistake() -> None:
    checked("no loss[middleware=three]", middlewares="all")
