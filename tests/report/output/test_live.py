"""The live view: what it shows of a campaign's events."""

from io import StringIO
from pathlib import Path

from rich.console import Console

from middlemark.plan import NotApplicable, Outcome, Trial, Valid
from middlemark.report.output.live import live
from middlemark.results.progress import (
    CampaignFinished,
    CampaignStarted,
    LiveMetrics,
    StepReached,
    TrialFinished,
    TrialStarted,
)
from middlemark.results.record import TrialRecord
from planned_experiments import experiments, suite

METRICS = LiveMetrics(
    first_message_ns=40_000_000,
    latency_median_ns=52_000.0,
    round_trip=False,
    sent=400,
    received=399,
)


def planned(middleware: str, number: int, profile: str = "default") -> Trial:
    (experiment,) = experiments(suite(middlewares=middleware, profiles=profile), [middleware])
    return Trial(id=f"{number}-{experiment.id}", number=number, block=1, seed=0, experiment=experiment)


def finished(trial: Trial, outcome: Outcome, metrics: LiveMetrics | None = None, n_more: int = 0) -> TrialFinished:
    return TrialFinished(TrialRecord(trial=trial, outcome=outcome), metrics, 3.0, seconds_left=83.0, n_more=n_more)


def watched(*, terminal: bool) -> str:
    console = Console(file=StringIO(), force_terminal=terminal, width=100)
    with live(console) as view:
        view.observe(CampaignStarted(run_folder=Path("runs/x"), suite="quick", trials=4, stored=1))
        begun = planned("fast", 2, "tuned")
        view.observe(TrialStarted(begun, attempt=2))
        view.observe(StepReached(begun, step="measuring", seconds=2.0))
        view.observe(finished(planned("fast", 2), Valid(), METRICS))
        refused = NotApplicable(capability="payload", reason="too large")
        view.observe(finished(planned("unable", 3), refused))
        view.observe(CampaignFinished(Path("runs/x"), interrupted=False, outcomes={"valid": 2, "not_applicable": 1}))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_a_terminal_shows_progress_the_time_left_and_the_metrics_so_far() -> None:
    text = watched(terminal=True)
    for words in (
        "3 of 4 trials",
        "measuring, attempt 2",
        "fast (tuned)",
        "about 1 min 23 s left",
        "52.0",
        "not applicable",
    ):
        assert words in text
    assert text.rstrip().endswith("finished: 1 not applicable, 2 valid; stored in runs/x")


def test_trials_that_are_stored_together_are_drawn_together() -> None:
    console = Console(file=StringIO(), force_terminal=True, width=100)
    assert isinstance(console.file, StringIO)
    with live(console) as view:
        view.observe(CampaignStarted(run_folder=Path("runs/x"), suite="quick", trials=4, stored=0))
        drawn = console.file.getvalue()
        for number in (1, 2):
            view.observe(finished(planned("fast", number), Valid(), METRICS, n_more=3 - number))
            assert console.file.getvalue() == drawn
        view.observe(finished(planned("fast", 3), Valid(), METRICS))
        assert "3 of 4 trials" in console.file.getvalue()[len(drawn) :]


def test_without_a_terminal_each_finished_trial_is_a_line() -> None:
    lines = watched(terminal=False).splitlines()
    assert lines[0] == "quick: 4 trials, 1 stored already"
    assert "fast imu: median latency 52.0 µs, first message 40.0 ms, 399 of 400 received" in lines[1]
    assert "unable imu: not applicable: payload: too large" in lines[2]
    assert len(lines) == 4
