"""The exact accounting: the identity, every way in which counts can contradict themselves, and runs of lost messages."""

from itertools import groupby
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from behaviour import Behaviour
from middlemark.analysis.metrics.accounting import contradictions, flows, loss_run_metrics, run_lengths
from middlemark.analysis.run import analyse
from middlemark.results.counts import Counts, PublisherCounts, SubscriberCounts
from middlemark.results.tables import RECEIVED_SCHEMA
from run_builder import build_run

SUITE = """
suite: lossy
trials: 2
middlewares: all
workloads: [{workload: imu, windows: {window: 5 s}}]
"""


def publisher(*, intended: int, refused: int = 0) -> PublisherCounts:
    return PublisherCounts(
        stream="imu",
        publisher=0,
        intended=intended,
        sent=intended - refused,
        refused=refused,
        refusal="full" if refused else None,
        last_returned_ns=1,
    )


def subscriber(*, received: int, late: int = 0, beyond: int = 0, of: int = 0) -> SubscriberCounts:
    return SubscriberCounts(
        stream="imu",
        answers=False,
        publisher=of,
        subscriber=0,
        received=received,
        late=late,
        duplicates=0,
        reordered=0,
        corrupt=0,
        foreign=0,
        negative=0,
        beyond_samples=beyond,
    )


def rows(sequences: list[int]) -> pl.DataFrame:
    n = len(sequences)
    zeros = {name: [0] * n for name in RECEIVED_SCHEMA if name not in {"application", "sequence"}}
    return pl.DataFrame({"application": ["s"] * n, "sequence": sequences} | zeros, strict=False).select(
        pl.col(name).cast(kind) for name, kind in RECEIVED_SCHEMA.items()
    )


@given(st.data())
def test_what_was_sent_is_received_late_or_lost(data: st.DataObject) -> None:
    intended = data.draw(st.integers(0, 10_000))
    refused = data.draw(st.integers(0, intended))
    received = data.draw(st.integers(0, intended - refused))
    late = data.draw(st.integers(0, intended - refused - received))
    counts = Counts(
        publishers=(publisher(intended=intended, refused=refused),),
        subscribers=(subscriber(received=received, late=late),),
    )
    (flow,) = flows(counts)
    assert flow.sent == flow.received + flow.late + flow.lost
    assert flow.lost >= 0
    assert flow.sent + flow.refused == flow.intended


def test_counts_that_agree_with_the_samples_have_no_breach() -> None:
    counts = Counts(publishers=(publisher(intended=5),), subscribers=(subscriber(received=2, late=1, beyond=1),))
    assert contradictions(counts, rows([0, 3]), ("imu",)) == []


@pytest.mark.parametrize(
    ("counts", "sequences", "said"),
    [
        (Counts(publishers=(publisher(intended=2),), subscribers=(subscriber(received=3),)), [0, 1, 2], "2 sent"),
        (Counts(publishers=(publisher(intended=5),), subscribers=(subscriber(received=3),)), [0, 1], "but 2 recorded"),
        (
            Counts(publishers=(publisher(intended=5),), subscribers=(subscriber(received=2),)),
            [1, 1],
            "recorded before",
        ),
        (Counts(publishers=(publisher(intended=5),)), [1], "no counted flow"),
        (Counts(subscribers=(subscriber(received=0, of=3),)), [], "of an unknown publisher"),
        (
            Counts(publishers=(publisher(intended=5).model_copy(update={"sent": 4}),)),
            [],
            "of 5 intended messages publisher 0 has 4 sent, 0 refused, 0 not offered",
        ),
    ],
)
def test_every_contradiction_is_found(counts: Counts, sequences: list[int], said: str) -> None:
    found = contradictions(counts, rows(sequences), ("imu",))
    assert any(said in each for each in found), found


@given(st.lists(st.booleans(), max_size=200))
def test_runs_are_the_stretches_of_missing_messages(arrived: list[bool]) -> None:
    expected = [len(list(stretch)) for came, stretch in groupby(arrived) if not came]
    assert run_lengths(np.ones(len(arrived), dtype=bool), np.array(arrived, dtype=bool)).tolist() == expected


def test_a_sequence_number_that_was_never_sent_does_not_end_a_loss_run() -> None:
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
