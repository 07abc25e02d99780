"""How figures are written."""

import pytest

from middlemark.analysis.stats.estimate import Estimate, Method, no_estimate
from middlemark.analysis.verdicts.difference import Difference, Test
from middlemark.report.elements.formatting import (
    MEBIBYTES,
    MICROSECONDS,
    PERCENT,
    digits,
    fact,
    listed,
    times,
)
from middlemark.report.elements.tables import estimate_cell


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.0123, "0.0123"), (1.234, "1.23"), (12.34, "12.3"), (123.4, "123"), (-4567.0, "-4\u202f567")],
)
def test_figures_have_about_three_digits(value: float, text: str) -> None:
    assert digits(value) == text


def test_an_estimate_is_shown_with_its_interval_and_pooled_ones_are_marked() -> None:
    estimate = Estimate(41_200, 39_000, 44_100, 0.95, 3, 1200, Method.POOLED)
    cell = estimate_cell(estimate, MICROSECONDS)
    assert (cell.text, cell.interval, cell.is_pooled) == ("41.2", "39.0–44.1", True)
    assert cell.line == "41.2 (39.0–44.1) pooled"
    assert cell.words == "41.2 µs (39.0–44.1)"


def test_an_interval_of_trials_too_far_apart_is_marked_as_rough() -> None:
    estimate = Estimate(41_200, 39_000, 44_100, None, 3, 1200, Method.POOLED)
    assert estimate_cell(estimate, MICROSECONDS).line == "41.2 (≈\u202f39.0–44.1) pooled"
    few = Estimate(41_200, 39_000, 44_100, 0.75, 3, 1200, Method.MEDIAN_OF_TRIALS)
    assert estimate_cell(few, MICROSECONDS).line == "41.2 (39.0–44.1)"


def test_an_interval_whose_ends_look_alike_is_left_out() -> None:
    assert estimate_cell(Estimate(0.0, 0.0, 0.0, 0.75, 3, 9, Method.MEDIAN_OF_TRIALS), PERCENT).line == "0"


def test_a_missing_figure_is_replaced_by_its_reason() -> None:
    cell = estimate_cell(no_estimate("too few samples (n = 7)"), MICROSECONDS)
    assert (cell.is_missing, cell.line, cell.words) == (True, *["too few samples (n = 7)"] * 2)
    assert estimate_cell(None, MICROSECONDS).line == "–"


def test_a_part_has_its_share_of_the_whole() -> None:
    part = Estimate(25_000, 24_000, 26_000, 0.95, 6, 9, Method.MEDIAN_OF_TRIALS)
    assert estimate_cell(part, MICROSECONDS, 100_000).line == "25.0 (24.0–26.0), 25 %"


def test_units_are_those_of_the_screen() -> None:
    assert MEBIBYTES.write(3 << 20) == "3.00"
    assert PERCENT.write(0.0123) == "1.2"
    assert PERCENT.write(1.2e-70) == "0"


def test_ratios_are_written_with_their_interval() -> None:
    assert (
        times(Difference(1.8, 1.5, 2.2, 3, 3, is_ratio=True, test=Test.PAIRED_T), "as long")
        == "1.80\u202f× as long (1.50 to 2.2)"
    )


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("rmem_max_bytes", 4 << 20, ("rmem max", "4.00 MiB")),
        ("clock_cost_ns", 18.0, ("clock cost", "18 ns")),
        ("wake_up_error_p99_ns", 4_010_989, ("wake up error p99", "4.01 ms")),
        ("governor", None, ("governor", "can't be read here")),
        ("turbo", True, ("turbo", "yes")),
        ("idle_states", ["POLL", "C1"], ("idle states", "POLL, C1")),
        ("cpus", 2, ("cpus", "2")),
    ],
)
def test_facts_of_the_machine_take_their_unit_from_their_name(name: str, value: object, shown: tuple[str, str]) -> None:
    assert fact(name, value) == shown


def test_names_are_listed_as_people_do() -> None:
    assert [listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
