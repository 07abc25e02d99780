"""What observers saw stands in tables of its own, with what watching cost and what could not be seen."""

import json
from pathlib import Path

import polars as pl

from behaviour import Behaviour
from middlemark.analysis.run import RunFindings, analyse
from middlemark.report.elements.labels import Series, series_by_experiment
from middlemark.report.internals.observers import Observed, observed, observed_lines
from middlemark.report.internals.wire import overhead_chart, overhead_table
from middlemark.suite import Delivery
from shared_runs import SharedRuns

SUITE = """
suite: watched
trials: 4
middlewares: all
observe: {observe}
workloads: {{workload: imu, size: [100 B, 1 kB], windows: {{window: 1 s}}}}
topologies: D1-1
"""


def watched(
    runs: SharedRuns, observe: str = "[resources, wire]", **how: float
) -> tuple[RunFindings, dict[str, Series]]:
    findings = runs.findings(SUITE.format(observe=observe), {"one": Behaviour(**how)})  # type: ignore[arg-type]
    return findings, series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))


def shown(runs: SharedRuns, observe: str = "[resources, wire]", **how: float) -> Observed:
    findings, who = watched(runs, observe, **how)
    found = observed(findings.comparisons[0], who)
    assert found is not None
    return found


def table(found: Observed, title: str) -> list[dict[str, str]]:
    (wanted,) = (each for each in found.tables if each.title == title)
    return [dict(zip(wanted.headings, row, strict=True)) for row in wanted.lines]


def test_a_process_has_its_cpu_time_by_message(runs: SharedRuns) -> None:
    rows = table(shown(runs, cpu_share=0.1), "CPU and threads")
    assert [row["process"] for row in rows] == ["publisher_0", "subscriber_0"]
    assert {row["CPU, % of one core"] for row in rows} == {"10.0"}
    assert {row["CPU, µs a message"] for row in rows} == {"500"}


def test_an_observer_that_doubles_the_latency_is_said_to(runs: SharedRuns) -> None:
    found = shown(runs, observed_times=2.0, drift=0.001)
    assert all(
        row[3].startswith(("1.9", "2.0")) and "no significant difference" not in row[3] for row in found.cost.lines
    )
    assert {row[1] for row in found.cost.lines} == {"resources", "wire"}


def test_an_observer_that_costs_nothing_is_not_said_to_cost(runs: SharedRuns) -> None:
    found = shown(runs, observe="wire")
    assert all("no significant difference" in row[3] for row in found.cost.lines)


def test_what_could_not_be_seen_is_said_once_with_its_reason(runs: SharedRuns) -> None:
    assert shown(runs).unavailable == ("cgroup: no group of its own",)


def test_the_wire_is_told_by_phase_and_by_message(runs: SharedRuns) -> None:
    (row,) = table(shown(runs), "On the wire")
    assert row["discovery"] == "500 B, 5.00 packets"
    assert row["data in the window"] == row["control in the window"] == "can't be separated"
    assert (row["bytes a message"], row["wire to payload"]) in {("200 B", "2.00"), ("1.10 kB", "1.10")}


def test_the_overhead_falls_with_the_size(runs: SharedRuns) -> None:
    findings, who = watched(runs)
    overhead = overhead_table(findings.experiments, who)
    assert overhead is not None
    assert overhead.headings[1:] == ("delivery", "setting", "100 B", "1.00 kB")
    assert overhead.lines[0][3:] == ("2.00", "1.10")
    assert overhead_chart(findings.experiments, who) is not None


def test_the_way_of_a_message_is_told_in_its_parts_and_drawn(runs: SharedRuns) -> None:
    found = shown(runs, observe="kernel_path")
    (row,) = table(found, "The path of a typical message")
    assert {
        name: cell.split(", ")[-1] for name, cell in row.items() if name not in {"middleware", "delivery", "whole, µs"}
    } == {
        "middleware, sender": "10 %",
        "kernel, sender": "10 %",
        "queue": "10 %",
        "wire": "10 %",
        "kernel, delivery": "10 %",
        "scheduler": "10 %",
        "kernel, receiver": "30 %",
        "service": "0 %",
        "middleware, receiver": "10 %",
    }
    (counts,) = table(found, "Kernel operations of a message")
    assert (counts["packets"], counts["wake-ups"], counts["set aside, %"]) == ("1.00", "1.00", "0")
    assert (counts["analysed"], counts["set aside: no path found"]) == ("200", "0")
    (packets,) = table(found, "The packets of a message")
    assert packets["packets"] == "1.00"
    assert packets["first queued, µs"] == packets["last queued, µs"]
    charts = {chart.id: chart for chart in found.charts}
    assert "Caution" not in charts["kernelpath"].caption
    assert json.dumps(charts["kernelpath"].spec).count('"interval": "') == 8


def test_where_many_ways_are_not_found_the_bar_says_so(runs: SharedRuns, tmp_path: Path) -> None:
    run = runs.copy(tmp_path / "run", SUITE.format(observe="kernel_path"), {"one": Behaviour()})
    for trial in run.stored_trials():
        if trial.read_record().trial.observation:
            events = trial.read_kernel_events()
            trial.write_kernel_events(events.filter(pl.col("at_ns") < events["at_ns"].quantile(0.5)))
    findings = analyse(run)
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    found = observed(findings.comparisons[0], who)
    assert found is not None
    for chart in found.charts:
        assert "Caution: 5" in chart.caption
    assert any("were set aside" in line for line in observed_lines(findings.comparisons[0], who))
    (counts,) = table(found, "Kernel operations of a message")
    assert 90 <= float(counts["set aside: no path found"]) <= 110


def test_cpu_time_by_message_and_memory_over_time_are_drawn(runs: SharedRuns) -> None:
    found = shown(runs, observe="resources", cpu_share=0.1)
    charts = {chart.id: chart for chart in found.charts}
    assert set(charts) == {"percpu", "memorycourse"}
    assert '"value": 1000' in json.dumps(charts["percpu"].spec) or "1000.0" in json.dumps(charts["percpu"].spec)
    assert "publisher_0" in json.dumps(charts["memorycourse"].spec)


def test_without_an_observation_there_is_nothing_of_it(runs: SharedRuns) -> None:
    unobserved = SUITE.replace("observe: {observe}", "").format()
    findings = runs.findings(unobserved, {"one": Behaviour()})
    assert observed(findings.comparisons[0], {}) is None
    assert overhead_table(findings.experiments, {}) is None


def test_only_what_was_observed_is_shown(runs: SharedRuns) -> None:
    found = shown(runs, "resources")
    assert not any("wire" in each.title for each in found.tables)


def test_captured_frames_are_counted_and_their_file_is_named(runs: SharedRuns) -> None:
    rows = table(shown(runs, observe="capture"), "Captured frames")
    assert len(rows) == 4
    for row in rows:
        assert row["file in the run's folder"].endswith("/capture.pcapng")
        assert (row["frames"], row["cut"], row["overflow"], row["lost"]) == ("18", "4", "2", "0")
        assert row["readable headers"] == "7"
        assert row["dissectors"] == "rtps; someip (decode its ports)"


def test_a_window_too_short_for_a_leak_says_so(runs: SharedRuns) -> None:
    rows = table(shown(runs, observe="resources"), "Growth of memory")
    assert {row["lasts"] for row in rows} == {"unknown: the window is shorter than 60 s"}


def test_the_terminal_says_what_observing_cost_and_what_was_seen(runs: SharedRuns) -> None:
    findings, who = watched(runs, observe="[resources, wire, capture]", cpu_share=0.1)
    lines = observed_lines(findings.comparisons[0], who)
    assert sum(": observing " in line for line in lines) == 3
    (figures,) = (line for line in lines if "a message" in line and "observing" not in line)
    assert "µs of CPU a message" in figures
    assert "2.00 bytes on the wire for each of payload" in figures
    assert sum("capture.pcapng, Wireshark: rtps" in line for line in lines) == 4


def test_every_table_of_several_middlewares_has_their_deliveries(runs: SharedRuns) -> None:
    behaviours = {"called": Behaviour(), "polling": Behaviour(delivery=Delivery.POLLING)}
    for observe in ("resources", "wire", "kernel_path"):
        findings = runs.findings(SUITE.format(observe=observe), behaviours)
        who = series_by_experiment(findings.manifest, [each.experiment for each in findings.experiments])
        for comparison in findings.comparisons:
            found = observed(comparison, who)
            assert found is not None
            for own in found.tables:
                assert own.headings[1] == "delivery", own.title
                assert {(row[0], row[1]) for row in own.lines} <= {("called", "library_thread"), ("polling", "polling")}
