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


def test_an_empty_file() -> None:
    assert told("") == snapshot("""\
mine.yaml:1:1: the file is empty
allowed: a suite: `suite`, `middlewares`, `workloads` and more\
""")


def test_something_other_than_a_mapping() -> None:
    assert told("- quick") == snapshot("""\
mine.yaml:1:1: a list can't stand here
allowed: a mapping of keys and values\
""")


def test_a_missing_key() -> None:
    assert told("suite: mine\nworkloads: imu\n") == snapshot("""\
mine.yaml:1:1: `middlewares` is missing
allowed: `middlewares: …`\
""")


def test_an_unknown_key_suggests_the_closest() -> None:
    assert told(HEAD + "windws: {window: 1 s}\n") == snapshot("""\
mine.yaml:4:1: unknown key `windws`
  windws: {window: 1 s}
allowed: did you mean `windows`? (suite, summary, seed, trials, stop, middlewares, profiles, workloads, sizes, qos, topologies, conditions, exclude, claims, observe, capture, kernel_path, verify, windows, recording, disturbance)\
""")


def test_an_unknown_key_deep_within() -> None:
    assert told(
        "suite: mine\nmiddlewares: all\nworkloads:\n  - imu\n  - workload: camera\n    sice: 4 MB\n"
    ) == snapshot("""\
mine.yaml:6:5: unknown key `sice`
  sice: 4 MB
allowed: did you mean `size`? (workload, summary, pattern, size, rate, arrival, messages, approach, answer, interval, patience, nodes, chains, applications, search, qos, faults, windows)\
""")


def test_a_wrong_word() -> None:
    assert told(HEAD + "qos:\n  - {reliability: relaible}\n") == snapshot("""\
mine.yaml:5:6: `relaible` is none of the words
  - {reliability: relaible}
allowed: did you mean `reliable`? (best_effort, reliable)\
""")


def test_a_wrong_type() -> None:
    assert told(HEAD + "trials: three\n") == snapshot("""\
mine.yaml:4:1: `three` can't stand here
  trials: three
allowed: a whole number\
""")


def test_a_figure_out_of_bounds() -> None:
    assert told(HEAD + "trials: 0\n") == snapshot("""\
mine.yaml:4:1: `0` can't stand here
  trials: 0
allowed: at least 1\
""")


def test_a_missing_unit() -> None:
    assert told(HEAD + "sizes: [1 kB, 64]\n") == snapshot("""\
mine.yaml:4:15: `64` has no unit
  sizes: [1 kB, 64]
allowed: a size as `4 MB` (units: B, kB, MB, KiB, MiB), 32 B to 64 MB\
""")


def test_a_unit_of_another_dimension() -> None:
    assert told(HEAD + "windows: {window: 4 MB}\n") == snapshot("""\
mine.yaml:4:11: `MB` is no unit of a duration
  windows: {window: 4 MB}
allowed: a duration as `10 s` (units: ns, µs, ms, s, min, us), 1 ms to 604800 s\
""")


def test_an_unknown_unit() -> None:
    assert told(HEAD + "sizes: 4 Mb\n") == snapshot("""\
mine.yaml:4:1: `Mb` is no unit known here
  sizes: 4 Mb
allowed: a size as `4 MB` (units: B, kB, MB, KiB, MiB), 32 B to 64 MB\
""")


def test_a_size_that_no_message_can_have() -> None:
    assert told(HEAD + "sizes: 16 B\n") == snapshot("""\
mine.yaml:4:1: `16 B` is out of bounds
  sizes: 16 B
allowed: a size as `4 MB` (units: B, kB, MB, KiB, MiB), 32 B to 64 MB\
""")


def test_a_fraction_of_a_byte() -> None:
    assert told(HEAD + "sizes: 32.5 B\n") == snapshot("""\
mine.yaml:4:1: `32.5 B` is no whole number of B
  sizes: 32.5 B
allowed: a size as `4 MB` (units: B, kB, MB, KiB, MiB), 32 B to 64 MB\
""")


def test_an_answer_for_a_periodic_pattern() -> None:
    text = "suite: mine\nmiddlewares: all\nworkloads:\n  - workload: imu\n    answer: 64 B\n"
    assert told(text) == snapshot("""\
mine.yaml:5:5: a periodic workload has no `answer`
  answer: 64 B
allowed: size, rate, arrival, qos\
""")


def test_a_depth_for_keep_all() -> None:
    assert told(HEAD + "qos: {history: keep_all, depth: 4}\n") == snapshot("""\
mine.yaml:4:26: `keep_all` has no depth
  qos: {history: keep_all, depth: 4}
allowed: `depth` with `history: keep_last`\
""")


def test_a_new_workload_without_a_pattern() -> None:
    assert told("suite: mine\nmiddlewares: all\nworkloads: [imu, camra]\n") == snapshot("""\
mine.yaml:3:18: `camra` is no shipped workload, and no `pattern` is given
  workloads: [imu, camra]
allowed: did you mean `camera`? (imu, radar, lidar, camera, ping_pong, burst, unthrottled, late_joiner, rejoin, autoware_like, image_pipeline, image_pipeline_maximum)\
""")


def test_a_new_workload_without_a_rate() -> None:
    text = "suite: mine\nmiddlewares: all\nworkloads: [{workload: cloud, pattern: periodic, size: 2 MB}]\n"
    assert told(text) == snapshot("""\
mine.yaml:3:13: the workload `cloud` has no rate
  workloads: [{workload: cloud, pattern: periodic, size: 2 MB}]
allowed: `rate: …`\
""")


def test_an_unknown_topology() -> None:
    assert told(HEAD + "topologies: [C1-1, X9]\n") == snapshot("""\
mine.yaml:4:20: `X9` is no shipped topology, and no `hosts` are given
  topologies: [C1-1, X9]
allowed: C1-1, C2-2, C3-1, C1-3, D1-1, D2-2, D3-1, D1-3, brokered-1, brokered-2, routed-3, peer-to-peer\
""")


def test_a_priority_without_fifo() -> None:
    assert told(HEAD + "conditions: {priority: 50}\n") == snapshot("""\
mine.yaml:4:14: `fifo` and `priority` go together
  conditions: {priority: 50}
allowed: `scheduling: fifo` with `priority: 1` to `99`\
""")


def test_cpus_for_half_of_the_applications() -> None:
    assert told(HEAD + "conditions: {cpus: {publishers: [0]}}\n") == snapshot("""\
mine.yaml:4:14: CPUs are given by a rule or by both lists
  conditions: {cpus: {publishers: [0]}}
allowed: any, spread, same_core, or `{publishers: [0], subscribers: [1]}`\
""")


def test_a_value_that_no_option_can_have() -> None:
    text = "suite: mine\nmiddlewares:\n  - {middleware: zenoh, options: {batch: [1, 2.5]}}\nworkloads: imu\n"
    assert told(text) == snapshot("""\
mine.yaml:3:46: `2.5` is no option's value
  - {middleware: zenoh, options: {batch: [1, 2.5]}}
allowed: true, false, a whole number, or text\
""")


def test_a_rule_about_a_workload_that_is_not_there() -> None:
    assert told(HEAD + "exclude:\n  - {middleware: mqtt, workload: imo}\n") == snapshot("""\
mine.yaml:5:24: the suite has no workload `imo`
  - {middleware: mqtt, workload: imo}
allowed: did you mean `imu`? (imu)\
""")


def test_a_rule_that_would_exclude_everything() -> None:
    assert told(HEAD + "exclude: [{}]\n") == snapshot("""\
mine.yaml:4:11: a rule without a factor would exclude everything
  exclude: [{}]
allowed: middleware, profile, options, workload, pattern, size, rate, arrival, messages, answer, interval, patience, reliability, history, depth, durability, congestion, level, topology, placement, cpus, scheduling, priority, spin, keep_awake, deployment, cpu_load, link, faults\
""")


def test_lateness_beyond_the_drain() -> None:
    assert told(HEAD + "recording: {late_after: 3 s}\n") == snapshot("""\
mine.yaml:4:13: `late_after` is longer than the drain of `imu`
  recording: {late_after: 3 s}
allowed: a `late_after` of at most `windows: drain`\
""")


def test_a_key_that_stands_there_twice() -> None:
    assert told(HEAD + "trials: 3\ntrials: 4\n") == snapshot("""\
mine.yaml:5:1: this key stands here for the second time
  trials: 4\
""")


def test_a_tab() -> None:
    assert told(HEAD + "windows:\n\twindow: 1 s\n") == snapshot("""\
mine.yaml:5:1: this is no YAML: found character '\\t' that cannot start any token: indent with spaces, not tabs
  window: 1 s\
""")


def test_broken_yaml() -> None:
    assert told(HEAD + "sizes: [1 kB\n") == snapshot(
        "mine.yaml:5:1: this is no YAML: expected ',' or ']', but got '<stream end>'"
    )


def test_two_documents() -> None:
    assert told(HEAD + "---\n" + HEAD) == snapshot("""\
mine.yaml:4:1: a suite is one YAML document, and this is the second
  ---\
""")


def test_a_tag() -> None:
    assert told(HEAD + "summary: !!python/name:os.system x\n") == snapshot("""\
mine.yaml:4:10: tags are not read here
  summary: !!python/name:os.system x\
""")


def test_an_alias_bomb() -> None:
    bomb = "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    assert told(f"a: &a [1, 2]\n{bomb}") == snapshot("""\
mine.yaml:1:4: anchors and aliases are not read here: write the part out
  a: &a [1, 2]\
""")


def test_nesting_without_end() -> None:
    assert told("suite: " + "[" * 3000) == snapshot("""\
mine.yaml:1:27: more than 20 levels deep
  suite: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\
""")


def test_control_characters() -> None:
    assert told("\x00\x01\x02") == snapshot(
        "mine.yaml: this is no YAML: unacceptable character #x0000: special characters are not allowed"
    )


def test_a_mapping_as_a_key() -> None:
    assert told("? : :") == snapshot("mine.yaml: a mapping or a list can't be a key")


def test_a_file_far_too_long() -> None:
    assert told("# x\n" * 300_000) == snapshot("""\
mine.yaml: 1200000 characters are no suite
allowed: at most 1000000\
""")
