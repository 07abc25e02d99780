"""HdrHistograms: made from samples, merged, and written as percentile tables; `results.histogram_log` reads them.

Three significant digits from 1 ns to an hour. What a worker logs is what its sample memory had no room for; together
with the samples it is every message. Negative values have no place in such a histogram: they are counted beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from io import BytesIO

import numpy as np
from hdrh.histogram import HdrHistogram

from middlemark.analysis.stats.quantiles import Sketch

LOWEST_NS, HIGHEST_NS, DIGITS = 1, 3_600_000_000_000, 3
_SUB_BUCKET_BITS = 11
"""2048 sub-buckets make three digits."""
_CUTS_NS = np.concatenate(
    [np.arange(1 << _SUB_BUCKET_BITS)]
    + [np.arange(1 << (_SUB_BUCKET_BITS - 1), 1 << _SUB_BUCKET_BITS) << shift for shift in range(1, 33)]
)
"""Where the buckets begin, of all that a histogram tells apart and beyond what it can hold."""


def empty() -> HdrHistogram:
    """A histogram to add others to."""
    return HdrHistogram(LOWEST_NS, HIGHEST_NS, DIGITS)


def recorded(histogram: HdrHistogram) -> Sketch:
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
    there = counts > 0
    return replace(samples, values=np.concatenate([[-1], _CUTS_NS])[there], counts=counts[there])


def of_samples(samples: Sketch) -> tuple[HdrHistogram, int]:
    """The histogram of samples, and how many of these are negative and so not in it."""
    histogram, negative = empty(), 0
    cut = bucketed(samples)
    for value, count in zip(cut.values.tolist(), cut.counts.tolist(), strict=True):
        if value < 0:
            negative = count
        elif not histogram.record_value(value, count):
            raise ValueError(f"{value} ns is beyond the hour that a histogram can hold")
    return histogram, negative


def merged(histograms: Iterable[HdrHistogram]) -> HdrHistogram:
    """All of them together."""
    whole = empty()
    for each in histograms:
        whole.add(each)
    return whole


def percentile_table(histogram: HdrHistogram, above_ns: int = 0) -> str:
    """The table that HdrHistogram's own tools and plotters read (`.hgrm`), in nanoseconds; only what is above that."""
    out = BytesIO()
    histogram.output_percentile_distribution(out, 1.0)
    lines = out.getvalue().decode().splitlines(keepends=True)
    return "".join(line for line in lines if not above_ns or _time_ns(line) > above_ns)


def _time_ns(line: str) -> float:
    """The time that a line of the table tells: of a row its value, of the notes below the mean; others tell none."""
    words = line.replace("#[Mean", "").replace("=", "").replace(",", "").split()
    return float(words[0]) if words and words[0].replace(".", "").isdigit() else math.inf
