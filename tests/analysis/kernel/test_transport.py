"""What share of sends was TCP's, and of a message's time the kernel's, is told by trials whose kernel path was observed."""

import pytest

from middlemark.analysis.decisions.claims import judge_claim
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.kernel.segments import OUTSIDE
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.suite import Observation, parse_claim
from middlemark.suite.metrics import metric_named
from shared_runs import SharedRuns


@pytest.fixture
def over_tcp(runs: SharedRuns) -> ExperimentFindings:
    (found,) = runs.golden("run-format-1-observers").findings.experiments
    return found


def test_a_run_over_tcp_sent_over_tcp(over_tcp: ExperimentFindings) -> None:
    found = over_tcp.evidence(metric_named("tcp_share"), None)
    ((by_tcp, sends),) = found.counts.values()
    assert by_tcp == sends > 50


def test_the_kernels_share_is_what_no_process_spends_in_its_own_code(over_tcp: ExperimentFindings) -> None:
    own = over_tcp.observed[Observation.KERNEL_PATH]
    parts = {part: own.estimate("stream:imu", f"path_typical_{part}_ns") for part in (*OUTSIDE.values(), "whole")}
    spent = {part: each.value for part, each in parts.items() if each is not None and each.value is not None}
    whole_ns = spent.pop("whole")  # type: ignore[call-overload]  # a part's name is text
    (share,) = over_tcp.evidence(metric_named("kernel_share"), "imu").block_values.low.values()
    assert share == pytest.approx(1 - sum(spent.values()) / whole_ns)


@pytest.mark.parametrize("claim", ["tcp_share > 90 %", "kernel_share > 50 %"])
def test_a_claim_on_what_is_observed_asks_the_observed_trials(over_tcp: ExperimentFindings, claim: str) -> None:
    judged = judge_claim(parse_claim(claim), [over_tcp])
    assert (judged.judgement, judged.parts[0].reason) == (Judgement.UNDECIDED, "fewer than 3 trials")
    assert judged.parts[0].n_trials == 1


def test_without_the_observation_there_is_nothing_to_judge(runs: SharedRuns) -> None:
    unobserved = runs.golden("run-format-1").findings.experiments[0]
    judged = judge_claim(parse_claim("tcp_share > 90 %"), [unobserved])
    assert judged.judgement is Judgement.UNDECIDED
    assert not judged.parts[0].n_trials
