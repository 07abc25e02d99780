"""Conditions are read strictly and decided by whole intervals."""

import pytest

from middlemark.analysis.decisions.gate import parse_condition
from middlemark.errors import UsageError


@pytest.mark.parametrize(
    ("written", "metric", "above", "of_change", "bound"),
    [
        ("p99(latency) > +5 %", "latency_from_send_p99_ns", True, True, 0.05),
        ("goodput<-10%", "goodput_bytes_per_s", False, True, -0.10),
        ("loss > +0.1 pp", "loss_share", True, True, 0.001),
        ("loss > 0.1 %", "loss_share", True, False, 0.001),
        ("median(round_trip) > 200 µs", "round_trip_p50_ns", True, False, 200_000),
        ("memory > 40 MiB", "peak_memory_bytes", True, False, 40 << 20),
        ("goodput < 80 MB/s", "goodput_bytes_per_s", False, False, 80e6),
        ("cpu > 50 %", "cpu_percent_of_core", True, False, 50),
        ("first_message > 1.5 s", "first_message_ns", True, False, 1_500_000_000),
    ],
)
def test_a_condition_is_read(written: str, metric: str, bound: float, *, above: bool, of_change: bool) -> None:
    found = parse_condition(written)
    assert (found.metric.stored_name, found.above, found.of_change) == (metric, above, of_change)
    assert found.bound == pytest.approx(bound)


@pytest.mark.parametrize(
    ("written", "remedy"),
    [
        ("p99(latency)", "p99(latency) > +5 %"),
        ("p99(latency) > 5", "200 µs"),
        ("p99(latency) > 5 %", "a change with its sign"),
        ("p99(latency) > +5", "+5 %"),
        ("loss > +5 %", "percentage points"),
        ("goodput < 80 MB", "80 MB/s"),
        ("p99(latancy) > +5 %", "p99(latency)"),
        ("p99(latency) > 5 % > 3 %", "as in"),
    ],
)
def test_what_can_not_be_read_is_refused_with_what_can(written: str, remedy: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_condition(written)
    assert remedy in (refused.value.remedy or "")
