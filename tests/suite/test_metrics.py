"""Figures are known by the names that people write; what there is not is refused with what there is."""

import pytest

from middlemark.errors import UsageError
from middlemark.suite.metrics import Key, metric_named, usual_metrics


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("median(latency)", Key("stream:imu", "latency_from_send_p50_ns")),
        (" p50( latency ) ", Key("stream:imu", "latency_from_send_p50_ns")),
        ("p999(round_trip)", Key("stream:imu", "round_trip_p999_ns")),
        ("max(jitter)", Key("stream:imu", "jitter_max_ns")),
        ("mean(latency)", Key("stream:imu", "latency_from_send_mean_ns")),
        ("kurtosis(end_to_end)", Key("chain:imu", "end_to_end_kurtosis_ratio")),
        ("kernel_share", Key("stream:imu", "path_typical_kernel_share")),
        ("tcp_share", Key("trial", "tcp_share")),
        ("cpu_per_message", Key("trial", "cpu_per_message_ns")),
        ("wire_to_payload", Key("trial", "wire_overhead_ratio")),
        ("loss", Key("stream:imu", "loss_share")),
        ("undelivered", Key("stream:imu", "undelivered_share")),
        ("cpu", Key("trial", "cpu_percent_of_core")),
    ],
)
def test_a_name_stands_for_a_metric(written: str, key: Key) -> None:
    assert metric_named(written).key("imu") == key


@pytest.mark.parametrize(
    ("written", "remedy"),
    [("p99(latancy)", "p99(latency)"), ("p98(latency)", "p99"), ("los", "did you mean `loss`"), ("", "goodput")],
)
def test_an_unknown_metric_is_refused_with_the_known_ones(written: str, remedy: str) -> None:
    with pytest.raises(UsageError) as refused:
        metric_named(written)
    assert remedy in (refused.value.remedy or "")


def test_the_tail_that_no_publisher_can_hide_and_what_was_refused_are_usual() -> None:
    assert {"p99(latency)", "p99(latency_from_intended)", "loss", "undelivered"} <= {
        each.name for each in usual_metrics()
    }


def test_less_is_better_of_all_usual_figures_but_goodput() -> None:
    assert [each.name for each in usual_metrics() if not each.lower_is_better] == ["goodput"]
