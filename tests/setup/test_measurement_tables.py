"""What a run found is written into the pages that have a place for it, each value with its interval."""

import importlib.util
import re
from dataclasses import replace
from pathlib import Path

import pytest

from behaviour import Behaviour
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.run import analyse
from middlemark.plan import Experiment
from middlemark.suite import load_suite
from middlemark.suite.metrics import metric_named
from pages import ROOT
from run_builder import build_run

SCRIPT = ROOT / "setup/pages/measurements.py"
SUITES = sorted((ROOT / "setup/pages/settings").glob("*.yaml"))
_spec = importlib.util.spec_from_file_location("measurements_page", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
measurements = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(measurements)

NUMBER = r"[\d.]+"
LOST = r"(?:1[5-9]|2\d)"  # of a share of 20 %, drawn by chance
SUITE = """
suite: settings
trials: 6
middlewares:
  - {middleware: tcp, profiles: [default, tuned]}
  - {middleware: tcp, options: {transport: unix}}
workloads:
  - {workload: imu, size: [64 B, 1 kB], rate: 100 Hz, qos: {reliability: reliable}}
  - {workload: unthrottled, size: 1 kB, qos: {reliability: reliable}}
  - {workload: ping_pong}
windows: {window: 1 s}
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[ExperimentFindings]:
    run = build_run(tmp_path_factory.mktemp("tables") / "run", SUITE, {"tcp": Behaviour(loss=0.2)})
    return list(analyse(run).experiments)


def test_each_configuration_has_a_row_and_each_load_a_column(found: list[ExperimentFindings]) -> None:
    head, _, *rows = measurements.table(found).splitlines()
    assert head == "| | 64 B | 1 kB | round trip, 64 B | messages a second, 1 kB | first message |"
    cells = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]
    assert [row[0] for row in cells] == ["`default`", "`default`, `transport: unix`", "`tuned`"]
    assert all(re.fullmatch(rf"{NUMBER} µs \({NUMBER}–{NUMBER}\), {LOST} % undelivered", row[1]) for row in cells)
    assert all(re.match(rf"{NUMBER} thousand \({NUMBER}–{NUMBER}\), {LOST} % undelivered", row[4]) for row in cells)


def test_deliveries_stand_beside_each_other_and_one_that_a_middleware_lacks_is_empty(
    found: list[ExperimentFindings],
) -> None:
    def with_delivery(each: ExperimentFindings, middleware: str, delivery: str) -> ExperimentFindings:
        factors = {**each.experiment.factors, "delivery": delivery}
        experiment = each.experiment.model_copy(update={"middleware": middleware, "factors": factors})
        return replace(each, experiment=experiment)

    of_tcp = [with_delivery(found[0], "tcp", delivery) for delivery in ("polling", "own_thread")]
    head, _, *rows = measurements.by_delivery([*of_tcp, with_delivery(found[0], "mqtt", "own_thread")]).splitlines()
    assert head == "| | `own_thread` | `polling` |"
    mqtt, tcp = ([cell.strip() for cell in row.strip("|").split(" | ")] for row in rows)
    assert (mqtt[0], mqtt[2], tcp[0]) == ("`mqtt`", "–", "`tcp`")
    assert mqtt[1] == tcp[1] == tcp[2] == measurements.cell(found[0])


def test_a_reliability_names_a_row_only_where_a_load_is_sent_with_both(found: list[ExperimentFindings]) -> None:
    experiments = [each.experiment for each in found]
    assert measurements.row_factors(experiments)[-1] != "reliability"
    assert measurements.loads(experiments).startswith("one way reliable (`block`); round trips best effort (`")
    other = {**experiments[0].factors, "reliability": "best_effort"}
    both = [*experiments, experiments[0].model_copy(update={"factors": other})]
    assert measurements.row_factors(both)[-1] == "reliability"


def test_where_reliability_differs_with_the_size_each_is_said_with_its_sizes(found: list[ExperimentFindings]) -> None:
    def sent(experiment: Experiment) -> Experiment:
        is_small = experiment.factors["size"] == "64 B"
        factors = {**experiment.factors, "reliability": "best_effort" if is_small else "reliable"}
        return experiment.model_copy(update={"factors": factors})

    said = measurements.loads([sent(each.experiment) for each in found])
    assert said.startswith("one way best effort (`block`) with 64 B, reliable (`block`) with 1 kB; ")


def test_only_what_stands_between_the_marks_of_the_suite_is_written_anew() -> None:
    begin, end = measurements.BEGIN.format(suite="settings"), measurements.END
    other = f"{measurements.BEGIN.format(suite='sizes')}\n\nolder\n\n{end}\n"
    page = f"before\n\n{other}\n{begin}\n\nold\n\n{end}\n\nafter\n"
    fresh = measurements.replaced(page, "settings", "how", "a table")
    assert fresh == f"before\n\n{other}\n{begin}\n\nhow\n\na table\n\n{end}\n\nafter\n"
    assert measurements.replaced(fresh, "settings", "how", "a table") == fresh
    assert measurements.replaced("a page without marks", "settings", "how", "a table") == "a page without marks"


def test_each_metric_is_one_that_runs_store() -> None:
    names = ("median(latency)", "median(round_trip)", "goodput", "undelivered", "first_message")
    of_loads = [metric for _, _, metric in measurements.KINDS.values()]
    used = [*of_loads, measurements.UNDELIVERED, measurements.FIRST_MESSAGE]
    assert used == [metric_named(name).stored_name for name in names]


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_the_suite_of_a_page_has_its_name_and_its_page_a_place_for_the_table(path: Path) -> None:
    suite = load_suite(str(path)).suite
    assert suite.suite == measurements.SETTINGS
    assert [choice.middleware for choice in suite.middlewares] == [path.stem] * len(suite.middlewares)
    page = (measurements.PAGES / f"{path.stem}.md").read_text(encoding="utf-8")
    assert measurements.BEGIN.format(suite=measurements.SETTINGS) in page
