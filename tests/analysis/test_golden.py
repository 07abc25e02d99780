"""A run stored in format 1 must load for ever, and say what it said when it was stored."""

from pathlib import Path

import pytest

from middlemark.analysis.run import RunFindings, analyse
from middlemark.analysis.run_folder import RunFolder

GOLDEN = Path(__file__).parent.parent / "golden" / "run-format-1"
EXPECTED = {
    ("alpha", "latency_from_send_p50_ns"): 29131.0,
    ("alpha", "loss_share"): 0.055,
    ("alpha", "round_trip_p50_ns"): 60068.5,
    ("beta", "latency_from_send_p50_ns"): 82424.0,
    ("beta", "loss_share"): 0.0,
    ("beta", "round_trip_p50_ns"): 162442.5,
}


@pytest.fixture(scope="module")
def golden() -> RunFindings:
    return analyse(RunFolder(GOLDEN))


def test_every_trial_of_the_golden_run_is_read(golden: RunFindings) -> None:
    assert golden.damaged == ()
    assert golden.missing == ()
    assert golden.n_trials == 12


def test_its_estimates_are_those_that_it_was_stored_with(golden: RunFindings) -> None:
    found = {
        (each.experiment.middleware, metric): estimate.value
        for each in golden.experiments
        for metric in ("latency_from_send_p50_ns", "round_trip_p50_ns", "loss_share")
        if (estimate := each.estimate(f"stream:{each.experiment.workload}", metric)) is not None
        and each.experiment.workload == ("ping_pong" if metric.startswith("round") else "imu")
    }
    assert found == EXPECTED


def test_its_verdicts_are_those_that_it_was_stored_with(golden: RunFindings) -> None:
    said = {comparison.setting.workload: comparison for comparison in golden.comparisons}
    assert [each.experiment.middleware for each in said["ping_pong"].experiments] == ["beta", "alpha", "gamma"]
    why = {name.split("-")[0]: reason for name, reason in said["imu"].unranked.items()}
    assert why["alpha"] == "loses 5.5 % of its messages"
    assert why["gamma"] == "not applicable: it carries 16 bytes at most"
