"""Claims are shown with their effect, interval, n and test, in the terminal, on the page and as data."""

from io import StringIO
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from rich.console import Console

from behaviour import Behaviour
from middlemark.analysis.decisions.claims import JudgedClaim, judge_own_claims
from middlemark.analysis.run import RunFindings, analyse
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.report.conclusions.claims import as_data, claims_shown, print_claims
from middlemark.report.output.html import render
from run_builder import build_run

SUITE = """
suite: claimed
trials: 3
middlewares: all
workloads: {workload: imu, size: [100 B, 1 kB], windows: {window: 500 ms}}
claims:
  - median(latency)[middleware=one, size=1 kB] < median(latency)[middleware=two, size=1 kB]
  - median(latency)[middleware=two] / median(latency)[middleware=one] > 1.5
  - no loss
  - median(latency)[middleware=one] > 1 ms
  - p9999(latency)[middleware=one, size=1 kB] < 1 s
"""
BEHAVIOURS = {"one": Behaviour(), "two": Behaviour(latency_ns=100_000, loss=0.02)}


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> RunFindings:
    path: Path = tmp_path_factory.mktemp("claimed") / "run"
    return analyse(build_run(path, SUITE, BEHAVIOURS))


def test_the_terminal_has_a_line_for_each_claim_and_each_part_that_does_not_hold(
    findings: RunFindings,
) -> None:
    console = Console(file=StringIO(), width=150)
    print_claims(judge_own_claims(findings), console)
    assert isinstance(console.file, StringIO)
    assert [line.rstrip() for line in console.file.getvalue().splitlines()] == snapshot(
        [
            "",
            "            claim                                                                                    effect (95 %)                        n",
            " ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────",
            " holds      median(latency)[middleware=one, size=1 kB] < median(latency)[middleware=two, size=1 kB]  0.51\u202f× (0.47 to 0.56)                3 blocks",
            " holds      median(latency)[middleware=two] / median(latency)[middleware=one] > 1.5                  holds in 2 of 2 parts",
            " refuted    no loss                                                                                  holds in 2, refuted in 2 of 4 parts",
            " refuted    middleware=two size=1 kB                                                                 4.3 % (0.76 to 13)                   3 trials",
            " refuted    middleware=two size=100 B                                                                2.7 % (0.28 to 9.7)                  3 trials",
            " refuted    median(latency)[middleware=one] > 1 ms                                                   refuted in 2 of 2 parts",
            " refuted    size=1 kB                                                                                50.4 µs (46.9 to 54.1)               3 trials",
            " refuted    size=100 B                                                                               49.3 µs (48.3 to 50.3)               3 trials",
            " undecided  p9999(latency)[middleware=one, size=1 kB] < 1 s",
            "            too few samples (n = 300)",
            "",
            "2 of 5 claims hold, 2 refuted, 1 undecided",
        ]
    )


def test_the_page_has_the_claims_with_their_tests(findings: RunFindings) -> None:
    page = render(findings)
    assert '<h3 id="claims">' in page
    assert page.count('class="judgement holds"') == 7
    assert "<summary>Parts that hold</summary>" in page
    assert page.count("paired by block, Student") >= 2


def test_a_program_reads_effects_and_intervals(findings: RunFindings) -> None:
    first = as_data(judge_own_claims(findings))[0]
    assert first["judgement"] == "holds"
    (part,) = first["parts"] if isinstance(first["parts"], list) else ()
    assert part["effect"]["low"] < part["effect"]["value"] < part["effect"]["high"] < 1
    assert part["n"] == 3


def test_a_claim_of_one_part_is_shown_as_the_claim_was_judged(findings: RunFindings) -> None:
    """Among the claims of a finding a part that is refuted may be chance."""
    claim = judge_own_claims(findings)[3]
    (shown,) = claims_shown([JudgedClaim(claim.claim, Judgement.UNDECIDED, claim.parts[:1], "by chance")])
    assert claim.parts[0].judgement is Judgement.REFUTED
    assert (shown.line.judgement, shown.line.why) == (Judgement.UNDECIDED, "by chance")
