"""Only what has trials enough that count is ranked; all else has a reason in place of a rank."""

from dataclasses import replace

import pytest

from behaviour import Behaviour
from middlemark.analysis.compare.comparison import comparisons
from middlemark.analysis.experiment.findings import Accounting, ExperimentFindings
from middlemark.suite.metrics import Key
from shared_runs import SharedRuns

SUITE = """
suite: counted
trials: 8
middlewares: all
workloads: {workload: imu, windows: {window: 1 s}}
"""


def with_counting_trials(
    each: ExperimentFindings, key: Key, stream: str, n: int, n_overloaded: int
) -> ExperimentFindings:
    """The same where only the first trials have a value, and so many of the others were overloaded."""
    first = dict(list(each.by_block[key].items())[:n])
    return replace(
        each, by_block={**each.by_block, key: first}, accounting=Accounting(overloaded={stream: n_overloaded})
    )


@pytest.mark.parametrize(
    ("n", "n_overloaded", "reason"),
    [
        (1, 7, "overloaded in 7 of 8 trials"),
        (3, 5, "overloaded in 5 of 8 trials"),
        (2, 0, "only 2 of 8 trials have a value, too few to rank it"),
        (0, 0, "no trial alone has messages enough for a value"),
        (4, 4, None),
    ],
)
def test_the_fastest_is_not_ranked_by_the_few_trials_that_count(
    runs: SharedRuns, n: int, n_overloaded: int, reason: str | None
) -> None:
    behaviours = {"fast": Behaviour(latency_ns=10_000), "slow": Behaviour(latency_ns=90_000)}
    fast, slow = sorted(runs.findings(SUITE, behaviours).experiments, key=lambda one: one.experiment.middleware)
    (whole,) = comparisons([fast, slow])
    assert whole.places[fast.experiment.id].text == "1"
    stream, key = whole.setting.stream, Key(whole.setting.subject, whole.criterion.metric)
    (found,) = comparisons([with_counting_trials(fast, key, stream, n, n_overloaded), slow])
    assert found.unranked.get(fast.experiment.id) == reason
    assert slow.experiment.id in found.places
