"""What ships of each paper fits together: suites, published values, and claims that select what is measured."""

from collections.abc import Sequence
from functools import cache

import pytest

from middlemark.analysis.decisions.claims import claim_parts
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.plan import Experiment, Trial, campaign_duration_ns, expand, is_selected
from middlemark.plan.schedule import plan_trials
from middlemark.suite.papers import Extent, LoadedPaper, load_paper, shipped_paper_names

PAPERS = shipped_paper_names()
MINUTE_NS = 60 * 10**9
shipped = cache(load_paper)


@cache
def experiments(paper: str, suite: str, extent: Extent) -> tuple[Experiment, ...]:
    measured = shipped(paper).suite(suite, extent).suite
    return expand(measured, available=[each.middleware for each in measured.middlewares])


def without_results(own: Sequence[Experiment]) -> list[ExperimentFindings]:
    return [ExperimentFindings(each, (), {}, {}) for each in own]


def test_papers_ship() -> None:
    assert PAPERS == (
        "automotive-2025",
        "containers-2024",
        "dds-vendors-2022",
        "someip-dds-2018",
        "zenoh-iiot-2025",
    )


@pytest.fixture(params=PAPERS)
def loaded(request: pytest.FixtureRequest) -> LoadedPaper:
    return shipped(request.param)


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


@pytest.mark.parametrize("extent", Extent)
def test_each_claim_beside_a_finding_is_of_one_part_in_either_extent(loaded: LoadedPaper, extent: Extent) -> None:
    for finding in loaded.paper.findings:
        for beside in finding.beside:
            own = without_results(experiments(loaded.paper.paper, beside.suite, extent))
            for claim in beside.claims:
                assert len(claim_parts(claim.statement, own, 0.95)) == 1, (finding.finding, claim.text)


def test_every_paper_is_measured_with_tuned_middlewares_too(loaded: LoadedPaper) -> None:
    """In a suite of its own, which some finding looks at."""
    own = experiments(loaded.paper.paper, "tuned", Extent.FULL)
    assert {each.profile for each in own} == {"tuned"}
    assert any(each.suite == "tuned" for finding in loaded.paper.findings for each in finding.otherwise)


def test_an_explanation_changes_one_factor_alone(loaded: LoadedPaper) -> None:
    explanations = [each.explained for each in loaded.paper.findings if each.explained]
    for each in explanations:
        own = experiments(loaded.paper.paper, each.suite, Extent.FULL)
        sides = [
            [point.factors for point in own if is_selected(point, selection)]
            for claim in each.claims
            for selection in claim.selections
        ]
        assert [len(side) for side in sides] == [1, 1], each.setting
        ((one,), (other,)) = sides
        (changed,) = (name for name in one if one[name] != other[name])
        assert changed.removeprefix("option.") == each.setting.partition(",")[0]


def test_the_automotive_evaluation_has_all_its_cells() -> None:
    own = experiments("automotive-2025", "messages", Extent.FULL)
    assert len(own) == 4 * 8 * 2 * 3
    assert len(shipped("automotive-2025").values["latency"]) == 2 * (4 * 4 * 8 + 8)
    assert [each.finding for each in shipped("automotive-2025").paper.findings] == list(range(1, 13))


def test_the_industrial_evaluation_has_all_its_cells() -> None:
    sizes = {
        each: len(experiments("zenoh-iiot-2025", each, Extent.FULL)) for each in ("round_trips", "delay", "mobility")
    }
    assert sizes == {"round_trips": 3 * 5 + 2, "delay": 5, "mobility": 3 * 5}
    loaded = shipped("zenoh-iiot-2025")
    assert [len(loaded.values[each]) for each in ("scenarios", "cloud", "speeds")] == [
        2 * each for each in sizes.values()
    ]
    assert len(experiments("zenoh-iiot-2025", "congestion", Extent.FULL)) == 2 * 4 * 3


def test_the_vendors_evaluation_has_seven_sizes_in_one_process_and_in_two() -> None:
    own = experiments("dds-vendors-2022", "sizes", Extent.FULL)
    series = {(each.middleware, each.factors.get("option.zero_copy")) for each in own}
    assert series == {("fastdds", "false"), ("fastdds", "true"), ("cyclonedds", None), ("opendds", None)}
    assert len(own) == 7 * 2 * len(series)


def test_the_evaluation_of_containers_has_three_deployments_of_every_cell() -> None:
    for suite, cells in {"round_trips": 14, "images": 4, "stack": 1}.items():
        own = experiments("containers-2024", suite, Extent.FULL)
        assert {each.factors["deployment"] for each in own} == {"bare_metal", "single_container", "multi_container"}
        assert len(own) == 3 * cells
    (chains,) = {each.chains for each in experiments("containers-2024", "stack", Extent.FULL)}
    assert [each.name for each in chains] == ["lidar_to_vehicle"]


def test_the_evaluation_of_someip_has_its_sizes_and_loads() -> None:
    sizes = {
        each: len(experiments("someip-dds-2018", each, Extent.FULL))
        for each in (
            "internal",
            "external",
            "stress_internal",
            "stress_external",
            "methods_internal",
            "methods_external",
        )
    }
    assert sizes == {
        "internal": 14 * 5,
        "external": 14 * 7,
        "methods_internal": 8 * 5,
        "methods_external": 8 * 6,
        "stress_internal": 11 * 4 * 4,
        "stress_external": 11 * 7 * 5,
    }


def test_a_quick_extent_is_within_a_quarter_of_an_hour(loaded: LoadedPaper) -> None:
    assert campaign_duration_ns(trials_of(loaded, Extent.QUICK)) <= 15 * MINUTE_NS


def test_a_full_extent_measures_for_two_hours_at_most(loaded: LoadedPaper) -> None:
    windows = [each.experiment.windows for each in trials_of(loaded, Extent.FULL)]
    assert sum(each.warm_up_ns + each.window_ns for each in windows) <= 120 * MINUTE_NS


def test_all_quick_extents_together_are_within_an_hour() -> None:
    every = (each for name in PAPERS for each in trials_of(shipped(name), Extent.QUICK))
    assert campaign_duration_ns(every) <= 60 * MINUTE_NS


def trials_of(loaded: LoadedPaper, extent: Extent) -> list[Trial]:
    suites = [loaded.suite(each.suite, extent).suite for each in loaded.paper.suites]
    planned = (plan_trials(each, available=[own.middleware for own in each.middlewares]) for each in suites)
    return [trial for trials in planned for trial in trials]
