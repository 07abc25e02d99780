"""What interfaces transmitted is told for each message, of trials whose window had all of their messages."""

from behaviour import Behaviour
from middlemark.analysis.experiment.path import transmitted
from middlemark.results.counts import MappedSegment, PathProof
from middlemark.results.record import TrialRecord
from shared_runs import SharedRuns

SUITE = """
suite: ways
trials: 1
middlewares: udp
workloads: {workload: imu, size: 64 kB, windows: {window: 1 s}}
"""


def ran(runs: SharedRuns, slow_publisher: float = 1.0) -> TrialRecord:
    [trial] = runs.run(SUITE, {"udp": Behaviour(slow_publisher=slow_publisher)}).stored_trials()
    return trial.read_record()


def test_bytes_of_a_window_are_not_divided_among_messages_sent_after_it(runs: SharedRuns) -> None:
    whole, overloaded = ran(runs), ran(runs, slow_publisher=4.0)
    assert transmitted([whole]) is not None
    assert transmitted([overloaded]) is None
    assert transmitted([overloaded, whole]) == transmitted([whole])


def test_messages_in_a_segment_are_those_of_the_application_that_found_most(runs: SharedRuns) -> None:
    record = ran(runs)

    def proof(messages: int | None) -> PathProof:
        segment = MappedSegment(name="segment_s", identity="0:1:2", size_bytes=4096, messages=messages)
        return PathProof(interfaces=(), segments=(segment,))

    found = dict(zip(record.path, (proof(7), proof(None)), strict=True))
    told = transmitted([record.model_copy(update={"path": found})])
    assert told is not None
    assert (told.segments, told.in_memory, told.is_by_memory) == ((1, 1), (7, 7), True)
