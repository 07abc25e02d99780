"""What the vendors' tools print is read as what it says: microseconds, halves and first seconds included."""

import json

import pytest

from peer import Metric
from tools import ddsperf, mosquitto, references, socket_tools

SOCKPERF = """\
sockperf: [Total Run] RunTime=2.000 sec; Warm up time=400 msec; SentMessages=430813; ReceivedMessages=430812
sockperf: [Valid Duration] RunTime=1.550 sec; SentMessages=338167; ReceivedMessages=310000
sockperf: ---> percentile 99.900 =   25.926
sockperf: ---> percentile 99.000 =    5.009
sockperf: ---> percentile 50.000 =    4.452
"""
DDSPERF_PING = """\
[28694] participant vm:28692: new
[28694] 1.000  vm:28692 size 64 mean 9.0us min 3.7us 50% 9.000us 90% 9.1us 99% 9.900us max 9.9us cnt 10
[28694] 2.000  vm:28692 size 64 mean 5.174us min 3.765us 50% 3.900us 90% 4.153us 99% 5.000us max 4086.735us cnt 90000
[28694] 2.000  rss:7.6MB vcsw:54661 ivcsw:41394 recvUC:18%+22%
[28694] 3.000  vm:28692 size 64 mean 4.463us min 3.754us 50% 4.100us 90% 4.308us 99% 6.000us max 2089.281us cnt 110000
"""
DDSPERF_SUB = """\
[28973] 1.001  size 64 total 7 lost 0 delta 7 lost 0 rate 1.00 kS/s 422.93 Mb/s (82.60 kS/s 42.29 Mb/s)
[28973] 2.000  size 64 total 9 lost 0 delta 2 lost 0 rate 800.00 kS/s 415.25 Mb/s (163.90 kS/s 83.92 Mb/s)
[28973] 3.000  size 64 total 9 lost 0 delta 2 lost 0 rate 900.00 kS/s 479.47 Mb/s (257.35 kS/s 131.76 Mb/s)
"""


def test_sockperf_gives_round_trips_in_microseconds_and_counts_valid_answers() -> None:
    found = socket_tools.sockperf_round_trips(SOCKPERF)
    assert found == {Metric.MEDIAN: 4452.0, Metric.P99: 5009.0, Metric.RATE: 200_000.0}


def test_sockperf_says_how_many_it_sent() -> None:
    assert socket_tools.sockperf_rate("sockperf: Summary: Message Rate is 1832696 [msg/sec]") == {
        Metric.RATE: 1_832_696.0
    }


@pytest.mark.parametrize("read", [socket_tools.sockperf_round_trips, socket_tools.sockperf_rate])
def test_a_sockperf_without_a_summary_is_no_measurement(read: object) -> None:
    assert callable(read)
    with pytest.raises(ValueError, match="no "):
        read("sockperf: ERROR: Can't bind socket")


def test_iperf3_counts_what_arrived_in_writes_of_the_size_asked_for() -> None:
    text = json.dumps({"end": {"sum_received": {"bytes": 3_000_000, "seconds": 1.5}}})
    assert socket_tools.iperf3_rate(text, 1_000_000) == {Metric.RATE: 2.0}


def test_ddsperf_prints_half_round_trips_and_its_first_second_is_left_out() -> None:
    found = ddsperf.round_trips(DDSPERF_PING)
    assert found == {Metric.MEDIAN: 8000.0, Metric.P99: 11_000.0, Metric.RATE: 100_000.0}


def test_ddsperf_prints_the_rate_of_each_second_in_thousands() -> None:
    assert ddsperf.received(DDSPERF_SUB) == {Metric.RATE: 850_000.0}


def test_mosquittos_messages_count_once_it_has_run_for_a_while() -> None:
    instants_s = [100.0, 100.4, 100.6, 101.0, 101.4, 101.6]
    text = "".join(f"{each}\n" for each in instants_s) + "101.7"
    assert mosquitto.arrivals(text, 1.0) == {Metric.RATE: 3.0}


def test_a_reference_program_prints_each_round_trip() -> None:
    found = references.round_trips("1000\n2000\n3000\n")
    assert (found[Metric.MEDIAN], found[Metric.RATE]) == (2000.0, 500_000.0)


def test_a_reference_program_prints_last_how_many_came_in_which_time() -> None:
    assert references.counted("a warning\n500 250000000\n") == {Metric.RATE: 2000.0}
