"""What a comparison wrote can stand beside a later one; what is no comparison is refused."""

from pathlib import Path

import pytest

import outcome
from pairs import PAIRS
from peer import Cores, Metric, Site
from ratios import compared

PAIR = PAIRS[0]
SITE = Site(Cores.TWO, 0, 1)


def row(ours: float) -> outcome.Row:
    return PAIR, SITE, [compared(Metric.MEDIAN, SITE.cores, [ours] * 5, [10.0] * 5)]


def test_the_ratio_of_an_earlier_comparison_stands_beside_the_later_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "earlier.json"
    outcome.write(written, [row(20.0)], [], [], blocks=5, seconds=1.0)
    outcome.show([row(15.0)], [], outcome.earlier(written))
    shown = capsys.readouterr().out
    assert "before" in shown
    assert shown.index("1.500 [1.500; 1.500]") < shown.index("2.000 [2.000; 2.000]")


def test_what_an_earlier_comparison_lacks_is_left_empty(capsys: pytest.CaptureFixture[str]) -> None:
    outcome.show([row(15.0)], [], {})
    assert "1.500 [1.500; 1.500]" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "{}", '{"pairs": [{}]}', '{"pairs": [{"load": {"pattern": "none"}}]}'])
def test_what_is_no_comparison_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "other.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"other\.json is no comparison"):
        outcome.earlier(tmp_path / "other.json")
