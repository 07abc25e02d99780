"""Links are shown as asked and as measured, and what changes over the window is drawn below the latency."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from behaviour import Behaviour
from middlemark.analysis.run import RunFindings, analyse
from middlemark.plan.topology.network import Link, TracePoint
from middlemark.report.internals.configuration import topology_table
from middlemark.report.output.html import render
from middlemark.report.traffic.links import direction_words, link_lines, link_table, link_words
from middlemark.results.record import LinkMeasured
from middlemark.results.run_folder import RunFolder
from middlemark.suite import Direction
from report_page import specs as page_specs
from shared_runs import SharedRuns

SUITE = """
suite: linked
trials: 3
middlewares: all
workloads: {workload: imu, windows: {window: 1 s}}
topologies: {topology: D1-1, links: [{host: host_0, network: lan, delay: 10 ms, loss: 1 %}]}
"""
MOVING = """
suite: moving
trials: 1
middlewares: all
workloads: {workload: imu, windows: {window: 2 s}}
topologies: {topology: D1-1, links: [{host: host_0, network: lan, mobility: {farthest: 200 m, speed: 100 m/s}}]}
"""


def probe(run: RunFolder, round_trips_ns: Sequence[int], problem: str | None = None) -> None:
    """Have each trial's record say what a probe saw of the first link, before and after."""
    for trial, round_trip_ns in zip(run.stored_trials(), round_trips_ns, strict=True):
        seen = tuple(
            LinkMeasured(
                host="host_0",
                network="lan",
                when=when,
                backend="netem on the host's end",
                figures={
                    "round_trip_median_ns": round_trip_ns,
                    "outgoing_loss_share": 0.01,
                    "outgoing_duplicated_share": 0.0,  # nobody asked for it: it has no column
                    "outgoing_rate_bits_per_s": None,
                },
                problem=problem if when == "after" else None,
            )
            for when in ("before", "after")
        )
        trial.write_record(trial.read_record().model_copy(update={"links": seen}))


@pytest.fixture(scope="module")
def findings(runs: SharedRuns, tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    run = runs.copy(tmp_path_factory.mktemp("probed") / "run", SUITE, {"one": Behaviour()})
    probe(run, (20_100_000, 20_300_000, 20_200_000), "the round trip is too long")
    return analyse(run)


def test_requested_link_properties_stand_beside_the_measured_ones(findings: RunFindings) -> None:
    table = link_table(findings.comparisons[0])
    assert table is not None
    assert table.headings[4:] == ("round trip, ms", "outgoing loss, %", "problem")
    before, after = table.lines
    asked = "delay 10 ms, loss 1 %"
    assert before == ("host_0 – lan", asked, "netem on the host's end", "before", "20.2 (20.1–20.3)", "1", "none")
    assert after[-1] == "the round trip is too long"


def test_duplication_order_and_jitter_are_in_the_table_where_requested(runs: SharedRuns, tmp_path: Path) -> None:
    suite = SUITE.replace("loss: 1 %", "jitter: 1 ms, incoming: {duplication: 2 %, reordering: 5 %}")
    run = runs.copy(tmp_path / "run", suite, {"one": Behaviour()})
    shares = {"outgoing_loss_share": 0, "incoming_duplicated_share": 0.02, "incoming_overtaking_share": 0.05}
    seen = LinkMeasured(
        host="host_0",
        network="lan",
        when="before",
        backend="relay",
        figures={"round_trip_spread_ns": 1_700_000} | shares,
    )
    for trial in run.stored_trials():
        trial.write_record(trial.read_record().model_copy(update={"links": (seen,)}))
    table = link_table(analyse(run).comparisons[0])
    assert table is not None
    found = dict(zip(table.headings, table.lines[0], strict=True))
    assert found["round trip spread, ms"] == "1.70"
    assert (found["incoming duplicated, %"], found["incoming overtaking, %"]) == ("2", "5")


def test_in_the_terminal_links_as_requested_are_one_line(runs: SharedRuns, tmp_path: Path) -> None:
    run = runs.copy(tmp_path / "run", SUITE, {"one": Behaviour()})
    probe(run, (20_100_000, 20_300_000, 20_200_000))
    (line,) = link_lines(analyse(run).comparisons[0])
    asked = "host_0 – lan: delay 10 ms, loss 1 %"
    assert line == f"links as requested, before and after each trial: {asked} (made by netem on the host's end)"


def test_in_the_terminal_each_measurement_is_a_line_where_one_is_not_as_requested(findings: RunFindings) -> None:
    before, after = link_lines(findings.comparisons[0])
    asked = "host_0 – lan, requested delay 10 ms, loss 1 %, made by netem on the host's end"
    assert before == f"{asked}; before: round trip 20.2 (20.1–20.3) ms, outgoing loss 1 %"
    assert after.endswith("problem the round trip is too long")


def test_a_link_that_no_probe_saw_is_said_to_be_unmeasured(runs: SharedRuns) -> None:
    table = link_table(runs.findings(SUITE, {"one": Behaviour()}).comparisons[0])
    assert table is not None
    assert table.lines == (("host_0 – lan", "delay 10 ms, loss 1 %", "–", "not measured", "–"),)


def test_plain_links_that_no_probe_saw_are_left_out(runs: SharedRuns) -> None:
    suite = SUITE.replace(", links: [{host: host_0, network: lan, delay: 10 ms, loss: 1 %}]", "")
    assert link_table(runs.findings(suite, {"one": Behaviour()}).comparisons[0]) is None


def test_directions_that_differ_are_told_apart() -> None:
    slow = Direction(rate_bits_per_s=1_000_000, delay_ns=5_000_000, jitter_ns=1_000_000)
    assert direction_words(slow) == "1 Mbit/s, delay 5 ms ± 1 ms"
    assert link_words(Link(host="a", network="n")) == "plain"
    assert link_words(Link(host="a", network="n", outgoing=slow)).startswith("outgoing: 1 Mbit/s, delay 5 ms")
    assert link_words(Link(host="a", network="n", outgoing=slow)).endswith("; incoming: plain")


def test_a_trace_is_told_by_the_range_of_all_that_it_requests() -> None:
    slow = Direction(rate_bits_per_s=1_000_000, queue_frames=20, jitter_ns=1_000_000, loss=0.01, corruption=0.02)
    points = (
        TracePoint(at_ns=0, outgoing=Direction(), incoming=Direction()),
        TracePoint(at_ns=9, outgoing=slow, incoming=slow.model_copy(update={"rate_bits_per_s": 5_000_000})),
    )
    words = link_words(Link(host="a", network="n", trace=points))
    ranges = "rate 1 Mbit/s to 5 Mbit/s, queue 20 frames, jitter 0 ns to 1 ms, loss 0 % to 1 %, corruption 0 % to 2 %"
    assert words == f"a trace of 2 points: {ranges}"
    plain = tuple(point.model_copy(update={"outgoing": Direction(), "incoming": Direction()}) for point in points)
    assert link_words(Link(host="a", network="n", trace=plain)) == "a trace of 2 points: plain"


def test_hosts_and_links_are_told_under_conditions_and_the_topology_is_drawn(findings: RunFindings) -> None:
    (row,) = topology_table(findings).lines
    assert row[0] == "D1-1"
    assert "host_0 (netns): publisher_0" in row[1]
    assert "host_0 delay 10 ms, loss 1 %" in row[2]
    assert "host_1 plain" in row[2]
    assert 'src="data:image/svg+xml;base64,' in render(findings)


def test_the_links_of_a_moving_host_are_drawn_below_the_latency_on_one_axis(runs: SharedRuns) -> None:
    page = render(runs.findings(MOVING, {"one": Behaviour()}))
    specs = page_specs(page)
    over_time = {name.split("-", 2)[-1]: spec for name, spec in specs.items() if "trace" in name or "overtime" in name}
    assert next(iter(over_time)) == "overtime"
    assert "trace-rate" in over_time
    for spec in over_time.values():
        (layer,) = spec["layer"]
        assert layer["encoding"]["x"]["scale"]["domain"] == [0, 2.0]
        assert layer["encoding"]["y"]["axis"]["minExtent"] == layer["encoding"]["y"]["axis"]["maxExtent"]
    rates = [row["value"] for rows in over_time["trace-rate"]["datasets"].values() for row in rows]
    assert max(rates) > min(rates)
    assert list(over_time)[1:3] == ["trace-distance", "trace-signal"]
    places = [(row["s"], row["value"]) for rows in over_time["trace-distance"]["datasets"].values() for row in rows]
    assert (places[0], places[-1]) == ((0, 1), (2, 199))  # away to 200 m in 1.99 s, and 1 m back
    assert max(distance for _, distance in places) <= 200
    signals = [row["value"] for rows in over_time["trace-signal"]["datasets"].values() for row in rows]
    assert signals[0] == pytest.approx(-20.2, abs=0.1)
    assert signals[0] == max(signals)


def test_all_that_changes_along_a_trace_is_drawn_and_nothing_else(runs: SharedRuns) -> None:
    asked = "{at: 0 s}, {at: 1 s, jitter: 2 ms, duplication: 1 %, reordering: 2 %, corruption: 3 %, queue: 20}"
    link = f"delay: 10 ms, rate: 10 Mbit/s, queue: 50, loss: 1 %, trace: {{points: [{asked}]}}"
    suite = MOVING.replace("mobility: {farthest: 200 m, speed: 100 m/s}", link)
    specs = page_specs(render(runs.findings(suite, {"one": Behaviour()})))
    over_time = {name.split("-", 2)[-1]: spec for name, spec in specs.items() if "trace" in name}
    changed = {"jitter": 2, "duplication": 1, "reordering": 2, "corruption": 3, "queue": 20}
    assert list(over_time) == [f"trace-{name}" for name in changed]
    for name, last in changed.items():
        values = [row["value"] for rows in over_time[f"trace-{name}"]["datasets"].values() for row in rows]
        assert values[-1] == pytest.approx(last), name
