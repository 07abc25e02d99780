"""What a suite names and no worker, metric or experiment has is refused before anything runs, with its place."""

import pytest

from middlemark.campaign.checks.names import check_claims
from middlemark.errors import EnvironmentNotReady, SuiteError
from middlemark.plan import expand
from middlemark.suite import LoadedSuite, parse_suite
from staged import placed, suite_text

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


def beside_fake(middleware: str) -> str:
    return suite_text().replace("middlewares: [", f"middlewares: [{middleware}, ")


@pytest.mark.parametrize(
    ("middleware", "reason"),
    [("toydds", "not installed"), ("fakee", "not installed; did you mean `fake`?")],
)
def test_a_named_middleware_that_is_not_installed_is_left_out_with_the_reason(middleware: str, reason: str) -> None:
    ordered = placed(beside_fake(middleware) + f"claims: ['no loss[middleware={middleware}]', no loss]")
    assert ordered.left_out == {middleware: reason}
    assert {trial.experiment.middleware for trial in ordered.trials} == {"fake"}


def test_a_suite_of_which_nothing_is_installed_is_refused_with_the_reasons() -> None:
    with pytest.raises(EnvironmentNotReady, match="any of its middlewares: toydds: not installed"):
        placed(suite_text().replace("middleware: fake", "middleware: toydds"))


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
