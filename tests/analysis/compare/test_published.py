"""Published values and ours: matched cell by cell, with the ratios and orders of middlewares and their correlation."""

from pathlib import Path

import numpy as np
import pytest
import scipy

from middlemark.analysis.compare.published import PaperComparison, compare_values, rank_correlation
from middlemark.analysis.run import analyse
from middlemark.plan import NotApplicable
from middlemark.suite.metrics import metric_named
from middlemark.suite.papers import Extent, load_paper
from run_builder import Behaviour, build_run
from staged_paper import stage_paper

LATENCY = metric_named("median(latency)")


def compared(folder: Path, extent: Extent, fake: Behaviour, other: Behaviour) -> PaperComparison:
    paper = load_paper(str(stage_paper(folder / "paper")))
    run = build_run(folder / "run", paper.suite("messages", extent).text, {"fake": fake, "other": other})
    return compare_values(paper.values["latency"], analyse(run).claimable)


def test_each_published_value_has_ours_of_the_same_cell(tmp_path: Path) -> None:
    found = compared(tmp_path, Extent.FULL, Behaviour(latency_ns=50_000), Behaviour(latency_ns=100_000))
    published = [each.published.value for each in found.pairs]
    assert published == [100_000, 300_000, 200_000, None]
    ours = [each.ours.value for each in found.pairs if each.ours and each.ours.value]
    assert ours == pytest.approx([50_000, 100_000, 50_000, 100_000], rel=0.2)


def test_two_middlewares_of_one_cell_have_a_ratio_in_both(tmp_path: Path) -> None:
    found = compared(tmp_path, Extent.FULL, Behaviour(latency_ns=50_000), Behaviour(latency_ns=100_000))
    (ratio,) = found.ratios  # the other cell was no communication in the paper
    assert (ratio.first.series_label, ratio.second.series_label) == ("fake", "other")
    assert ratio.published == pytest.approx(1 / 3)
    assert ratio.ours == pytest.approx(1 / 2, rel=0.2)
    assert ratio.agrees


def test_cells_of_one_group_differ_in_the_factors_of_their_series_alone(tmp_path: Path) -> None:
    paper = load_paper(str(stage_paper(tmp_path / "paper")))
    behaviours = {"fake": Behaviour(latency_ns=50_000), "other": Behaviour(latency_ns=100_000)}
    run = build_run(tmp_path / "run", paper.suite("messages", Extent.FULL).text, behaviours)
    found = compare_values(paper.values["latency"], analyse(run).claimable, ("middleware", "workload"))
    assert [pair.series_label for pair in found.pairs] == ["fake imu", "other imu", "fake radar", "other radar"]
    assert len({each.group for each in found.pairs}) == 1
    assert [(ratio.first.series_label, ratio.second.series_label) for ratio in found.ratios] == [
        ("fake imu", "other imu"),
        ("fake imu", "fake radar"),
        ("other imu", "fake radar"),
    ]


def test_the_other_order_is_told(tmp_path: Path) -> None:
    found = compared(tmp_path, Extent.FULL, Behaviour(latency_ns=100_000), Behaviour(latency_ns=50_000))
    assert (found.n_agreeing, len(found.ratios)) == (0, 1)


def test_a_cell_without_a_value_of_ours_says_why(tmp_path: Path) -> None:
    unable = Behaviour(outcome=NotApplicable(capability="size_bytes", reason="too large by far"))
    found = compared(tmp_path, Extent.QUICK, Behaviour(), unable)
    assert [each.reason for each in found.pairs] == [
        "",
        "not applicable: too large by far",
        "not measured in this extent",
        "not measured in this extent",
    ]


def test_a_cell_of_what_is_not_installed_says_so(tmp_path: Path) -> None:
    paper = load_paper(str(stage_paper(tmp_path / "paper")))
    found = compare_values(paper.values["latency"], [], not_installed={"other"})
    reasons = {str(dict(each.published.selection.factors)["middleware"]): each.reason for each in found.pairs}
    assert reasons == {"fake": "not measured in this extent", "other": "not applicable: not installed"}


def test_the_coefficient_is_spearmans_and_its_interval_holds_the_truth() -> None:
    """Of two normal variables with correlation r, Spearman's is 6/π·asin(r/2) (Pearson 1907)."""
    rng, true = np.random.default_rng(3), 0.7
    expected, held = 6 / np.pi * np.arcsin(true / 2), 0
    for _ in range(400):
        cells = np.exp(rng.multivariate_normal([0, 0], [[1, true], [true, 1]], size=40))
        found = rank_correlation(LATENCY, [(float(one), float(other)) for one, other in cells])
        assert found.value == pytest.approx(scipy.stats.spearmanr(*cells.T).statistic)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= expected <= found.high
    assert 0.92 < held / 400 < 0.98


@pytest.mark.parametrize("cells", [[(1.0, 2.0)] * 4, [(1.0, float(n)) for n in range(9)]])
def test_few_cells_or_equal_ones_have_no_coefficient(cells: list[tuple[float, float]]) -> None:
    assert rank_correlation(LATENCY, cells).value is None


def test_the_same_order_everywhere_has_no_interval() -> None:
    found = rank_correlation(LATENCY, [(float(n), float(n * n)) for n in range(1, 9)])
    assert (found.value, found.low) == (pytest.approx(1), None)
