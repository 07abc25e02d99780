"""Loss runs against a count by hand, and none where not every message left a sample."""

from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.metrics.accounting import loss_run_metrics, run_lengths
from middlemark.analysis.run import analyse
from run_builder import Behaviour, build_run

SUITE = """
suite: lossy
trials: 2
middlewares: all
workloads: [{workload: imu, windows: {window: 5 s}}]
"""


@given(st.lists(st.booleans(), max_size=200))
def test_runs_are_the_stretches_of_missing_messages(arrived: list[bool]) -> None:
    expected = [len(list(stretch)) for came, stretch in groupby(arrived) if not came]
    assert run_lengths(np.ones(len(arrived), dtype=bool), np.array(arrived, dtype=bool)).tolist() == expected


def test_a_sequence_number_that_was_never_sent_ends_no_run() -> None:
    sent, received = np.isin(np.arange(7), [1, 2, 5, 6]), np.isin(np.arange(9), [6, 8])
    assert run_lengths(sent, received).tolist() == [3]


def test_without_loss_the_longest_run_is_nought_and_there_is_no_mean() -> None:
    assert set(loss_run_metrics(np.array([], dtype=np.int64), 10)) == {"longest_loss_run_messages"}


def test_independent_losses_have_runs_as_long_as_the_geometric_distribution_says(tmp_path: Path) -> None:
    findings = analyse(build_run(tmp_path / "run", SUITE, {"lossy": Behaviour(loss=0.3), "whole": Behaviour()}))
    by_name = {each.experiment.middleware: each for each in findings.experiments}
    mean = by_name["lossy"].estimate("stream:imu", "mean_loss_run_messages")
    assert mean is not None
    assert mean.value == pytest.approx(1 / 0.7, rel=0.08)
    longest = by_name["whole"].estimate("stream:imu", "longest_loss_run_messages")
    assert longest is not None
    assert longest.value == 0
