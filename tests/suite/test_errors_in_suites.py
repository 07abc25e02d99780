"""Every mistake in a suite file is told with its place, its text and what is allowed instead."""

import pytest
from inline_snapshot import snapshot

from middlemark.errors import SuiteError
from middlemark.suite import parse_suite

HEAD = "suite: mine\nmiddlewares: all\nworkloads: [imu]\n"


def told(text: str) -> str:
    with pytest.raises(SuiteError) as raised:
        parse_suite(text, file="mine.yaml")
    return str(raised.value)


MISTAKES = {
    "an empty file": (
        "",
        snapshot("""\
mine.yaml:1:1: the file is empty
allowed: a suite: `suite`, `middlewares`, `workloads` and more\
"""),
    ),
    "something other than a mapping": (
        "- quick",
        snapshot("""\
mine.yaml:1:1: a list is not allowed here
allowed: a mapping of keys and values\
"""),
    ),
    "a missing key": (
        "suite: mine\nworkloads: imu\n",
        snapshot("""\
mine.yaml:1:1: `middlewares` is missing
allowed: `middlewares: …`\
"""),
    ),
    "an unknown key suggests the closest": (
        HEAD + "windws: {window: 1 s}\n",
        snapshot("""\
mine.yaml:4:1: unknown key `windws`
  windws: {window: 1 s}
allowed: did you mean `windows`? (suite, summary, seed, trials, stop, middlewares, profiles, delivery, workloads, sizes, qos, topologies, conditions, exclude, claims, observe, observed_trials, capture, kernel_path, verify, windows, recording, disturbance)\
"""),
    ),
    "an unknown key deep within": (
        "suite: mine\nmiddlewares: all\nworkloads:\n  - imu\n  - workload: camera\n    sice: 4 MB\n",
        snapshot("""\
mine.yaml:6:5: unknown key `sice`
  sice: 4 MB
allowed: did you mean `size`? (workload, summary, pattern, size, rate, topics, payload, serialisation, arrival, messages, approach, answer, interval, patience, response, outstanding, timeout, server_time, nodes, chains, applications, search, qos, faults, windows)\
"""),
    ),
    "a wrong word": (
        HEAD + "qos:\n  - {reliability: relaible}\n",
        snapshot("""\
mine.yaml:5:6: `relaible` is not an allowed word
  - {reliability: relaible}
allowed: did you mean `reliable`? (best_effort, reliable)\
"""),
    ),
    "a wrong type": (
        HEAD + "trials: three\n",
        snapshot("""\
mine.yaml:4:1: `three` is not allowed here
  trials: three
allowed: a whole number\
"""),
    ),
    "a figure out of bounds": (
        HEAD + "trials: 0\n",
        snapshot("""\
mine.yaml:4:1: `0` is not allowed here
  trials: 0
allowed: at least 1\
"""),
    ),
    "a missing unit": (
        HEAD + "sizes: [1 kB, 64]\n",
        snapshot("""\
mine.yaml:4:15: `64` has no unit
  sizes: [1 kB, 64]
allowed: a size, such as `4 MB` (units: B, kB, MB, KiB, MiB), 32 B to 64 MB\
"""),
    ),
    "a unit of another dimension": (
        HEAD + "windows: {window: 4 MB}\n",
        snapshot("""\
mine.yaml:4:11: `MB` is not a unit of a duration
  windows: {window: 4 MB}
allowed: a duration, such as `10 s` (units: ns, µs, ms, s, min, us), 1 ms to 604800 s\
"""),
    ),
    "an unknown unit": (
        HEAD + "sizes: 4 Mb\n",
        snapshot("""\
mine.yaml:4:1: `Mb` is not a known unit
  sizes: 4 Mb
allowed: a size, such as `4 MB` (units: B, kB, MB, KiB, MiB), 32 B to 64 MB\
"""),
    ),
    "a size that no message can have": (
        HEAD + "sizes: 16 B\n",
        snapshot("""\
mine.yaml:4:1: `16 B` is out of bounds
  sizes: 16 B
allowed: a size, such as `4 MB` (units: B, kB, MB, KiB, MiB), 32 B to 64 MB\
"""),
    ),
    "a fraction of a byte": (
        HEAD + "sizes: 32.5 B\n",
        snapshot("""\
mine.yaml:4:1: `32.5 B` is not a whole number of B
  sizes: 32.5 B
allowed: a size, such as `4 MB` (units: B, kB, MB, KiB, MiB), 32 B to 64 MB\
"""),
    ),
    "an answer for a periodic pattern": (
        "suite: mine\nmiddlewares: all\nworkloads:\n  - workload: imu\n    answer: 64 B\n",
        snapshot("""\
mine.yaml:5:5: a periodic workload has no `answer`
  answer: 64 B
allowed: size, rate, arrival, topics, payload, serialisation, qos\
"""),
    ),
    "a history that overwrites and waits": (
        HEAD + "qos: {reliability: reliable, depth: 4, congestion: block}\n",
        snapshot("""\
mine.yaml:4:40: `keep_last` overwrites, so it can't block
  qos: {reliability: reliable, depth: 4, congestion: block}
allowed: `history: keep_all` or `congestion: drop`\
"""),
    ),
    "a patience beyond an hour": (
        HEAD + "qos: {patience: 70 min}\n",
        snapshot("""\
mine.yaml:4:7: `70 min` is out of bounds
  qos: {patience: 70 min}
allowed: a duration, such as `10 s` (units: ns, µs, ms, s, min, us), 0 ns to 3600 s\
"""),
    ),
    "a depth for keep all": (
        HEAD + "qos: {history: keep_all, depth: 4}\n",
        snapshot("""\
mine.yaml:4:26: `keep_all` has no depth
  qos: {history: keep_all, depth: 4}
allowed: `depth` with `history: keep_last`\
"""),
    ),
    "a new workload without a pattern": (
        "suite: mine\nmiddlewares: all\nworkloads: [imu, camra]\n",
        snapshot("""\
mine.yaml:3:18: `camra` is no shipped workload, and no `pattern` is given
  workloads: [imu, camra]
allowed: did you mean `camera`? (imu, radar, lidar, camera, ping_pong, burst, unthrottled, late_joiner, rejoin, autoware_like, image_pipeline, image_pipeline_maximum)\
"""),
    ),
    "a new workload without a rate": (
        "suite: mine\nmiddlewares: all\nworkloads: [{workload: cloud, pattern: periodic, size: 2 MB}]\n",
        snapshot("""\
mine.yaml:3:13: the workload `cloud` has no rate
  workloads: [{workload: cloud, pattern: periodic, size: 2 MB}]
allowed: `rate: …`\
"""),
    ),
    "an unknown topology": (
        HEAD + "topologies: [C1-1, X9]\n",
        snapshot("""\
mine.yaml:4:20: `X9` is no shipped topology, and no `hosts` are given
  topologies: [C1-1, X9]
allowed: C1-1, C2-2, C3-1, C1-3, D1-1, D2-2, D3-1, D1-3, brokered-1, brokered-2, routed-3, peer-to-peer\
"""),
    ),
    "a priority without fifo": (
        HEAD + "conditions: {priority: 50}\n",
        snapshot("""\
mine.yaml:4:14: `fifo` and `priority` go together
  conditions: {priority: 50}
allowed: `scheduling: fifo` with `priority: 1` to `99`\
"""),
    ),
    "cpus for half of the applications": (
        HEAD + "conditions: {cpus: {publishers: [0]}}\n",
        snapshot("""\
mine.yaml:4:14: CPUs are given by a rule or by both lists
  conditions: {cpus: {publishers: [0]}}
allowed: any, spread, same_core, or `{publishers: [0], subscribers: [1]}`, there with `services: [2]`\
"""),
    ),
    "a value that no option can have": (
        "suite: mine\nmiddlewares:\n  - {middleware: zenoh, options: {batch: [1, 2.5]}}\nworkloads: imu\n",
        snapshot("""\
mine.yaml:3:46: `2.5` can't be the value of an option
  - {middleware: zenoh, options: {batch: [1, 2.5]}}
allowed: true, false, a whole number, or text\
"""),
    ),
    "a rule about a workload that is not there": (
        HEAD + "exclude:\n  - {middleware: mqtt, workload: imo}\n",
        snapshot("""\
mine.yaml:5:24: the suite has no workload `imo`
  - {middleware: mqtt, workload: imo}
allowed: did you mean `imu`? (imu)\
"""),
    ),
    "a rule that would exclude everything": (
        HEAD + "exclude: [{}]\n",
        snapshot("""\
mine.yaml:4:11: a rule without a factor would exclude everything
  exclude: [{}]
allowed: middleware, profile, options, delivery, workload, pattern, size, rate, arrival, topics, messages, payload, serialisation, answer, interval, patience, response, outstanding, timeout, server_time, reliability, history, depth, durability, congestion, publish_patience, queue, level, topology, placement, cpus, scheduling, priority, spin, keep_awake, deployment, cpu_load, security, link, faults\
"""),
    ),
    "lateness beyond the drain": (
        HEAD + "recording: {late_after: 3 s}\n",
        snapshot("""\
mine.yaml:4:13: `late_after` is longer than the drain of `imu`
  recording: {late_after: 3 s}
allowed: a `late_after` of at most `windows: drain`\
"""),
    ),
    "a key that stands there twice": (
        HEAD + "trials: 3\ntrials: 4\n",
        snapshot("""\
mine.yaml:5:1: this key is given twice
  trials: 4\
"""),
    ),
    "a tab": (
        HEAD + "windows:\n\twindow: 1 s\n",
        snapshot("""\
mine.yaml:5:1: this is not valid YAML: found character '\\t' that cannot start any token: indent with spaces, not tabs
  window: 1 s\
"""),
    ),
    "broken yaml": (
        HEAD + "sizes: [1 kB\n",
        snapshot("mine.yaml:5:1: this is not valid YAML: expected ',' or ']', but got '<stream end>'"),
    ),
    "two documents": (
        HEAD + "---\n" + HEAD,
        snapshot("""\
mine.yaml:4:1: a suite is one YAML document, and this is the second
  ---\
"""),
    ),
    "a tag": (
        HEAD + "summary: !!python/name:os.system x\n",
        snapshot("""\
mine.yaml:4:10: tags are not read here
  summary: !!python/name:os.system x\
"""),
    ),
    "nesting without end": (
        "suite: " + "[" * 3000,
        snapshot("""\
mine.yaml:1:27: more than 20 levels deep
  suite: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\
"""),
    ),
    "control characters": (
        "\x00\x01\x02",
        snapshot(
            "mine.yaml: this is not valid YAML: unacceptable character #x0000: special characters are not allowed"
        ),
    ),
    "a mapping as a key": ("? : :", snapshot("mine.yaml: a mapping or a list can't be a key")),
    "a day that there is not": (
        "suite: 2025-02-30",
        snapshot("mine.yaml: this is not valid YAML: day is out of range for month"),
    ),
    "a character that there is not": (
        'suite: "\\UFFFFFFFF"',
        snapshot("mine.yaml: this is not valid YAML: Python int too large to convert to C int"),
    ),
    "a file far too long": (
        "# x\n" * 300_000,
        snapshot("""\
mine.yaml: 1200000 characters are too many
allowed: at most 1000000\
"""),
    ),
}


@pytest.mark.parametrize(("text", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_its_place_its_text_and_what_is_allowed(text: str, said: str) -> None:
    assert told(text) == said


def test_an_alias_bomb() -> None:
    bomb = "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    assert told(f"a: &a [1, 2]\n{bomb}") == snapshot("""\
mine.yaml:1:4: anchors and aliases are not read here: write the part out
  a: &a [1, 2]\
""")
