"""What ships of each paper fits together: suites, published values, and claims that select what is measured."""

from collections.abc import Sequence
from functools import cache

import pytest

from middlemark.analysis.decisions.claims import claim_parts
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.plan import Experiment, expand, is_selected
from middlemark.suite.papers import Extent, LoadedPaper, load_paper, shipped_paper_names

PAPERS = shipped_paper_names()


@cache
def experiments(paper: str, suite: str, extent: Extent) -> tuple[Experiment, ...]:
    measured = load_paper(paper).suite(suite, extent).suite
    return expand(measured, available=[each.middleware for each in measured.middlewares])


def without_results(own: Sequence[Experiment]) -> list[ExperimentFindings]:
    return [ExperimentFindings(each, (), {}, {}) for each in own]


def test_papers_ship() -> None:
    assert PAPERS == ("automotive-2025", "dds-vendors-2022", "zenoh-iiot-2025")


@pytest.fixture(params=PAPERS)
def loaded(request: pytest.FixtureRequest) -> LoadedPaper:
    return load_paper(request.param)


def test_a_paper_is_named_as_its_folder_and_its_suites_after_it(loaded: LoadedPaper) -> None:
    name = loaded.paper.paper
    assert name in PAPERS
    for each in loaded.paper.suites:
        assert loaded.suite(each.suite, Extent.FULL).suite.suite == f"{name}-{each.suite}"


def test_quick_is_a_part_of_full(loaded: LoadedPaper) -> None:
    name = loaded.paper.paper
    for each in loaded.paper.suites:
        quick, full = (
            {str(own.factors) for own in experiments(name, each.suite, extent)}
            for extent in (Extent.QUICK, Extent.FULL)
        )
        assert quick <= full, each.suite


def test_each_published_value_is_of_one_experiment(loaded: LoadedPaper) -> None:
    for table in loaded.paper.tables:
        own = experiments(loaded.paper.paper, table.suite, Extent.FULL)
        for value in loaded.values[table.table]:
            selected = [each for each in own if is_selected(each, value.selection)]
            assert len(selected) == 1, (table.table, value.selection)


def test_no_value_is_published_twice(loaded: LoadedPaper) -> None:
    for table, values in loaded.values.items():
        cells = [(value.metric.name, value.selection) for value in values]
        assert len(set(cells)) == len(cells), table


def test_each_claim_has_a_part_that_the_full_extent_measures(loaded: LoadedPaper) -> None:
    for finding in loaded.paper.findings:
        if finding.suite is None or finding.claims is None:
            continue
        own = without_results(experiments(loaded.paper.paper, finding.suite, Extent.FULL))
        for claim in finding.claims:
            assert claim_parts(claim.statement, own, 0.95), (finding.finding, claim.text)


def test_the_automotive_evaluation_has_all_its_cells() -> None:
    own = experiments("automotive-2025", "messages", Extent.FULL)
    assert len(own) == 4 * 8 * 2 * 3
    assert len(load_paper("automotive-2025").values["latency"]) == 2 * (4 * 4 * 8 + 8)
    assert [each.finding for each in load_paper("automotive-2025").paper.findings] == list(range(1, 13))


def test_the_industrial_evaluation_has_all_its_cells() -> None:
    sizes = {
        each: len(experiments("zenoh-iiot-2025", each, Extent.FULL)) for each in ("round_trips", "delay", "mobility")
    }
    assert sizes == {"round_trips": 3 * 5 + 2, "delay": 5, "mobility": 3 * 5}
    loaded = load_paper("zenoh-iiot-2025")
    assert [len(loaded.values[each]) for each in ("scenarios", "cloud", "speeds")] == [2 * each for each in sizes.values()]
    assert len(experiments("zenoh-iiot-2025", "congestion", Extent.FULL)) == 2 * 4 * 3


def test_the_vendors_evaluation_has_seven_sizes_in_one_process_and_in_two() -> None:
    own = experiments("dds-vendors-2022", "sizes", Extent.FULL)
    series = {(each.middleware, each.factors.get("option.zero_copy")) for each in own}
    assert series == {("fastdds", "false"), ("fastdds", "true"), ("cyclonedds", None), ("opendds", None)}
    assert len(own) == 7 * 2 * len(series)
