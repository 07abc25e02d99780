"""A paper is read from its folder, and mistakes in it are named with their line."""

from pathlib import Path

import pytest

from middlemark.errors import SuiteError, UsageError
from middlemark.suite.papers import Extent, load_paper, paper_of, read_paper

PAPER = """\
paper: mine
title: Mine
published: here, 2025
summary: what is faster
equipment: {theirs: a switch, here: a bridge}
suites:
  - suite: messages
    quick: {trials: 3, workloads: [{workload: imu}]}
tables: {table}
findings:
  - finding: 1
    says: it is fast
    source: page 1
    suite: messages
    claims: median(latency)[middleware=udp] < 1 ms
"""
TABLE = "[{table: latency, summary: all, source: page 1, suite: messages}]"
SUITE = """\
# What it measures.
suite: mine-messages
trials: 9
middlewares: udp
workloads: [{workload: imu}, {workload: radar}]
"""
VALUES = "middleware,workload,metric,value,unit\nudp,imu,median(latency),0.5,ms\nudp,,loss,,%\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "paper.yaml").write_text(PAPER.replace("{table}", TABLE), encoding="utf-8")
    (tmp_path / "messages.yaml").write_text(SUITE, encoding="utf-8")
    (tmp_path / "latency.csv").write_text(VALUES, encoding="utf-8")
    return tmp_path


def test_an_extent_replaces_keys_of_the_suite_and_leaves_the_others(folder: Path) -> None:
    paper = read_paper(folder)
    quick, full = (paper.suite("messages", extent) for extent in Extent)
    assert (quick.suite.trials, [each.workload for each in quick.suite.workloads]) == (3, ["imu"])
    assert (full.suite.trials, [each.workload for each in full.suite.workloads]) == (9, ["imu", "radar"])
    assert quick.suite.suite == full.suite.suite == "mine-messages"
    assert quick.text.startswith("# What it measures.")


def test_values_are_in_the_unit_of_their_metric(folder: Path) -> None:
    published, nothing = read_paper(folder).values["latency"]
    assert (published.metric.name, published.value) == ("median(latency)", 500_000)
    assert published.selection.factors == (("middleware", "udp"), ("workload", "imu"))
    assert (nothing.metric.name, nothing.value) == ("loss", None)
    assert nothing.selection.factors == (("middleware", "udp"),)


def bases(folder: Path, extent: Extent = Extent.QUICK) -> tuple[str, str]:
    """Of the paper's finding, and of its table."""
    loaded = read_paper(folder)
    (finding,), (table,) = loaded.paper.findings, loaded.paper.tables
    return loaded.basis(finding, extent), loaded.basis_of_values(table, extent)


@pytest.mark.parametrize(
    ("file", "was", "becomes", "changed"),
    [
        ("paper.yaml", "< 1 ms", "< 2 ms", (True, False)),
        ("paper.yaml", "quick: {trials: 3", "quick: {trials: 4", (True, True)),
        ("messages.yaml", "middlewares: udp", "middlewares: [udp, tcp]", (True, True)),
        ("latency.csv", "0.5", "0.6", (False, True)),
        ("paper.yaml", "says: it is fast", "says: It is quick.", (False, False)),
        ("paper.yaml", "a switch", "a hub", (False, False)),
        ("messages.yaml", "# What it measures.", "# All that it measures.\nsummary: in short", (False, False)),
        ("messages.yaml", "trials: 9", "trials: 8", (False, False)),  # the other extent's
    ],
)
def test_a_verdict_stands_as_long_as_its_claims_and_what_its_suite_measures(
    folder: Path, file: str, was: str, becomes: str, changed: tuple[bool, bool]
) -> None:
    """Whether its verdict has, and the agreement of its values."""
    verdict, agreement = bases(folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert was in text
    (folder / file).write_text(text.replace(was, becomes), encoding="utf-8")
    now = bases(folder)
    assert (now[0] != verdict, now[1] != agreement) == changed


def test_a_verdict_is_of_one_extent(folder: Path) -> None:
    assert bases(folder)[0] != bases(folder, Extent.FULL)[0]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("udp,imu,speed,1,ms", "latency.csv:2: `speed` is no metric"),
        ("udp,imu,median(latency),1,MB", "latency.csv:2: `1 MB` is no value of median(latency)"),
        ("udp,imu,median(latency),quick,ms", "latency.csv:2: `quick ms` is no value of median(latency)"),
        ("udp,imu,median(latency),1", "latency.csv:2: the row has not as many cells as there are columns"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(folder: Path, row: str, problem: str) -> None:
    (folder / "latency.csv").write_text(f"middleware,workload,metric,value,unit\n{row}\n", encoding="utf-8")
    with pytest.raises(SuiteError) as error:
        read_paper(folder)
    assert problem in error.value.text


def test_a_table_without_units_is_refused(folder: Path) -> None:
    (folder / "latency.csv").write_text("middleware,metric,value\n", encoding="utf-8")
    with pytest.raises(SuiteError, match="no column `unit`"):
        read_paper(folder)


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("    suite: messages\n", "    suite: message\n", "paper.yaml:14:5: the paper has no suite `message`"),
        ("    claims: median", "    decided_by: x\n    claim: median", "paper.yaml:16:5: unknown key `claim`"),
        ("    claims: median(latency)[middleware=udp] < 1 ms\n", "", "finding 1 has no claims"),
        ("    suite: messages\n", "", "finding 1 has claims of no suite"),
        (
            "suites:\n",
            "features: [{feature: QoS, middleware: udp, theirs: none, capability: histories}]\nsuites:\n",
            "of `QoS` nothing can be checked",
        ),
        ("< 1 ms", "< 1 MB", "`1 MB` can't be a bound of median(latency)"),
        (
            "    claims: median",
            "    otherwise: [{how: tuned, says: All, suite: message, claims: no loss}]\n    claims: median",
            "the paper has no suite `message`",
        ),
    ],
)
def test_a_mistake_in_a_finding_is_named_with_its_place(folder: Path, before: str, after: str, problem: str) -> None:
    text = PAPER.replace("{table}", TABLE)
    assert before in text
    (folder / "paper.yaml").write_text(text.replace(before, after), encoding="utf-8")
    with pytest.raises(SuiteError) as error:
        read_paper(folder)
    assert problem in error.value.text


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "latency.csv").unlink()
    with pytest.raises(SuiteError, match=r"latency\.csv: the paper has no such file"):
        read_paper(folder)


def test_a_paper_is_the_same_from_its_folder_and_from_its_stored_texts(folder: Path) -> None:
    paper = load_paper(str(folder))
    assert paper_of(paper.texts) == paper
    with pytest.raises(SuiteError, match=r"the paper has no file `messages\.yaml`"):
        paper_of({name: text for name, text in paper.texts.items() if name != "messages.yaml"})


def test_an_unknown_paper_is_refused_with_the_closest_name() -> None:
    with pytest.raises(UsageError, match="did you mean `automotive-2025`"):
        load_paper("automotive-2024")
