"""The shape of a distribution: distribution function, box plot and HdrHistogram, mean, deviation and kurtosis.

The first two, which are drawn, are small enough for a page, over all messages (a loss is the share that is never
reached) and without what lies within the clocks' bound; a histogram has three significant digits from 1 ns to an hour,
and negative values are counted outside of it. `report` draws and writes, and `results.histogram_log` reads histograms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from io import BytesIO

import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

from middlemark.analysis.stats.quantiles import (
    Lost,
    Measured,
    Sketch,
    TooFewSamples,
    Value,
    is_measurable,
    needed,
    with_clock_bound,
)

POINTS = 160
"""Points of a curve between its tails."""
TAIL = 24
"""Samples at either end that are drawn one by one."""
LOWEST_NS, HIGHEST_NS, DIGITS = 1, 3_600_000_000_000, 3
_SUB_BUCKET_BITS = 11
"""2048 sub-buckets make three digits."""
_CUTS_NS = np.concatenate(
    [np.arange(1 << _SUB_BUCKET_BITS)]
    + [np.arange(1 << (_SUB_BUCKET_BITS - 1), 1 << _SUB_BUCKET_BITS) << shift for shift in range(1, 33)]
)
"""Where the buckets begin, of all that a histogram distinguishes and beyond what it can hold."""


_FEWEST = needed(0.5)
_FEWEST_FOR_KURTOSIS = needed(0.9)
"""It rests on the tails."""
_PIECE = 1 << 16
"""Values that are looked at together: a copy of all may be too large for the memory."""


@dataclass(frozen=True)
class Curve:
    """An empirical distribution function: the share of all messages that took no longer than a value."""

    value_ns: tuple[int, ...]
    share: tuple[float, ...]
    n: int
    """Of those that arrived."""
    n_messages: int


@dataclass(frozen=True)
class Box:
    """The quantiles of a box plot in nanoseconds; None of too few, of lost ones, and within the clocks' bound."""

    minimum: float | None
    p10: float | None
    p25: float | None
    p50: float | None
    p75: float | None
    p90: float | None
    p99: float | None
    maximum: float | None
    n: int


def curve(samples: Sketch) -> Curve:
    """The distribution, thinned to points of equal share between tails that keep every sample."""
    n = samples.n
    if n <= POINTS + 2 * TAIL:
        ranks = np.arange(1, n + 1)
    else:
        middle = np.linspace(TAIL, n - TAIL, POINTS).round().astype(np.int64)
        ranks = np.unique(np.concatenate([np.arange(1, TAIL), middle, np.arange(n - TAIL, n + 1)]))
    values = samples.at(ranks)
    measurable = values > samples.bound_ns if samples.bound_ns else np.full(len(values), fill_value=True)
    return Curve(
        value_ns=tuple(values[measurable].tolist()),
        share=tuple((ranks[measurable] / samples.n_messages).tolist()),
        n=n,
        n_messages=samples.n_messages,
    )


def box(samples: Sketch) -> Box:
    """The quantiles that the samples support; at least one message must have arrived."""

    def quantile(level: float) -> float | None:
        value = samples.quantile(level)
        return measurable(value.value) if isinstance(value, Measured) else None

    def measurable(value_ns: float) -> float | None:
        return float(value_ns) if is_measurable(value_ns, samples.bound_ns) else None

    return Box(
        minimum=measurable(samples.values[0]),
        p10=quantile(0.10),
        p25=quantile(0.25),
        p50=quantile(0.50),
        p75=quantile(0.75),
        p90=quantile(0.90),
        p99=quantile(0.99),
        maximum=measurable(samples.values[-1]),
        n=samples.n,
    )


def empty_histogram() -> HdrHistogram:
    """A histogram to add others to."""
    return HdrHistogram(LOWEST_NS, HIGHEST_NS, DIGITS)


def sketch_of_histogram(histogram: HdrHistogram) -> Sketch:
    """Every recorded value in the middle of its bucket, ascending, with how often it was recorded."""
    counted = [
        (histogram.get_value_from_index(index), count)
        for index in range(histogram.counts_len)
        if (count := histogram.get_count_at_index(index))
    ]
    middles = np.array([value + (_width_ns(value) >> 1) for value, _ in counted], dtype=np.int64)
    counts = np.array([count for _, count in counted], dtype=np.int64)
    return Sketch(middles, counts, int(counts.sum()))


def _width_ns(value: int) -> int:
    return 1 << max(value.bit_length() - _SUB_BUCKET_BITS, 0)


def bucketed(samples: Sketch) -> Sketch:
    """The same to three digits, cut to where the buckets begin; all that is negative as -1."""
    below = samples.below(_CUTS_NS)
    counts = np.diff(below, prepend=0, append=samples.n)
    is_filled = counts > 0
    return replace(samples, values=np.concatenate([[-1], _CUTS_NS])[is_filled], counts=counts[is_filled])


def histogram_of(samples: Sketch) -> tuple[HdrHistogram, int]:
    """The histogram of samples, and how many of these are negative and so not in it."""
    histogram, negative = empty_histogram(), 0
    cut = bucketed(samples)
    for value, count in zip(cut.values.tolist(), cut.counts.tolist(), strict=True):
        if value < 0:
            negative = count
        elif not histogram.record_value(value, count):
            raise ValueError(f"{value} ns is beyond the hour that a histogram can hold")
    return histogram, negative


def merge_histograms(histograms: Iterable[HdrHistogram]) -> HdrHistogram:
    """All of them together."""
    whole = empty_histogram()
    for histogram in histograms:
        whole.add(histogram)
    return whole


def percentile_table(histogram: HdrHistogram, above_ns: int = 0) -> str:
    """The table that HdrHistogram's own tools and plotters read (`.hgrm`), in nanoseconds; only what is above that."""
    out = BytesIO()
    histogram.output_percentile_distribution(out, 1.0)
    lines = out.getvalue().decode().splitlines(keepends=True)
    return "".join(line for line in lines if not above_ns or _time_ns(line) > above_ns)


def _time_ns(line: str) -> float:
    """The time in a line of the table: of a row its value, of the notes below the mean; others have none."""
    words = line.replace("#[Mean", "").replace("=", "").replace(",", "").split()
    return float(words[0]) if words and words[0].replace(".", "").isdigit() else math.inf


def moments(samples: Sketch) -> Mapping[str, Value]:
    """Mean, deviation and kurtosis by their names, as far as the clocks' bound allows; equal values have no kurtosis.

    A lost message takes for ever, so that with one there is none of them; quantiles are what says something then. The
    kurtosis is Pearson's (Biometrika 4, 1905): the fourth moment about the mean over the squared variance, 3 for a
    normal distribution.
    """
    n = samples.n_messages
    if samples.lost:
        return dict.fromkeys(("mean", "deviation", "kurtosis"), Lost(n, samples.lost))
    if n < _FEWEST:
        return dict.fromkeys(("mean", "deviation", "kurtosis"), TooFewSamples(n))
    mean = _moment(samples, 1, 0.0)
    variance = _moment(samples, 2, mean)
    values: dict[str, Value] = {
        "mean": with_clock_bound(Measured(mean, n), samples.bound_ns),
        "deviation": with_clock_bound(Measured(math.sqrt(variance), n), samples.bound_ns, mean),
    }
    if n < _FEWEST_FOR_KURTOSIS:
        values["kurtosis"] = TooFewSamples(n)
    elif variance:
        kurtosis = Measured(_moment(samples, 4, mean) / variance**2, n)
        values["kurtosis"] = with_clock_bound(kurtosis, samples.bound_ns, mean)
    return values


def _moment(samples: Sketch, power: int, centre: float) -> float:
    """The mean of a power of the distances from a value."""
    return math.fsum(float(counts @ (values - centre) ** power) for values, counts in _pieces(samples)) / samples.n


def _pieces(samples: Sketch) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    for begin in range(0, len(samples.values), _PIECE):
        part = slice(begin, begin + _PIECE)
        yield samples.values[part].astype(np.float64), samples.counts[part].astype(np.float64)
