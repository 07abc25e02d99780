"""Which messages are sampled, what is set aside and counted, and which single messages are shown."""

from __future__ import annotations

import polars as pl
import pytest

from kernel_builder import (
    BROKER,
    FUTEX,
    MESSAGES_SCHEMA,
    RECEIVE,
    RECEIVER,
    SEND,
    SENDER,
    _message,
    called,
    datagram,
    found,
    packet,
    taken,
)
from middlemark.analysis.decisions.claims import judge_claim
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.kernel.breakdown import example_messages, sample_paths
from middlemark.analysis.kernel.follow import Ends
from middlemark.analysis.kernel.segments import OUTSIDE, PathSide, SetAside
from middlemark.analysis.kernel.trace import KernelTrace
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.results.tables import KERNEL_EVENTS_SCHEMA
from middlemark.suite import Observation, parse_claim
from middlemark.suite.metrics import metric_named
from shared_runs import SharedRuns


def test_a_message_that_a_broker_mixes_with_another_is_set_aside() -> None:
    """The broker reads the next message while it still sends this one."""
    to_broker, to_receiver = 9 << 16 | 18, 18 << 16 | 7
    events = [
        *called(SENDER, 1010, 1080),
        *packet((1020, 1030, 1040), ports=to_broker, skb=5),
        *called(BROKER, 1100, 1150, RECEIVE),
        *taken(1140, process=BROKER, ports=18 << 16),
        *called(BROKER, 1200, 1290),
        *packet((1210, 1220, 1230), process=BROKER, ports=to_receiver, length=44, skb=6),
        *called(SENDER, 1300, 1380),
        *packet((1310, 1320, 1330), ports=to_broker, skb=7),
        *called(BROKER, 1400, 1450, RECEIVE),
        *taken(1440, process=BROKER, ports=18 << 16),
        *called(BROKER, 1460, 1490),
        *packet((1470, 1475, 1480), process=BROKER, ports=to_receiver, length=20, skb=8),
        *called(RECEIVER, 1500, 1600, RECEIVE),
        *taken(1590, length=44),
        *called(RECEIVER, 1700, 1800, RECEIVE),
        *taken(1790, length=20),
    ]
    assert found(events).set_aside == {SetAside.AMBIGUOUS: 1}


def test_a_message_without_a_way_is_set_aside_and_counted() -> None:
    assert found(called(RECEIVER, 500, 1900, RECEIVE)).set_aside == {SetAside.NO_WAY_FOUND: 1}


@pytest.mark.parametrize("messages", [0, 3, 2000])
def test_messages_are_chosen_evenly_and_at_most_the_requested_number(messages: int) -> None:
    chosen = [{"sent_ns": 10 * number, "received_ns": 10 * number + 5} for number in range(messages)]
    trace = KernelTrace(pl.DataFrame(schema=KERNEL_EVENTS_SCHEMA))
    received = pl.DataFrame([{**_message(), **each} for each in chosen], schema=MESSAGES_SCHEMA)
    result = sample_paths(trace, received, lambda _, __: Ends(SENDER, RECEIVER), samples=100)
    assert sum(result.set_aside.values()) == min(messages, 100)


def test_calls_are_told_by_name_s_number_and_side() -> None:
    background = [
        *called(RECEIVER, 100, 5000, FUTEX),  # another thread waits all the while
        *called(SENDER, 1500, 5000, 230),  # and the sender for its next message
    ]
    background[0]["thread"] = background[1]["thread"] = RECEIVER + 5
    assert found([*datagram(), *background]).calls == {
        (PathSide.SENDER, SEND): 1,
        (PathSide.SENDER, 230): 1,
        (PathSide.RECEIVER, RECEIVE): 1,
    }


def test_the_messages_told_are_those_in_the_middle_and_of_the_slow() -> None:
    begins = [10_000 * number for number in range(1, 201)]
    events = [each for begin_ns in begins for each in datagram(begin_ns)]
    received = pl.DataFrame(
        [
            {**_message(), "sequence": n, "sent_ns": begin_ns, "received_ns": begin_ns + 1000 + n}
            for n, begin_ns in enumerate(begins)
        ],
        schema=MESSAGES_SCHEMA,
    )
    trace = KernelTrace(pl.DataFrame(events, schema=KERNEL_EVENTS_SCHEMA))
    told = example_messages(trace, received, lambda _, __: Ends(SENDER, RECEIVER), {SEND: "sendto"})
    assert [(each.share, each.n, each.path.whole_ns) for each in told] == [(0.5, 200, 1099), (0.99, 200, 1197)]
    (crossing,) = told[0].path.crossings
    assert crossing.first == crossing.last
    few = example_messages(trace, received[:99], lambda _, __: Ends(SENDER, RECEIVER), {})
    assert [each.share for each in few] == [0.5]


def test_a_neighbour_is_told_where_a_message_s_way_is_not_found() -> None:
    rows = [
        {**_message(), "sequence": n, "sent_ns": b, "received_ns": b + 1000 + n}
        for n, b in enumerate((1000, 900_000, 4000))
    ]
    trace = KernelTrace(pl.DataFrame([*datagram(1000), *datagram(4000)], schema=KERNEL_EVENTS_SCHEMA))
    (told,) = example_messages(
        trace, pl.DataFrame(rows, schema=MESSAGES_SCHEMA), lambda _, __: Ends(SENDER, RECEIVER), {}
    )
    assert told.path.whole_ns == 1000
    assert told.share == pytest.approx(1 / 3)


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
