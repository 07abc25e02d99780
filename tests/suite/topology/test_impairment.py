"""A trace is read from a CSV file whose columns name their units, or from the suite; mistakes name their line."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from middlemark.errors import SuiteError
from middlemark.plan import expand
from middlemark.plan.topology.network import Link
from middlemark.suite import Direction, load_suite, parse_suite
from middlemark.suite.topology.impairment import EFFECTS, Impairment
from middlemark.suite.yaml.model import SuiteFiles

SUITE = "suite: x\nmiddlewares: toy\nworkloads: imu\ntopologies: {topology: D1-1, link: {rate: 10 Mbit/s, queue: 50, delay: 1 ms}}\n"
TRACED = SUITE + "conditions: {link: {trace: walk.csv}}\n"


def first_link(text: str, folder: Path | None) -> Link:
    suite = parse_suite(text, file="x.yaml", suite_files=None if folder is None else SuiteFiles(folder))
    return expand(suite, available=["toy"])[0].links[0]


def link_of_file(csv: str, folder: Path) -> Link:
    (folder / "walk.csv").write_text(csv, encoding="utf-8")
    return first_link(TRACED, folder)


def told(csv: str, folder: Path) -> str:
    with pytest.raises(SuiteError) as raised:
        link_of_file(csv, folder)
    return str(raised.value).replace(f"{folder}/", "")


def test_columns_fill_what_they_name_and_the_link_keeps_the_rest(tmp_path: Path) -> None:
    link = link_of_file("at_s,rate_mbit_s,loss_percent,outgoing_delay_ms\n0,10,,\n0.5,5,1.5,3\n2,0.5,,\n", tmp_path)
    assert [point.at_ns for point in link.trace] == [0, 500_000_000, 2_000_000_000]
    slow = Direction(rate_bits_per_s=5_000_000, queue_frames=50, delay_ns=1_000_000, loss=0.015)
    assert link.trace[1].incoming == slow
    assert link.trace[1].outgoing == slow.model_copy(update={"delay_ns": 3_000_000})
    assert link.trace[2].outgoing == Direction(rate_bits_per_s=500_000, queue_frames=50, delay_ns=1_000_000)
    assert link.outgoing == link.trace[0].outgoing
    assert not link.offloads


def test_points_may_stand_in_the_suite() -> None:
    link = first_link(
        SUITE + "conditions:\n  link:\n    trace: {points: [{at: 0 s, loss: 0 %}, {at: 1 s, loss: 50 %}]}\n", None
    )
    assert [(point.at_ns, point.outgoing.loss) for point in link.trace] == [(0, 0.0), (1_000_000_000, 0.5)]


def test_a_trace_is_named_by_its_file_and_told_from_another_by_what_is_in_it(tmp_path: Path) -> None:
    keys = set()
    for loss in (1, 2):
        (tmp_path / "walk.csv").write_text(f"at_s,loss_percent\n0,{loss}\n", encoding="utf-8")
        (tmp_path / "x.yaml").write_text(TRACED, encoding="utf-8")
        (experiment,) = expand(load_suite(str(tmp_path / "x.yaml")).suite, available=["toy"])
        assert experiment.factors["link"].startswith("trace walk.csv ")
        keys.add(experiment.id)
    assert len(keys) == 2


def test_a_file_that_is_not_there_is_told_where_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(SuiteError) as raised:
        first_link(TRACED, tmp_path)
    assert str(raised.value).replace(str(tmp_path), "FOLDER") == snapshot("""\
x.yaml:5:21: `walk.csv` can't be read: No such file or directory
  conditions: {link: {trace: walk.csv}}
allowed: a CSV file in FOLDER\
""")


def test_an_unknown_column_suggests_the_closest(tmp_path: Path) -> None:
    assert told("at_s,rate_mbits\n0,1\n", tmp_path).splitlines()[:2] == snapshot(
        [
            "walk.csv:1: unknown column `rate_mbits`",
            "allowed: did you mean `rate_mbit_s`? (at_us, at_ms, at_s, rate_bit_s, rate_kbit_s, rate_mbit_s, rate_gbit_s, queue_frames, delay_us, delay_ms, delay_s, jitter_us, jitter_ms, jitter_s, loss_percent, duplication_percent, reordering_percent, corruption_percent); each also after `outgoing_` and `incoming_`",
        ]
    )


MISTAKES = {
    "a column of instants is needed": (
        "loss_percent\n1\n",
        snapshot("""\
walk.csv:1: there is no column `at_…`
allowed: at_s, at_ms, at_us\
"""),
    ),
    "a figure out of bounds is told with its line": (
        "at_s,loss_percent\n0,1\n1,101\n",
        snapshot("""\
walk.csv:3: `101 %` is out of bounds
  1,101
allowed: a share, such as `2 %` (units: %), 0 % to 100 %\
"""),
    ),
    "a cell that is no figure is told with its line": (
        "at_ms,queue_frames\n0,many\n",
        snapshot("""\
walk.csv:2: `many` is not allowed here
  0,many
allowed: a whole number\
"""),
    ),
    "instants have to grow": (
        "at_ms,loss_percent\n0,1\n5,2\n5,3\n",
        snapshot("""\
walk.csv:4: a point is not later than the one before it
  5,3
allowed: growing instants\
"""),
    ),
    "a file without points": (
        "at_ms,loss_percent\n",
        snapshot("""\
walk.csv: 0 points
allowed: 1 to 20000\
"""),
    ),
    "an empty file": (
        "",
        snapshot("""\
walk.csv: this is no CSV: empty CSV
allowed: a line of columns, then values\
"""),
    ),
    "a line with too many cells": (
        "at_ms,loss_percent\n0,1\n5,2,3\n",
        snapshot("""\
walk.csv: this is no CSV: found more fields than defined in 'Schema'
allowed: a line of columns, then values\
"""),
    ),
}


@pytest.mark.parametrize(("csv", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_file_is_told_with_its_line_and_what_is_allowed(tmp_path: Path, csv: str, said: str) -> None:
    assert told(csv, tmp_path) == said


def test_the_name_of_a_trace_is_the_one_that_stored_runs_have() -> None:
    points = "[{at: 0 s, loss: 0.1 %}, {at: 1 s, loss: 57 %, outgoing: {duplication: 1.5 %}}]"
    suite = parse_suite(SUITE + f"conditions:\n  link:\n    trace: {{points: {points}}}\n", file="x.yaml")
    (experiment,) = expand(suite, available=["toy"])
    assert experiment.factors["link"] == "trace of 2 points 8ad3899a, 10 Mbit/s, queue 50 frames, 1 ms"


def test_every_field_of_an_impairment_is_an_effect_with_its_field_of_a_plan() -> None:
    assert [effect.name for effect in EFFECTS] == list(Impairment.model_fields)
    assert [effect.field for effect in EFFECTS] == list(Direction.model_fields)
