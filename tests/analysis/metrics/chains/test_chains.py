"""What a trial's chains come to, against a graph whose every time is known."""

import pytest

from behaviour import MS, Behaviour
from middlemark.analysis.compare.metrics import compare_usual_metrics
from middlemark.analysis.compare.pairing import pair_within_run
from middlemark.analysis.experiment.findings import ExperimentFindings
from middlemark.analysis.metrics import chain_trace
from middlemark.analysis.run import RunFindings, analyse
from middlemark.results import tables
from middlemark.suite.metrics import TRIAL, Key, chain_position_subject, chain_subject, metric_named, node_subject
from run_builder import build_run

SUITE = """
suite: known
trials: 2
middlewares: all
topologies: C1-1
workloads:
  - workload: known
    pattern: pipeline
    windows: {window: 3 s}
    nodes:
      - {node: camera, rate: 100 Hz, compute: 1 ms, outputs: [{stream: image, size: 1 kB}]}
      - {node: lidar, rate: 100 Hz, compute: 3 ms, outputs: [{stream: points, size: 1 kB}]}
      - {node: fuse, on: all, inputs: [image, points], compute: 2 ms, outputs: [{stream: tracks, size: 1 kB}]}
      - {node: plan, rate: 200 Hz, inputs: [tracks], compute: 1 ms, outputs: [{stream: command, size: 1 kB}]}
      - {node: show, inputs: [tracks]}
      - {node: actuate, inputs: [command]}
    chains:
      - {chain: by_camera, path: [camera, fuse, plan, actuate], deadline: 11.5 ms}
      - {chain: by_lidar, path: [lidar, fuse, plan, actuate], deadline: 11.4 ms}
      - {chain: to_show, path: [lidar, fuse, show]}
"""
HALF_MS = MS // 2


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    exact = Behaviour(latency_ns=HALF_MS, spread=0, drift=0)
    lossy = Behaviour(latency_ns=HALF_MS, spread=0, drift=0, loss=0.2)
    return analyse(build_run(tmp_path_factory.mktemp("known") / "run", SUITE, {"exact": exact, "lossy": lossy}))


@pytest.fixture(scope="module")
def found(run: RunFindings) -> dict[str, ExperimentFindings]:
    assert run.damaged == ()
    return {each.experiment.middleware: each for each in run.experiments}


def value(each: ExperimentFindings, subject: str, metric: str) -> float:
    estimate = each.estimate(subject, metric)
    assert estimate is not None
    assert estimate.value is not None
    return estimate.value


def typical_ms(each: ExperimentFindings, subject: str) -> dict[str, float]:
    parts = ("communication", "idle", "computation", "whole")
    named = {part: each.estimate(subject, f"typical_{part}_ns") for part in parts}
    return {part: (estimate.value or 0.0) / MS for part, estimate in named.items() if estimate}


def test_the_parts_are_those_of_the_graph(found: dict[str, ExperimentFindings]) -> None:
    """The camera's message waits 2 ms for the lidar's; both then wait for the timer, which fires every 5 ms."""
    exact = found["exact"]
    lidar = {"communication": 1.5, "idle": 4.0, "computation": 6.0, "whole": 11.5}
    assert typical_ms(exact, chain_subject("by_lidar")) == pytest.approx(lidar)
    camera = {"communication": 1.5, "idle": 6.0, "computation": 4.0, "whole": 11.5}
    assert typical_ms(exact, chain_subject("by_camera")) == pytest.approx(camera)
    assert typical_ms(exact, chain_subject("to_show")) == pytest.approx(
        {"communication": 1.0, "idle": 0.0, "computation": 5.0, "whole": 6.0}
    )


def test_each_node_of_the_way_has_its_own(found: dict[str, ExperimentFindings]) -> None:
    steps = [typical_ms(found["exact"], chain_position_subject("by_camera", position)) for position in range(4)]
    assert steps[0] == {"computation": 1.0}
    assert steps[1] == pytest.approx({"communication": 0.5, "idle": 2.0, "computation": 2.0})
    assert steps[2] == pytest.approx({"communication": 0.5, "idle": 4.0, "computation": 1.0})
    assert steps[3] == pytest.approx({"communication": 0.5, "idle": 0.0, "computation": 0.0})
    slow = [
        found["exact"].estimate(chain_position_subject("by_camera", 1), f"slow_{part}_ns")
        for part in ("idle", "communication")
    ]
    assert all(slow)


def test_a_timer_at_twice_the_rate_fires_every_other_time_without_a_new_message(
    found: dict[str, ExperimentFindings],
) -> None:
    assert value(found["exact"], chain_position_subject("by_lidar", 2), "stale_share") == pytest.approx(0.5, abs=0.01)
    assert found["exact"].estimate(chain_position_subject("by_lidar", 1), "stale_share") is None


def test_a_way_is_lost_where_any_of_its_messages_is(found: dict[str, ExperimentFindings]) -> None:
    lossy = found["lossy"]
    at_nodes = [value(lossy, chain_position_subject("to_show", position), "loss_share") for position in (1, 2)]
    assert at_nodes == pytest.approx([0.2, 0.2], abs=0.06)
    whole = value(lossy, chain_subject("to_show"), "loss_share")
    assert whole == pytest.approx(0.36, abs=0.07)
    assert value(found["exact"], chain_subject("to_show"), "loss_share") == 0


def test_deadline_misses_are_told_and_none_is_not_none(found: dict[str, ExperimentFindings]) -> None:
    kept = found["exact"].estimate(chain_subject("by_camera"), "deadline_missed_share")
    missed = found["exact"].estimate(chain_subject("by_lidar"), "deadline_missed_share")
    assert kept is not None
    assert missed is not None
    assert (kept.value, kept.low, missed.value, missed.high) == (0, pytest.approx(0), 1, pytest.approx(1))
    assert kept.high is not None
    assert 0.002 < kept.high < 0.02


def test_what_was_lost_missed_its_deadline(found: dict[str, ExperimentFindings]) -> None:
    lossy = found["lossy"]
    missed = value(lossy, chain_subject("by_camera"), "deadline_missed_share")
    assert missed >= 0.95 * value(lossy, chain_subject("by_camera"), "loss_share") > 0.3


def test_a_path_that_never_ended_counts_as_infinitely_slow(found: dict[str, ExperimentFindings]) -> None:
    """A third of the ways is lost: their median stands, their 90th percentile is without end."""
    lossy = found["lossy"]
    usual = lossy.estimate(chain_subject("to_show"), "end_to_end_p50_ns")
    late = lossy.estimate(chain_subject("to_show"), "end_to_end_p90_ns")
    assert usual is not None
    assert late is not None
    assert usual.value is not None
    assert late.value is None
    assert "never arrived" in late.reason
    idle = lossy.estimate(chain_subject("to_show"), "idle_p90_ns")
    assert idle is not None
    assert idle.value is not None


def test_what_could_have_been_cut_is_set_aside(found: dict[str, ExperimentFindings]) -> None:
    assert 0 < value(found["exact"], chain_subject("by_camera"), "set_aside_share") < 0.01


def test_nodes_have_their_start_up_and_the_trial_the_last_one_s(found: dict[str, ExperimentFindings]) -> None:
    exact = found["exact"]
    assert value(exact, node_subject("camera"), "start_up_ns") == 50 * MS
    assert value(exact, TRIAL, "start_up_ns") == 300 * MS
    assert value(exact, node_subject("fuse"), "busy_share") == pytest.approx(0.2, abs=0.01)


def test_chains_have_metrics_that_can_be_named() -> None:
    assert metric_named("p99(idle)").key("by_camera") == Key("chain:by_camera", "idle_p99_ns")
    assert metric_named("deadline_missed").key("by_camera") == Key("chain:by_camera", "deadline_missed_share")
    assert metric_named("start_up").key("by_camera") == Key("trial", "start_up_ns")


def test_chains_are_compared_in_the_place_of_their_streams(run: RunFindings) -> None:
    subjects = [each.setting.subject for each in run.comparisons]
    assert subjects == ["chain:by_camera", "chain:by_lidar", "chain:to_show"]
    reasons = [why for each in run.comparisons for why in each.unranked.values()]
    assert len(reasons) == 3  # the lossy one, of each chain
    assert all(why.startswith("loses ") for why in reasons)


def test_a_comparison_is_of_chains_and_of_streams_only_on_demand(run: RunFindings) -> None:
    pairs = pair_within_run(run.experiments, "middleware").pairs[:1]
    subjects = {each.metric.key(each.stream or "").subject for each in compare_usual_metrics(pairs, 0.05)}
    assert subjects == {"chain:by_camera", "chain:by_lidar", "chain:to_show", TRIAL}
    with_streams = compare_usual_metrics(pairs, 0.05, streams=True)
    assert {each.stream for each in with_streams if each.metric.name == "goodput"} == {
        stream.name for stream in run.experiments[0].experiment.streams
    }


def test_a_trial_that_is_followed_piece_by_piece_comes_to_the_same(
    run: RunFindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain_trace, "CHUNK_ROWS", 29)
    monkeypatch.setattr(tables, "FEW_ROWS", 0)
    again = analyse(run.folder)
    assert again.damaged == ()
    for one, other in zip(run.experiments, again.experiments, strict=True):
        assert one.by_block == other.by_block
        assert one.by_block == other.by_block
