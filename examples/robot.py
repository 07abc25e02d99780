"""An ordinary mobile robot's graph, written as an application's file and as a recording of it.

150 topics of 15 processes, from 20 B to 6 MB and from 0.2 to 400 Hz, each received by one to eight processes. The same
seed gives the same files. `middlemark recommend` reads either; no topic is that of a certain robot.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mcap.writer import Writer

BEGIN_NS = 1_700_000_000_000_000_000
SECOND_NS = 1_000_000_000
SMALLEST_BYTES = 32
"""Of a message that is sent: its header. A recording may have smaller ones."""
JITTER = 0.02
"""How far an instant is from its due time at most, as a share of the period."""


@dataclass(frozen=True)
class Family:
    """Topics that differ in their names alone: `{}` stands for a number, or for the process that publishes."""

    names: str
    n: int
    publisher: str
    subscribers: str
    size_bytes: int
    rate_hz: float
    deadline_ms: float
    reliable: bool = False


@dataclass(frozen=True)
class Topic:
    """One topic with its one publisher."""

    name: str
    publisher: str
    family: Family


PROCESSES = (
    "base", "imu", "lidar", "camera", "arm", "fusion", "localisation", "mapping",
    "perception", "tracking", "planner", "controller", "safety", "diagnostics", "operator",
)  # fmt: skip
EACH = "each process but diagnostics"
MOST_RECEIVE = "perception mapping tracking planner controller safety arm operator"
FAMILIES = (
    Family("/base/wheel_{}/state", 4, "base", "fusion safety", 64, 100, 20),
    Family("/base/motor_{}/temperature", 4, "base", "diagnostics", 20, 1, 200),
    Family("/base/bumper_{}", 4, "base", "safety", 20, 20, 20, reliable=True),
    Family("/base/ultrasonic_{}/range", 8, "base", "safety planner", 40, 10, 50),
    Family("/base/odometry", 1, "base", "fusion localisation controller", 720, 50, 20),
    Family("/base/battery", 1, "base", "diagnostics operator", 180, 1, 200),
    Family("/imu/data", 1, "imu", "fusion safety localisation", 320, 400, 20),
    Family("/imu/magnetic_field", 1, "imu", "fusion", 120, 50, 20),
    Family("/imu/temperature", 1, "imu", "diagnostics", 20, 0.5, 200),
    Family("/lidar_{}/points", 2, "lidar", "perception localisation", 500_000, 10, 100),
    Family("/lidar_{}/scan", 2, "lidar", "safety planner mapping", 12_000, 20, 50),
    Family("/lidar_{}/status", 2, "lidar", "diagnostics", 96, 1, 200),
    Family("/camera_{}/image", 4, "camera", "perception", 900_000, 5, 200),
    Family("/camera_{}/info", 4, "camera", "perception tracking", 400, 5, 200),
    Family("/camera_{}/compressed", 4, "camera", "operator", 60_000, 5, 200),
    Family("/camera_{}/exposure", 4, "camera", "diagnostics", 48, 1, 200),
    Family("/stereo/pair", 1, "camera", "perception mapping", 6_000_000, 1, 500),
    Family("/arm/joint_{}/state", 6, "arm", "controller safety", 96, 50, 20),
    Family("/arm/joint_{}/command", 6, "controller", "arm", 48, 50, 20, reliable=True),
    Family("/arm/gripper", 1, "arm", "controller planner", 64, 20, 50),
    Family("/fusion/odometry", 1, "fusion", "localisation planner controller safety", 720, 100, 20),
    Family("/fusion/transforms", 1, "fusion", MOST_RECEIVE, 1_200, 50, 20),
    Family("/localisation/pose", 1, "localisation", "planner controller mapping tracking operator", 360, 30, 50),
    Family("/localisation/particles", 1, "localisation", "operator", 40_000, 1, 500),
    Family("/mapping/map", 1, "mapping", "localisation planner operator", 4_000_000, 0.2, 2_000, reliable=True),
    Family("/mapping/update_{}", 4, "mapping", "planner", 20_000, 1, 500, reliable=True),
    Family("/perception/camera_{}/objects", 4, "perception", "tracking", 4_000, 5, 200),
    Family("/perception/lidar_{}/obstacles", 2, "perception", "tracking planner safety", 16_000, 10, 100),
    Family("/perception/lidar_{}/ground", 2, "perception", "mapping", 80_000, 5, 200),
    Family("/tracking/objects", 1, "tracking", "planner safety operator", 8_000, 10, 100),
    Family("/tracking/zone_{}/occupied", 8, "tracking", "planner safety", 32, 5, 200, reliable=True),
    Family("/planner/path", 1, "planner", "controller operator", 10_000, 5, 200, reliable=True),
    Family("/planner/costs_{}", 2, "planner", "controller", 120_000, 2, 500),
    Family("/planner/goal", 1, "planner", "controller operator arm", 120, 0.5, 500, reliable=True),
    Family("/controller/velocity", 1, "controller", "base safety", 64, 50, 20, reliable=True),
    Family("/controller/error", 1, "controller", "diagnostics operator", 96, 20, 100),
    Family("/safety/stop", 1, "safety", "base arm controller planner", 40, 50, 20, reliable=True),
    Family("/safety/zone_{}", 4, "safety", "controller planner", 64, 10, 100, reliable=True),
    Family("/operator/joystick", 1, "operator", "controller", 96, 20, 50),
    Family("/operator/task", 1, "operator", "planner", 600, 0.2, 500, reliable=True),
    Family("/diagnostics/summary", 1, "diagnostics", "operator", 8_000, 1, 500, reliable=True),
    Family("/diagnostics/clock_{}", 7, "diagnostics", "operator", 40, 1, 500),
    Family("/{}/heartbeat", 14, EACH, "diagnostics", 40, 5, 200),
    Family("/{}/log", 14, EACH, "diagnostics", 300, 1, 500, reliable=True),
    Family("/{}/parameters", 14, EACH, "diagnostics", 1_000, 0.2, 500, reliable=True),
)


def topics() -> tuple[Topic, ...]:
    """All topics, in the order of their families."""
    each = [process for process in PROCESSES if process != "diagnostics"]
    return tuple(
        Topic(family.names.format(each[number]), each[number], family)
        if family.publisher == EACH
        else Topic(family.names.format(number + 1), family.publisher, family)
        for family in FAMILIES
        for number in range(family.n)
    )


def demand(seed: int) -> str:
    """The application's file, with what a recording can't know: processes and deadlines."""
    lines = [
        "application: robot",
        "summary: an ordinary mobile robot with an arm, 150 topics of 15 processes",
        f"processes: [{', '.join(PROCESSES)}]",
        f"seed: {seed}",
        "# Short enough for all middlewares in a quarter of an hour; more trials and a longer window decide more.",
        "profiles: default",
        "window: 5 s  # the rarest topics send one message in it",
        "trials: 3",
        "observe: []",
        "streams:",
        *(_stream(topic) for topic in topics()),
    ]
    return "\n".join(lines) + "\n"


def _stream(topic: Topic) -> str:
    family = topic.family
    fields = {
        "topic": topic.name,
        "publishers": topic.publisher,
        "subscribers": f"[{', '.join(family.subscribers.split())}]",
        "size": f"{max(family.size_bytes, SMALLEST_BYTES)} B",
        "rate": f"{family.rate_hz:g} Hz",
        "qos": f"{{reliability: {reliability(family)}}}",
        "deadline": f"{family.deadline_ms:g} ms",
    }
    return f"  - {{{', '.join(f'{key}: {value}' for key, value in fields.items())}}}"


def reliability(family: Family) -> str:
    """In the words of both files."""
    return "reliable" if family.reliable else "best_effort"


def write_recording(file: Path, duration_s: float, seed: int) -> None:
    """An MCAP of the robot's messages: zeros, as only their instants and sizes count."""
    drawn = random.Random(seed)  # noqa: S311 - repeatable, not secret
    messages = sorted(
        (at_ns, number, topic) for number, topic in enumerate(topics()) for at_ns in _instants(topic, duration_s, drawn)
    )
    with file.open("wb") as stream:
        writer = Writer(stream)
        writer.start()
        channels = [
            writer.register_channel(topic.name, "cdr", 0, {"offered_qos_profiles": _offered(topic.family)})
            for topic in topics()
        ]
        for at_ns, number, topic in messages:
            writer.add_message(channels[number], BEGIN_NS + at_ns, bytes(topic.family.size_bytes), BEGIN_NS + at_ns)
        writer.finish()


def _instants(topic: Topic, duration_s: float, drawn: random.Random) -> Iterator[int]:
    """Each topic begins somewhere in its first period, or in the recording's first half if it is rarer."""
    period_ns = SECOND_NS / topic.family.rate_hz
    due_ns = drawn.uniform(JITTER * period_ns, min(period_ns, duration_s * SECOND_NS / 2))
    while due_ns < duration_s * SECOND_NS:
        yield round(due_ns + drawn.uniform(-JITTER, JITTER) * period_ns)
        due_ns += period_ns


def _offered(family: Family) -> str:
    return f"- reliability: {reliability(family)}\n  durability: volatile\n"


def main() -> None:
    """Write `robot.yaml` and `robot.mcap` into a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where robot.yaml and robot.mcap are written")
    parser.add_argument("--seconds", type=float, default=10, help="how long the recording is; by default 10")
    parser.add_argument("--seed", type=int, default=1, help="of the recording's instants and of the trials' order")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    (asked.folder / "robot.yaml").write_text(demand(asked.seed))
    write_recording(asked.folder / "robot.mcap", asked.seconds, asked.seed)


if __name__ == "__main__":
    main()
