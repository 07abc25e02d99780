"""What one trial's metrics make of messages that were lost, refused, late, left without a sample, or never sent."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest
from hdrh.histogram import HdrHistogram

from behaviour import BEGIN_NS, MS, Behaviour
from middlemark.analysis.metrics.trial import TrialMetrics, trial_metrics, values_without_queues
from middlemark.analysis.stats.quantiles import Lost, Measured, Partial, Value
from middlemark.results.counts import PublisherCounts, SubscriberCounts
from middlemark.results.histogram_log import FlowHistogram
from middlemark.results.record import TrialRecord
from middlemark.suite.metrics import Distribution, Key, metrics_of_distribution
from shared_runs import SharedRuns

SUITE = """
suite: one
trials: 1
middlewares: all
workloads: [{{workload: imu, rate: 1 kHz{more}}}]
windows: {{window: 1 s}}
"""
PING_PONG = SUITE.format(more="").replace("{workload: imu, rate: 1 kHz}", "ping_pong")
UNTHROTTLED = SUITE.format(more=", pattern: unthrottled").replace(", rate: 1 kHz", "")
END_NS = BEGIN_NS + 1000 * MS


@dataclass(frozen=True)
class Trial:
    """A trial as it was stored, to be changed and looked at."""

    record: TrialRecord
    received: pl.DataFrame
    published: pl.DataFrame
    beyond: tuple[FlowHistogram, ...] = ()

    def metrics(self) -> TrialMetrics:
        return trial_metrics(self.record, self.received, self.published, self.beyond)

    def value(self, metric: str) -> Value:
        (stream,) = self.record.trial.experiment.streams
        return self.metrics().values[Key(f"stream:{stream.name}", metric)]

    def number(self, metric: str) -> float:
        found = self.value(metric)
        assert isinstance(found, Measured)
        return found.value

    def counting(
        self,
        publisher: Callable[[PublisherCounts], PublisherCounts] = lambda counts: counts,
        subscriber: Callable[[SubscriberCounts], SubscriberCounts] = lambda counts: counts,
    ) -> "Trial":
        counts = self.record.counts.model_copy(
            update={
                "publishers": tuple(map(publisher, self.record.counts.publishers)),
                "subscribers": tuple(map(subscriber, self.record.counts.subscribers)),
            }
        )
        return replace(self, record=self.record.model_copy(update={"counts": counts}))

    def losing(self, n: int) -> "Trial":
        """The last messages, and answers, of each flow never arrive."""
        last = self.received["sequence"].max()
        assert isinstance(last, int)
        kept = self.received.filter(pl.col("sequence") <= last - n)
        fewer = self.counting(subscriber=lambda counts: counts.model_copy(update={"received": counts.received - n}))
        return replace(fewer, received=kept)

    def refusing(self, n: int) -> "Trial":
        """The same, as the middleware did not even take them."""
        last = self.published["sequence"].max()
        assert isinstance(last, int)
        accepted = (pl.col("sequence") <= last - n).cast(pl.UInt8).alias("accepted")
        refused = self.losing(n).counting(
            lambda counts: counts.model_copy(update={"sent": counts.sent - n, "refused": n, "refusal": "full"})
        )
        return replace(refused, published=self.published.with_columns(accepted.cast(self.published.schema["accepted"])))


def trial(runs: SharedRuns, suite: str = SUITE.format(more=""), how: Behaviour | None = None) -> Trial:
    folder = runs.run(suite, {"one": how or Behaviour()})
    (stored,) = folder.stored_trials()
    return Trial(stored.read_record(), stored.read_received(), stored.read_published())


def test_quantiles_are_of_all_messages_and_none_is_beyond_what_arrived(runs: SharedRuns) -> None:
    whole = trial(runs)
    lossy = whole.losing(20)
    for kind in ("latency_from_send", "latency_from_intended"):
        values = np.sort(_times(lossy, kind))
        assert lossy.value(f"{kind}_p90_ns") == Measured(float(values[899]), 1000)
        assert lossy.value(f"{kind}_p99_ns") == Lost(1000, 20)
        assert lossy.value(f"{kind}_max_ns") == Measured(float(values[-1]), 980)
        assert values_without_queues(lossy.metrics())[Key("stream:imu", f"{kind}_p99_ns")] == math.inf
    for metric in ("jitter_p90_ns", "publish_call_p99_ns", "pacing_error_p99_ns"):
        assert isinstance(lossy.value(metric), Measured)


def _times(of: Trial, kind: str) -> np.ndarray:
    earlier = "sent_ns" if kind == "latency_from_send" else "intended_ns"
    return of.received.select(pl.col("received_ns") - pl.col(earlier)).to_series().to_numpy()


@pytest.mark.parametrize("suite", [SUITE.format(more=""), PING_PONG], ids=["periodic", "ping_pong"])
def test_what_filling_takes_is_in_no_time_but_its_own(runs: SharedRuns, suite: str) -> None:
    quick, slow = (trial(runs, suite, Behaviour(fill_ns=fill_ns)).metrics() for fill_ns in (0, 700_000))
    times = [key for key in quick.values if key.metric.endswith("_ns") and not key.metric.startswith("fill")]
    assert {"latency_from_intended_p50_ns", "pacing_error_p50_ns"} <= {key.metric for key in times}
    assert ("round_trip_p50_ns" in {key.metric for key in times}) is (suite is PING_PONG)
    assert {key: slow.values[key] for key in times} == {key: quick.values[key] for key in times}
    (filled,) = (value for key, value in slow.values.items() if key.metric == "fill_p50_ns")
    assert isinstance(filled, Measured)
    assert filled.value == 700_000


def test_filling_has_no_figure_where_it_was_not_recorded(runs: SharedRuns) -> None:
    assert [key for key in trial(runs).metrics().values if key.metric.startswith("fill")] == []


def test_of_a_rate_without_a_schedule_the_share_of_filling_is_told(runs: SharedRuns) -> None:
    filled = trial(runs, UNTHROTTLED, Behaviour(fill_ns=4_000))
    (counts,) = filled.record.counts.publishers
    time_ns = counts.last_returned_ns - BEGIN_NS
    assert filled.number("fill_share") == pytest.approx(4_000 * counts.sent / time_ns)
    fewer = replace(filled, published=filled.published.head(1000))
    assert fewer.value("fill_share") == Partial(1000, counts.sent)
    for suite in (SUITE.format(more=""), PING_PONG):
        paced = trial(runs, suite, Behaviour(fill_ns=4_000)).metrics()
        assert {key for key in paced.values if key.metric == "fill_share"} == set()


def test_what_comes_after_tmax_has_never_arrived(runs: SharedRuns) -> None:
    whole = trial(runs)
    late_ns = whole.record.trial.experiment.windows.late_after_ns + 1
    late = pl.when(pl.col("sequence") < 20).then(pl.col("sent_ns") + late_ns).otherwise(pl.col("received_ns"))
    counted = whole.counting(subscriber=lambda each: each.model_copy(update={"received": 980, "late": 20}))
    moved = replace(counted, received=whole.received.with_columns(received_ns=late))
    assert moved.value("latency_from_send_p99_ns") == Lost(1000, 20)


def test_a_stream_of_which_nothing_arrived_has_infinite_latency_and_no_extremes(runs: SharedRuns) -> None:
    silent = trial(runs).losing(1000)
    assert silent.value("latency_from_send_p50_ns") == Lost(1000, 1000)
    assert Key("stream:imu", "latency_from_send_max_ns") not in silent.metrics().values


def test_what_the_middleware_refuses_is_lost_to_its_user(runs: SharedRuns) -> None:
    refused = trial(runs).refusing(40)
    assert refused.number("loss_share") == 0
    assert refused.value("undelivered_share") == Measured(0.04, 1000)
    assert isinstance(refused.value("latency_from_send_p90_ns"), Measured)
    assert refused.value("latency_from_intended_p99_ns") == Lost(1000, 40)


def test_what_had_no_time_left_to_be_offered_is_undelivered(runs: SharedRuns) -> None:
    whole = trial(runs)
    unsent = whole.counting(lambda counts: counts.model_copy(update={"intended": 1250, "unsent": 250}))
    assert unsent.value("undelivered_share") == Measured(0.2, 1250)


def test_a_question_without_an_answer_is_undelivered_whatever_became_of_it(runs: SharedRuns) -> None:
    asked = trial(runs, PING_PONG)
    (n,) = {each.intended for each in asked.record.counts.publishers}
    refused = asked.refusing(n // 2)
    assert refused.number("undelivered_share") == pytest.approx(n // 2 / n)
    assert refused.number("unanswered_share") == 0
    unanswered = asked.losing(n // 2 + 1)
    assert unanswered.number("undelivered_share") == unanswered.number("unanswered_share") == (n // 2 + 1) / n
    assert isinstance(unanswered.value("round_trip_p50_ns"), Lost)


def test_a_refusal_paces_who_sends_as_fast_as_he_can(runs: SharedRuns) -> None:
    refused = trial(runs, UNTHROTTLED).refusing(40)
    assert refused.number("undelivered_share") == 0


def test_one_straggler_makes_no_rate_slower(runs: SharedRuns) -> None:
    whole = trial(runs)
    held_ns = whole.record.trial.experiment.windows.late_after_ns // 2
    held_up = pl.col("sequence") == 999
    stretched = pl.when(held_up).then(pl.col("sent_ns") + held_ns).otherwise(pl.col("received_ns"))
    slow = replace(whole, received=whole.received.with_columns(received_ns=stretched))
    size_bytes = whole.record.trial.experiment.streams[0].size_bytes
    assert whole.number("goodput_bytes_per_s") == pytest.approx(1000 * size_bytes)
    assert slow.number("goodput_bytes_per_s") == pytest.approx(999 * size_bytes)
    assert slow.number("received_rate_hz") == pytest.approx(999)
    assert slow.value("after_window_share") == Measured(0.001, 1000)


def test_who_sends_at_his_own_pace_and_ends_early_is_measured_until_then(runs: SharedRuns) -> None:
    whole = trial(runs, UNTHROTTLED)
    half_ns = BEGIN_NS + 500 * MS
    early = whole.received.filter(pl.col("received_ns") < half_ns)
    n = len(early)
    ended = whole.counting(
        lambda counts: counts.model_copy(update={"intended": n, "sent": n, "last_returned_ns": half_ns}),
        lambda counts: counts.model_copy(update={"received": n}),
    )
    ended = replace(ended, received=early)
    assert ended.number("received_rate_hz") == pytest.approx(2 * n)


def test_one_publisher_far_behind_its_own_schedule_overloads_the_stream(runs: SharedRuns) -> None:
    whole = trial(runs, SUITE.format(more="").replace("middlewares:", "topologies: [C3-1]\nmiddlewares:"))
    left_out = (pl.col("publisher") == 1) & (pl.col("sequence") >= 900)

    def behind(counts: PublisherCounts) -> PublisherCounts:
        return counts.model_copy(update={"sent": 900, "unsent": 100}) if counts.publisher == 1 else counts

    def fewer(counts: SubscriberCounts) -> SubscriberCounts:
        return counts.model_copy(update={"received": 900}) if counts.publisher == 1 else counts

    published, received = whole.published.filter(~left_out), whole.received.filter(~left_out)
    short = replace(whole.counting(behind, fewer), published=published, received=received)
    assert whole.metrics().overloaded == ()
    assert short.number("achieved_share") == pytest.approx(29 / 30)
    assert short.value("least_achieved_share") == Measured(0.9, 1000)
    assert short.metrics().overloaded == ("imu",)


def _beyond(whole: Trial, n: int, *, logged: bool) -> Trial:
    """The last messages of the only flow have no sample."""
    gone = whole.received.filter(pl.col("sequence") >= 1000 - n)
    histogram = HdrHistogram(1, 3_600_000_000_000, 3)
    for took_ns in gone.select(pl.col("received_ns") - pl.col("sent_ns")).to_series():
        histogram.record_value(took_ns)
    counted = whole.counting(subscriber=lambda counts: counts.model_copy(update={"beyond_samples": n}))
    return replace(
        counted,
        received=whole.received.filter(pl.col("sequence") < 1000 - n),
        published=whole.published.filter(pl.col("sequence") < 1000 - n),
        beyond=(FlowHistogram("imu", 0, 0, answers=False, histogram=histogram),) if logged else (),
    )


def test_what_not_all_messages_left_a_sample_of_is_not_told(runs: SharedRuns) -> None:
    whole = trial(runs)
    found = _beyond(whole, 300, logged=True)
    sent = found.value("latency_from_send_p99_ns")
    assert isinstance(sent, Measured)
    assert sent.n == 1000
    assert sent.value == pytest.approx(whole.number("latency_from_send_p99_ns"), rel=0.02)
    for kind in ("latency_from_intended", "jitter", "publish_call", "pacing_error"):
        for metric in metrics_of_distribution(Distribution(kind)):
            assert found.value(metric) == Partial(700, 1000)
    assert str(found.value("jitter_p50_ns")) == "only the first 700 of 1000 messages left a sample"
    assert found.number("received_rate_hz") == pytest.approx(1000)
    assert _beyond(whole, 300, logged=False).value("latency_from_send_p99_ns") == Partial(700, 1000)


def test_without_samples_it_is_unknown_what_came_after_the_window(
    runs: SharedRuns,
) -> None:
    found = _beyond(trial(runs), 300, logged=True)
    behind = found.counting(lambda counts: counts.model_copy(update={"last_returned_ns": END_NS + MS}))
    assert behind.value("goodput_bytes_per_s") == Partial(700, 1000)


@pytest.mark.parametrize("round_trips", [True, False])
def test_answers_without_a_sample_are_in_the_round_trip_where_their_worker_logged_it(
    runs: SharedRuns, *, round_trips: bool
) -> None:
    whole = trial(runs, PING_PONG)
    n_answers = sum(each.received for each in whole.record.counts.subscribers if each.answers)
    last = whole.received.filter(pl.col("answer") == 1)["sequence"].max()
    assert isinstance(last, int)
    gone = (pl.col("answer") == 1) & (pl.col("sequence") > last - 300)
    histogram = HdrHistogram(1, 3_600_000_000_000, 3)
    for took_ns in whole.received.filter(gone).select(pl.col("received_ns") - pl.col("intended_ns")).to_series():
        histogram.record_value(took_ns)
    logged = FlowHistogram("ping_pong", 0, 0, answers=True, histogram=histogram, round_trips=round_trips)
    short = replace(
        whole.counting(subscriber=lambda counts: counts.model_copy(update={"beyond_samples": 300 * counts.answers})),
        received=whole.received.filter(~gone),
        beyond=(logged,),
    )
    found = short.value("round_trip_p50_ns")
    if not round_trips:
        assert found == Partial(n_answers - 300, n_answers)
        return
    assert isinstance(found, Measured)
    assert found.n == n_answers
    assert found.value == pytest.approx(whole.number("round_trip_p50_ns"), rel=0.02)
