"""A comparison in words: signs, and what could have been found where nothing was."""

from middlemark.analysis.verdicts.difference import Difference, Test
from middlemark.report.conclusions.comparison import detectable_words, points


def share_difference(low: float, high: float) -> Difference:
    return Difference((low + high) / 2, low, high, 8, 8, is_ratio=False, test=Test.SHARES)


def test_a_share_that_falls_has_a_minus_and_no_hyphen() -> None:
    assert points(share_difference(-0.01, 0.005)) == "−0.25\u202fpp (−1 to +0.5)"


def test_an_interval_without_width_tells_no_smallest_difference() -> None:
    words = detectable_words(Difference(1, 1, 1, 8, 8, is_ratio=True, test=Test.SIGNED_RANKS))
    assert "no width" in words
    assert "0 %" not in words


def test_an_interval_with_width_tells_the_smallest_difference() -> None:
    words = detectable_words(share_difference(-0.01, 0.01))
    assert words.startswith("detectable: ")
    assert words.endswith("percentage points or more")
