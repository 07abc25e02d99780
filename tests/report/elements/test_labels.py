"""A middleware has one colour, and its configurations a dash each, wherever lines are drawn; a library has its age."""

from datetime import date
from typing import Any

import pytest
from pydantic import ValidationError

from behaviour import Behaviour
from known_suites import CAPACITY_SEARCH
from middlemark.analysis.run import RunFindings
from middlemark.plan.matrix import on_both_sides
from middlemark.report.elements.labels import COLOURS, DASHES, library_words, series_by_experiment
from middlemark.report.output.html import render
from middlemark.report.output.packing import Rows
from middlemark.results.manifest import Library
from report_page import specs
from shared_runs import SharedRuns

SUITE = """
suite: configured
trials: 1
middlewares: [{middleware: one, profiles: [default, tuned]}, two]
observe: [wire, resources]
workloads: {workload: imu, size: [1 kB, 10 kB, 100 kB], windows: {window: 500 ms}}
topologies: D1-1
"""
SEARCHED = CAPACITY_SEARCH.replace("all", "[{middleware: one, profiles: [default, tuned]}, two]")
BOTH = {"one": Behaviour(per_byte_ns=1), "two": Behaviour(latency_ns=90_000, per_byte_ns=1)}


@pytest.fixture(scope="module")
def findings(runs: SharedRuns) -> RunFindings:
    return runs.findings(SUITE, BOTH)


def test_profiles_share_a_colour_and_differ_in_their_dash(findings: RunFindings) -> None:
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    shown = {each.label: (each.colour, each.dash) for each in who.values()}
    assert shown == {
        "one (default)": ("var(--series-0)", DASHES[0]),
        "one (tuned)": ("var(--series-0)", DASHES[1]),
        "two": ("var(--series-1)", DASHES[0]),
    }


def test_so_do_base_and_head(findings: RunFindings) -> None:
    first = next(each.experiment for each in findings.experiments if each.experiment.middleware == "two")
    base, head = series_by_experiment(findings.manifest, on_both_sides([first])).values()
    assert base.colour == head.colour
    assert base.dash != head.dash
    assert base.key != head.key


def test_middlewares_that_share_a_colour_have_different_dashes(findings: RunFindings) -> None:
    first = findings.experiments[0].experiment
    many = [first.model_copy(update={"id": str(n), "middleware": f"m{n:02}"}) for n in range(COLOURS + 2)]
    shown = {(each.colour, each.dash) for each in series_by_experiment(findings.manifest, many).values()}
    assert len(shown) == len(many)


def lines(spec: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON is anything
    """The layers that are lines of middlewares."""
    layers = spec.get("layer", [])
    return [
        each
        for each in layers
        if each["mark"]["type"] == "line" and each["encoding"].get("color", {}).get("field") == "series"
    ]


@pytest.mark.parametrize("suite", [SUITE, SEARCHED])
def test_every_line_chart_tells_the_profiles_apart_and_its_legend_does_too(runs: SharedRuns, suite: str) -> None:
    page = render(runs.findings(suite, BOTH))
    drawn = {name: spec for name, spec in specs(page).items() if lines(spec)}
    assert drawn
    for name, spec in drawn.items():
        visible = [each for each in lines(spec) if each["mark"].get("opacity") != 0]
        scales = [each["encoding"]["strokeDash"]["scale"] for each in visible]
        assert scales, name
        for scale in scales:
            dash = dict(zip(scale["domain"], map(tuple, scale["range"]), strict=True))
            assert dash["one (default)"] != dash["one (tuned)"], name
    assert 'href="#key-0-0"' in page
    assert 'href="#key-0-1"' in page


def test_no_chart_holds_data_that_are_not_under_their_name(findings: RunFindings) -> None:
    def inline(part: object) -> list[Rows]:
        if isinstance(part, dict):
            own = [part["data"]["values"]] if isinstance(part.get("data"), dict) and "values" in part["data"] else []
            return own + [found for value in part.values() for found in inline(value)]
        return [found for value in part for found in inline(value)] if isinstance(part, list) else []

    assert {name: inline(spec) for name, spec in specs(render(findings)).items() if inline(spec)} == {}


def test_a_version_is_as_old_as_the_package_says() -> None:
    library = Library(name="fastrtps", version="2.9.1", origin="system", released="2023-01-31")
    assert library_words(library, date(2026, 11, 23)) == "fastrtps 2.9.1 of 2023-01-31, 3.8 years old"


def test_what_is_not_the_systems_has_no_age() -> None:
    assert library_words(Library(name="zenoh", version="1.10.2", origin="crate"), date(2026, 1, 1)) == "zenoh 1.10.2"


def test_an_invalid_date_is_refused_when_a_run_is_read() -> None:
    with pytest.raises(ValidationError, match="released"):
        Library(name="fastrtps", version="2.9.1", origin="system", released="last year")
