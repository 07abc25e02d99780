"""Routes between machines are shown with what is declared of them and what was measured."""

from pathlib import Path

from behaviour import Behaviour
from middlemark.analysis.run import analyse
from middlemark.report.output.html import render
from middlemark.report.traffic.links import link_table, route_lines, route_table
from middlemark.results.record import LinkMeasured
from run_builder import build_run

SUITE = """
suite: apart
trials: 1
middlewares: all
workloads: {workload: imu, windows: {window: 1 s}}
topologies:
  topology: apart
  hosts: [{name: far, kind: ssh, ssh: a@192.0.2.1}, {name: farther, kind: ssh, ssh: a@192.0.2.2}]
  networks: [{name: cable, hosts: [far, farther], link: {rate: 1 Gbit/s}}]
  applications:
    - {name: publisher_0, host: far, roles: [publisher]}
    - {name: subscriber_0, host: farther, roles: [subscriber]}
"""
FIGURES = {
    "round_trip_median_ns": 120_000,
    "round_trip_p90_ns": 150_000,
    "round_trip_max_ns": 300_000,
    "outgoing_loss_share": 0.0,
    "incoming_loss_share": 0.01,
    "outgoing_rate_bits_per_s": 940e6,
    "incoming_rate_bits_per_s": 941e6,
}


def test_a_route_is_a_row_with_what_is_declared_and_what_was_measured(tmp_path: Path) -> None:
    run = build_run(tmp_path / "run", SUITE, {"one": Behaviour()})
    seen = LinkMeasured(host="far", to="farther", network="cable", when="before", backend="nothing", figures=FIGURES)
    for trial in run.stored_trials():
        trial.write_record(trial.read_record().model_copy(update={"links": (seen,)}))
    findings = analyse(run)
    (comparison,) = findings.comparisons
    table = route_table(comparison)
    assert table is not None
    assert table.lines == (
        ("far – farther over cable", "1 Gbit/s", "before", "0.12", "0.15", "0.3", "0", "1", "940", "941"),
    )
    assert link_table(comparison) is None
    (line,) = route_lines(comparison)
    assert line.startswith("route far – farther over cable, declared 1 Gbit/s; before: round trip 0.12 ms, 90 %")
    assert "<h3>Routes</h3>" in render(findings)


def test_a_run_on_one_machine_has_no_routes(tmp_path: Path) -> None:
    suite = SUITE[: SUITE.index("topologies")] + "topologies: D1-1\n"
    (comparison,) = analyse(build_run(tmp_path / "run", suite, {"one": Behaviour()})).comparisons
    assert route_table(comparison) is None
    assert route_lines(comparison) == ()
