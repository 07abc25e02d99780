"""Histograms against NumPy's quantiles, merged, read from workers' logs, and written as tables."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from hypothesis import given
from hypothesis import strategies as st

from middlemark.analysis.stats.quantiles import Lost, Measured, Sketch, TooFewSamples, WithinClocks, exact_sketch
from middlemark.analysis.stats.shapes import (
    bucketed,
    empty_histogram,
    histogram_of,
    merge_histograms,
    moments,
    percentile_table,
    sketch_of_histogram,
)
from middlemark.results.histogram_log import read_log
from shared_runs import GOLDEN

WORKERS = GOLDEN / "histogram" / "worker.beyond.hlog"
"""As a worker wrote it."""
PLAIN = (
    "#[StartTime: 0.000 (seconds since epoch)]\n"
    "Tag=imu.0.1,0.000,0.000,0.000,{plain}\n"
    "Tag=left.camera.2.0.answers,0.000,0.000,0.000,{packed}\n"
    "Tag=left.camera.2.1.round_trips,0.000,0.000,0.000,{packed}\n"
)


def expanded(found: Sketch) -> list[int]:
    values: list[int] = np.repeat(found.values, found.counts).tolist()
    return values


latencies = st.lists(st.integers(0, 3_000_000_000_000), min_size=1, max_size=300)


@given(latencies)
def test_a_histogram_of_samples_is_the_one_that_recording_each_would_give(values: list[int]) -> None:
    one_by_one = empty_histogram()
    for value in values:
        one_by_one.record_value(value)
    found, negative = histogram_of(exact_sketch(np.sort(np.array(values, dtype=np.int64))))
    assert negative == 0
    assert found.get_total_count() == len(values)
    assert expanded(sketch_of_histogram(found)) == expanded(sketch_of_histogram(one_by_one))


@given(latencies)
def test_recorded_values_are_the_samples_to_three_digits(values: list[int]) -> None:
    ordered = np.sort(np.array(values, dtype=np.int64))
    found = np.array(expanded(sketch_of_histogram(histogram_of(exact_sketch(ordered))[0])))
    assert np.all(np.abs(found - ordered) <= ordered / 1000)


@given(latencies, latencies)
def test_merging_is_recording_all(first: list[int], second: list[int]) -> None:
    parts = [histogram_of(exact_sketch(np.sort(np.array(each, dtype=np.int64))))[0] for each in (first, second)]
    both = histogram_of(exact_sketch(np.sort(np.array(first + second, dtype=np.int64))))[0]
    assert expanded(sketch_of_histogram(merge_histograms(parts))) == expanded(sketch_of_histogram(both))


def test_negative_values_are_counted_beside_it() -> None:
    found, negative = histogram_of(exact_sketch(np.array([-5, -1, 7], dtype=np.int64)))
    assert (found.get_total_count(), negative) == (1, 2)


@given(st.lists(st.integers(-10, 3_000_000_000_000), max_size=300).map(sorted))
def test_what_is_cut_to_three_digits_has_the_same_histogram(values: list[int]) -> None:
    samples = exact_sketch(np.array(values, dtype=np.int64), bound_ns=5)
    cut = bucketed(samples)
    assert (cut.n, cut.bound_ns) == (len(values), 5)
    histograms = [histogram_of(each) for each in (samples, cut)]
    assert histograms[0][1] == histograms[1][1] == sum(value < 0 for value in values)
    assert len({tuple(expanded(sketch_of_histogram(histogram))) for histogram, _ in histograms}) == 1


def test_what_took_more_than_an_hour_is_an_error() -> None:
    with pytest.raises(ValueError, match="beyond the hour"):
        histogram_of(exact_sketch(np.array([10**15])))


def plain(histogram: HdrHistogram) -> str:
    """As workers wrote it once: the same encoding without compression."""
    import base64  # noqa: PLC0415
    import zlib  # noqa: PLC0415

    return base64.b64encode(zlib.decompress(base64.b64decode(histogram.encode())[8:])).decode()


def test_what_a_worker_logs_every_reader_of_such_logs_reads() -> None:
    with closing(HistogramLogReader(str(WORKERS), empty_histogram())) as reader:
        theirs = reader.get_next_interval_histogram()
        assert reader.get_next_interval_histogram() is None
    (ours,) = read_log(WORKERS)
    assert (ours.stream, ours.publisher, ours.subscriber) == ("imu", 0, 0)
    assert theirs.get_tag() == "imu.0.0"
    assert theirs.get_total_count() == ours.histogram.get_total_count() == 200
    assert theirs.get_value_at_percentile(50) == ours.histogram.get_value_at_percentile(50) == 43295


def test_a_log_is_read_with_and_without_compression_and_its_tags_name_the_flows(tmp_path: Path) -> None:
    first, second = (
        histogram_of(exact_sketch(np.array(each, dtype=np.int64)))[0] for each in ([100, 200], [5_000_000])
    )
    packed = second.encode()
    text = PLAIN.format(plain=plain(first), packed=packed.decode() if isinstance(packed, bytes) else packed)
    (tmp_path / "app.beyond.hlog").write_text(text)
    imu, camera, answered = read_log(tmp_path / "app.beyond.hlog")
    assert (imu.stream, imu.publisher, imu.subscriber, imu.answers) == ("imu", 0, 1, False)
    assert (camera.stream, camera.publisher, camera.subscriber, camera.answers) == ("left.camera", 2, 0, True)
    assert (camera.round_trips, answered.answers, answered.round_trips) == (False, True, True)
    assert (answered.stream, answered.publisher, answered.subscriber) == ("left.camera", 2, 1)
    assert expanded(sketch_of_histogram(imu.histogram)) == [100, 200]
    assert camera.histogram.get_total_count() == 1


def test_the_table_has_the_quantiles_and_how_many_there_are() -> None:
    samples = np.arange(1, 10_001, dtype=np.int64) * 100
    table = percentile_table(histogram_of(exact_sketch(samples))[0])
    rows = [line.split() for line in table.splitlines()[2:] if not line.startswith("#")]
    assert len(rows) > 20
    assert all(abs(float(value) - 100 * int(up_to)) <= 1e-3 * float(value) for value, _, up_to, *_ in rows)
    assert "TotalCount     =    10000.000" in table


RANDOM = np.random.default_rng(7)
TAILED = np.sort((1e6 * RANDOM.lognormal(sigma=0.8, size=200_000)).astype(np.int64))


def value(found: object) -> float:
    assert isinstance(found, Measured)
    return found.value


def test_the_moments_are_those_of_numpy_and_scipy() -> None:
    found = moments(exact_sketch(TAILED))
    assert value(found["mean"]) == pytest.approx(TAILED.mean())
    assert value(found["deviation"]) == pytest.approx(TAILED.std())
    assert value(found["kurtosis"]) == pytest.approx(scipy.stats.kurtosis(TAILED, fisher=False))


def test_a_normal_distribution_has_a_kurtosis_of_three() -> None:
    drawn = np.sort((1e9 + 1e6 * RANDOM.normal(size=200_000)).astype(np.int64))
    assert value(moments(exact_sketch(drawn))["kurtosis"]) == pytest.approx(3, abs=0.1)


def test_a_value_counts_as_often_as_the_samples_that_it_represents() -> None:
    values, counts = np.array([1_000, 2_000, 9_000]), np.array([100, 70, 30])
    weighted = moments(Sketch(values, counts, 200))
    assert weighted == pytest.approx(moments(exact_sketch(np.repeat(values, counts))))


def test_one_lost_message_leaves_no_moment() -> None:
    assert set(moments(exact_sketch(TAILED, lost=1)).values()) == {Lost(len(TAILED) + 1, 1)}


def test_few_samples_have_no_mean_and_some_more_no_kurtosis() -> None:
    assert set(moments(exact_sketch(TAILED[:19])).values()) == {TooFewSamples(19)}
    some = moments(exact_sketch(TAILED[:99]))
    assert isinstance(some["deviation"], Measured)
    assert some["kurtosis"] == TooFewSamples(99)


def test_equal_samples_have_no_kurtosis() -> None:
    assert moments(exact_sketch(np.full(200, 5_000))).keys() == {"mean", "deviation"}


def test_clocks_that_may_be_further_apart_than_the_mean_measure_none() -> None:
    mean = value(moments(exact_sketch(TAILED))["mean"])
    found = moments(exact_sketch(TAILED, bound_ns=round(2 * mean)))
    assert all(isinstance(each, WithinClocks) for each in found.values())
