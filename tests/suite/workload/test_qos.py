"""What is asked of delivery where a suite leaves words out, and where it changes what a workload asks for."""

import pytest

from middlemark.suite import Congestion, History, Qos

RELIABLE, DEPTH = Qos.model_validate({"reliability": "reliable"}), Qos.model_validate({"depth": 3})
BLOCK, DROP = (Qos.model_validate({"congestion": word}) for word in Congestion)


@pytest.mark.parametrize(
    ("qos", "history", "when_full"),
    [
        (Qos(), History.KEEP_ALL, Congestion.DROP),
        (RELIABLE, History.KEEP_ALL, Congestion.BLOCK),
        (DEPTH, History.KEEP_LAST, Congestion.DROP),
        (Qos.model_validate({"reliability": "reliable", "depth": 3}), History.KEEP_LAST, Congestion.DROP),
        (BLOCK, History.KEEP_ALL, Congestion.BLOCK),
        (RELIABLE.changed_by(DROP), History.KEEP_ALL, Congestion.DROP),
    ],
    ids=["nothing", "reliable", "a depth", "a depth of what is reliable", "block", "reliable, then drop"],
)
def test_what_is_left_out_follows_from_the_rest(qos: Qos, history: History, when_full: Congestion) -> None:
    assert (qos.history, qos.when_full) == (history, when_full)


def test_of_what_contradicts_a_change_nothing_stays() -> None:
    overwriting, blocking = BLOCK.changed_by(DEPTH), DEPTH.changed_by(BLOCK)
    assert (overwriting.history, overwriting.depth, overwriting.when_full) == (History.KEEP_LAST, 3, Congestion.DROP)
    assert (blocking.history, blocking.when_full) == (History.KEEP_ALL, Congestion.BLOCK)
