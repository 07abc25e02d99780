"""Distributions of a stream on samples that can be checked by hand."""

import numpy as np
import polars as pl
import pytest

from behaviour import MS, Behaviour
from middlemark.analysis.metrics.accounting import StreamShape
from middlemark.analysis.metrics.latency import distributions, first_message_values
from middlemark.analysis.stats.quantiles import Measured
from middlemark.plan import ClosedRequests, Periodic, StreamPattern
from middlemark.plan.patterns import ConstantTime
from middlemark.results.counts import FirstMatch
from middlemark.results.tables import PUBLISHED_SCHEMA, RECEIVED_SCHEMA
from middlemark.suite import Arrival
from middlemark.suite.metrics import TRIAL, Distribution, Key
from shared_runs import SharedRuns

LATE_AFTER_NS = 1000
PERIODIC = Periodic(rate_hz=1.0, arrival=Arrival.FIXED)


def received(*rows: tuple[int, int, int, int, int]) -> pl.DataFrame:
    """Rows of answer, sequence, intended, sent, received."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * 5
    names = ("answer", "sequence", "intended_ns", "sent_ns", "received_ns")
    zeros = {name: [0] * len(rows) for name in ("stream", "publisher", "subscriber", "deserialise_ns")}
    data = {"application": ["s"] * len(rows)} | zeros | {n: list(c) for n, c in zip(names, columns, strict=True)}
    return pl.DataFrame(data).select(pl.col(name).cast(kind) for name, kind in RECEIVED_SCHEMA.items())


def made(
    messages: pl.DataFrame, published: pl.DataFrame, late_after_ns: int, pattern: StreamPattern = PERIODIC
) -> dict[Distribution, np.ndarray]:
    shape = StreamShape("s", 64, pattern, late_after_ns)
    return {kind: ordered() for kind, ordered in distributions(messages, published, shape).items()}


NOTHING_PUBLISHED = pl.DataFrame(schema=PUBLISHED_SCHEMA)


def test_latency_counts_from_the_actual_and_from_the_intended_send() -> None:
    found = made(received((0, 0, 100, 130, 150), (0, 1, 200, 205, 245)), NOTHING_PUBLISHED, LATE_AFTER_NS)
    assert found[Distribution.LATENCY_FROM_SEND].tolist() == [20, 40]
    assert found[Distribution.LATENCY_FROM_INTENDED].tolist() == [45, 50]
    assert not len(found[Distribution.ROUND_TRIP])


def test_a_late_message_is_lost_and_has_no_latency() -> None:
    found = made(received((0, 0, 0, 0, 1000), (0, 1, 0, 0, 1001)), NOTHING_PUBLISHED, LATE_AFTER_NS)
    assert found[Distribution.LATENCY_FROM_SEND].tolist() == [1000]


def test_a_negative_latency_stays_as_it_is() -> None:
    found = made(received((0, 0, 50, 50, 45)), NOTHING_PUBLISHED, LATE_AFTER_NS)
    assert found[Distribution.LATENCY_FROM_SEND].tolist() == [-5]


def test_a_round_trip_runs_from_the_questions_send_to_the_answers_arrival() -> None:
    found = made(received((0, 0, 0, 10, 30), (1, 0, 10, 32, 55)), NOTHING_PUBLISHED, LATE_AFTER_NS)
    assert found[Distribution.ROUND_TRIP].tolist() == [45]
    assert found[Distribution.LATENCY_FROM_SEND].tolist() == [20]


def test_a_round_trip_of_a_request_is_its_two_ways_and_what_the_server_took() -> None:
    requests = ClosedRequests(
        approach_hz=1.0, response_bytes=64, outstanding=1, timeout_ns=500, server_time=ConstantTime(time_ns=0)
    )
    # Due at 3, sent at 10, at the server at 30; filled for 2, its response was sent at 132 and came at 155.
    first = (0, 0, 3, 10, 30), (1, 0, 12, 132, 155)
    in_time, late = ((0, 1, 0, 0, 20), (1, 1, 0, 490, 500)), ((0, 2, 0, 0, 20), (1, 2, 0, 480, 501))
    found = made(received(*first, *in_time, *late), NOTHING_PUBLISHED, 10_000, requests)
    assert found[Distribution.ROUND_TRIP].tolist() == [143, 500]
    assert found[Distribution.SERVER_TIME].tolist() == [100, 470]
    assert found[Distribution.ROUND_TRIP_WITHOUT_SERVER].tolist() == [30, 43]
    assert found[Distribution.ROUND_TRIP_FROM_INTENDED].tolist() == [150, 500]


def test_jitter_is_between_consecutive_sequence_numbers_in_any_order_of_arrival() -> None:
    latencies = {2: 40, 0: 10, 1: 25, 4: 90}
    rows = [(0, sequence, 0, 0, latency) for sequence, latency in latencies.items()]
    found = made(received(*rows), NOTHING_PUBLISHED, LATE_AFTER_NS)
    assert found[Distribution.JITTER].tolist() == [15, 15]


@pytest.mark.parametrize("fill_ns", [(None, None), (700, 1400)])
def test_publishers_give_their_call_and_their_pacing_error_without_filling(fill_ns: tuple[int | None, ...]) -> None:
    hand_over_ns = [(due_ns + (fill or 0)) for due_ns, fill in zip((100, 200), fill_ns, strict=True)]
    columns = {
        "application": ["p", "p"],
        "stream": [0, 0],
        "publisher": [0, 0],
        "sequence": [0, 1],
        "intended_ns": [100, 200],
        "sent_ns": [hand_over_ns[0] + 3, hand_over_ns[1] + 1],
        "returned_ns": [hand_over_ns[0] + 10, hand_over_ns[1] + 3],
        "fill_ns": fill_ns,
        "serialise_ns": [0, 0],
        "accepted": [1, 1],
    }
    published = pl.DataFrame(columns).select(pl.col(name).cast(kind) for name, kind in PUBLISHED_SCHEMA.items())
    found = made(received(), published, LATE_AFTER_NS)
    assert found[Distribution.PUBLISH_CALL].tolist() == [2, 7]
    assert found[Distribution.PACING_ERROR].tolist() == [1, 3]
    assert found[Distribution.FILL].tolist() == [fill for fill in fill_ns if fill is not None]


def test_serialising_is_told_apart_and_with_the_latency_of_the_messages_that_came() -> None:
    came = received((0, 0, 0, 10, 30), (0, 2, 0, 50, 90)).with_columns(
        deserialise_ns=pl.Series([4, 5], dtype=pl.UInt32)
    )
    sent = {"application": ["p"] * 3, "sequence": [0, 1, 2], "serialise_ns": [100, 200, 300]}
    missing = [pl.lit(0).alias(name) for name in PUBLISHED_SCHEMA if name not in sent]
    published = pl.DataFrame(sent).with_columns(missing)
    published = published.select(pl.col(name).cast(kind) for name, kind in PUBLISHED_SCHEMA.items())
    shape = StreamShape("s", 64, PERIODIC, LATE_AFTER_NS, is_typed=True)
    found = {kind: ordered() for kind, ordered in distributions(came, published, shape).items()}
    assert found[Distribution.SERIALISE].tolist() == [100, 200, 300]
    assert found[Distribution.DESERIALISE].tolist() == [4, 5]
    assert found[Distribution.LATENCY_FROM_SEND].tolist() == [20, 40]
    assert found[Distribution.LATENCY_WITH_SERIALISATION].tolist() == [124, 345]
    assert Distribution.SERIALISE not in made(came, published, LATE_AFTER_NS), "octets are not serialised"


def test_of_a_worker_that_does_not_tell_nothing_is_known_of_serialising() -> None:
    unknown = received((0, 0, 0, 10, 30)).with_columns(deserialise_ns=pl.lit(None, pl.UInt32))
    shape = StreamShape("s", 64, PERIODIC, LATE_AFTER_NS, is_typed=True)
    found = distributions(unknown, NOTHING_PUBLISHED, shape)
    kinds = (Distribution.SERIALISE, Distribution.DESERIALISE, Distribution.LATENCY_WITH_SERIALISATION)
    assert [len(found[kind]()) for kind in kinds] == [0, 0, 0]


SUITE = """
suite: one
trials: 1
middlewares: udp
workloads: imu
"""


def first_messages(runs: SharedRuns, *matches: FirstMatch) -> dict[Key, object]:
    """The values of a trial in which publishers matched so."""
    [trial] = runs.run(SUITE, {"udp": Behaviour()}).stored_trials()
    return dict(first_message_values(trial.read_record().model_copy(update={"matched": matches})))


def match(after_ns: int, handshake_ns: int | None = None, *, answers: bool = False) -> FirstMatch:
    return FirstMatch(stream="imu", publisher=0, after_ns=after_ns, handshake_ns=handshake_ns, answers=answers)


def test_a_trial_is_matched_when_its_last_publisher_is_and_answers_do_not_count(runs: SharedRuns) -> None:
    key = Key(TRIAL, "matched_ns")
    found = first_messages(runs, match(3 * MS), match(9 * MS, answers=True), match(5 * MS))
    assert (found[key], first_messages(runs).get(key)) == (Measured(5.0 * MS, 2), None)


def test_the_longest_handshake_is_told_apart(runs: SharedRuns) -> None:
    key = Key(TRIAL, "handshake_ns")
    found = first_messages(runs, match(9 * MS, 2 * MS), match(8 * MS, 3 * MS), match(7 * MS))
    assert (found[key], first_messages(runs, match(9 * MS)).get(key)) == (Measured(3.0 * MS, 2), None)
