"""A message's way is drawn to scale: every stretch where it was, and what is too short to be told apart as most of it."""

from pathlib import Path

from behaviour import Behaviour
from middlemark.analysis.kernel.breakdown import ExampleMessage
from middlemark.analysis.kernel.packets import Cuts
from middlemark.analysis.kernel.segments import Call, Crossing, PathPart, PathSide, Segment, TracedPath
from middlemark.analysis.run import analyse
from middlemark.report.elements.labels import series_by_experiment
from middlemark.report.internals.message_path import example_lines, message_charts, message_lines, stretches
from middlemark.report.internals.observers import seen_by
from middlemark.suite import Observation
from run_builder import build_run

SUITE = """
suite: drawn
trials: 3
middlewares: all
observe: kernel_path
workloads: {workload: imu, windows: {window: 1 s}}
topologies: D1-1
"""


def way(*ends_ns: int) -> TracedPath:
    """Alternately within and outside of calls of the sender."""
    parts = (PathPart.KERNEL_SENDER, PathPart.MIDDLEWARE_SENDER)
    begins = (0, *ends_ns[:-1])
    segments = tuple(
        Segment(parts[number % 2], PathSide.SENDER, begin_ns, end_ns)
        for number, (begin_ns, end_ns) in enumerate(zip(begins, ends_ns, strict=True))
    )
    return TracedPath(0, ends_ns[-1], segments, (), (), (1, 2))


def test_few_segments_are_drawn_as_they_are() -> None:
    path = way(10, 15, 40)
    assert stretches(path, 3) == path.segments


def test_many_segments_are_drawn_as_what_took_most_of_each_stretch() -> None:
    short = [end_ns for begin_ns in range(0, 1000, 10) for end_ns in (begin_ns + 9, begin_ns + 10)]
    drawn = stretches(way(*short, 2000), 20)
    assert [(each.part, each.begin_ns, each.end_ns) for each in drawn] == [(PathPart.KERNEL_SENDER, 0, 2000)]
    mixed = stretches(way(*range(1, 50), 1000, 2000), 10)
    assert [(each.part, each.begin_ns, each.end_ns) for each in mixed] == [
        (PathPart.MIDDLEWARE_SENDER, 0, 1000),
        (PathPart.KERNEL_SENDER, 1000, 2000),
    ]


def test_each_middleware_has_its_median_message_and_a_slow_one(tmp_path: Path) -> None:
    findings = analyse(build_run(tmp_path / "run", SUITE, {"one": Behaviour(), "two": Behaviour(latency_ns=300_000)}))
    who = series_by_experiment(findings.manifest, (each.experiment for each in findings.experiments))
    seen = seen_by(findings.comparisons[0], Observation.KERNEL_PATH)
    charts = message_charts(seen, who)
    assert len({chart.id for chart in charts}) == len(charts) == 4
    assert ["median" in chart.title for chart in charts] == [True, False, True, False]
    lines = [line.plain for line in message_lines(seen, who)]
    assert sum(line.lstrip().startswith("wire ") for line in lines) == 4
    assert all(len(line) <= 80 for line in lines)


def test_text_is_to_scale_and_names_calls_and_packets() -> None:
    path = TracedPath(
        0,
        44_000,
        (
            Segment(PathPart.MIDDLEWARE_SENDER, PathSide.SENDER, 0, 11_000),
            Segment(PathPart.KERNEL_SENDER, PathSide.SENDER, 11_000, 22_000),
            Segment(PathPart.WIRE, None, 22_000, 22_100),
            Segment(PathPart.KERNEL_RECEIVER, PathSide.RECEIVER, 22_100, 44_000),
        ),
        (Crossing(46, Cuts(12_000, 12_500, 13_000), Cuts(21_000, 21_500, 22_100)),),
        (Call(PathSide.SENDER, 44, 11_000, 22_000),),
        (1, 2),
    )
    shown = [line.plain for line in example_lines(ExampleMessage(0.5, 100, path, {44: "sendto"}))]
    bars = {line[2:22].strip(): line[35:] for line in shown if "█" in line or "▏" in line}
    assert bars == {
        "middleware, sender": "█" * 11,
        "kernel, sender": " " * 11 + "█" * 11,
        "wire": " " * 22 + "▏",
        "kernel, receiver": " " * 22 + "█" * 22,
    }
    assert "  system calls of the sender: sendto 1" in shown
    assert shown[-1] == (
        "  46 packets: queued from 12.0 to 21.0 µs, transmitted from 12.5 to 21.5 µs, arrived from 13.0 to 22.1 µs"
    )
