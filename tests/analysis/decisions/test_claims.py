"""Claims are judged by whole intervals: what is true holds, what is false is refuted, and equals rarely seem unequal."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from middlemark.analysis.decisions.claim_tests import Scale
from middlemark.analysis.decisions.claims import JudgedClaim, decisive, judge_claim
from middlemark.analysis.decisions.claims import judge_claims as judged_claims
from middlemark.analysis.experiment.aggregate import experiment_findings
from middlemark.analysis.experiment.findings import ExperimentFindings, TrialOutcome
from middlemark.analysis.stats.estimate import no_estimate, share_of_trials
from middlemark.analysis.stats.quantiles import Measured
from middlemark.analysis.verdicts.difference import Test
from middlemark.analysis.verdicts.judge import Judgement
from middlemark.plan import Experiment, Side, expand
from middlemark.plan.matrix import on_both_sides
from middlemark.suite import parse_claim, parse_suite
from middlemark.suite.metrics import metric_named
from populations import drawn_events

SUITE = parse_suite(
    """
suite: claimed
middlewares: [one, two]
workloads: {workload: imu, size: [100 B, 1 kB, 10 kB]}
topologies: [C1-1, D1-1]
""",
    file="claimed.yaml",
)
EXPERIMENTS = expand(SUITE, available=["one", "two"])
BARE = {each.id: experiment_findings(each, [], []) for each in EXPERIMENTS}
PAIR = "median(latency)[middleware=one, size=100 B, topology=C1-1] {} median(latency)[middleware=two, size=100 B, topology=C1-1]"
MESSAGES = 1000
Draw = Callable[[Experiment], Mapping[str, list[float]]]


def found(
    experiment: Experiment, figures: Mapping[str, list[float]], kind: str = "valid", side: Side | None = None
) -> ExperimentFindings:
    """An experiment with these values of its trials, block by block."""
    values = {metric_named(name).key(experiment.streams[0].name): own for name, own in figures.items()}
    trials = max((len(own) for own in figures.values()), default=3)
    outcomes = tuple(TrialOutcome(f"t{block}", block, 1, kind, "") for block in range(trials))
    measured = {key: [Measured(value, MESSAGES) for value in own] for key, own in values.items()}
    bare = BARE[experiment.id]
    return replace(
        bare,
        experiment=bare.experiment if side is None else next(e for e in on_both_sides([experiment]) if e.side is side),
        outcomes=outcomes,
        by_block={key: dict(enumerate(own)) for key, own in values.items()},
        counted={
            key: {block: (round(value * MESSAGES), MESSAGES) for block, value in enumerate(own)}
            for key, own in values.items()
            if key.metric.endswith("share")
        },
        estimates={
            key: share_of_trials(own) if key.metric.endswith("share") else no_estimate("only its trials are looked at")
            for key, own in measured.items()
        },
    )


def judged(claim: str, draw: Draw) -> JudgedClaim:
    return judge_claim(parse_claim(claim), [found(each, draw(each)) for each in EXPERIMENTS])


def latencies(
    rng: np.random.Generator, median_ns: Callable[[Experiment], float], blocks: int = 5, spread: float = 0.05
) -> Draw:
    """Blocks differ for all alike, trials for themselves."""
    of_block = rng.normal(0, 0.2, blocks)

    def draw(each: Experiment) -> dict[str, list[float]]:
        noise = of_block + rng.normal(0, spread, blocks)
        return {"median(latency)": (median_ns(each) * np.exp(noise)).tolist()}

    return draw


def faster(each: Experiment) -> float:
    return 50e3 if each.middleware == "one" else 100e3


def grown(each: Experiment) -> float:
    return 50e3 + each.streams[0].size_bytes


@pytest.mark.parametrize(
    ("claim", "judgement"),
    [
        (PAIR.format("<"), Judgement.HOLDS),
        (PAIR.format(">"), Judgement.REFUTED),
        (PAIR.format("/") + " < 0.7", Judgement.HOLDS),
        (PAIR.format("/") + " < 0.3", Judgement.REFUTED),
        (PAIR.format("/") + " > 0.5", Judgement.UNDECIDED),
        ("median(latency)[middleware=one] < median(latency)[middleware=two]", Judgement.HOLDS),
        ("median(latency)[middleware=two] < 1 ms", Judgement.HOLDS),
        ("median(latency)[middleware=two] > 1 ms", Judgement.REFUTED),
        ("median(latency) < 5 µs", Judgement.REFUTED),
        ("median(latency)[topology=C1-1] < median(latency)[topology=D1-1]", Judgement.UNDECIDED),
        ("p99(latency) < 1 ms", Judgement.UNDECIDED),
        ("median(latency)[middleware=three] < 1 ms", Judgement.UNDECIDED),
    ],
)
def test_a_claim_is_judged_by_what_was_measured(claim: str, judgement: Judgement) -> None:
    assert judged(claim, latencies(np.random.default_rng(1), faster)).judgement is judgement


def test_a_claim_pairs_what_agrees_in_all_else() -> None:
    claim = judged(
        "median(latency)[middleware=one] < median(latency)[middleware=two]", latencies(np.random.default_rng(2), faster)
    )
    assert len(claim.parts) == claim.count(Judgement.HOLDS) == 6
    for part in claim.parts:
        one, two = (subject.experiment.factors for subject in part.subjects)
        assert {name for name in one if one[name] != two[name]} == {"middleware"}
        assert part.test is Test.PAIRED_T
        assert part.effect is not None
        assert part.effect.low < 0.5 < part.effect.high * 1.2


def test_a_claim_without_values_says_why() -> None:
    claim = judged("p99(latency)[middleware=one, size=1 kB] < 1 ms", latencies(np.random.default_rng(1), faster))
    assert {part.reason for part in claim.parts} == {"not measured"}


def test_of_two_sides_each_has_its_own_verdict_unless_the_claim_names_them() -> None:
    rng = np.random.default_rng(4)
    draw = {side: latencies(rng, lambda _, ns=ns: ns) for side, ns in ((Side.BASE, 400e3), (Side.HEAD, 50e3))}
    both = [found(whole, draw[side](whole), side=side) for whole in EXPERIMENTS for side in Side]
    claims = [
        parse_claim("median(latency) < 100 µs"),
        parse_claim("median(latency)[side=head] < median(latency)[side=base]"),
    ]
    told = judged_claims(claims, both)
    assert [(each.side, each.judgement, len(each.parts)) for each in told] == [
        (Side.BASE, Judgement.REFUTED, 12),
        (Side.HEAD, Judgement.HOLDS, 12),
        (None, Judgement.HOLDS, 12),
    ]
    assert [each.side for each in decisive(told)] == [Side.HEAD, None]


@pytest.mark.parametrize("blocks", [3, 6])
@pytest.mark.parametrize(
    ("claim", "allowed"),
    [
        (PAIR.format("<"), 0.025),
        (PAIR.format("/") + " > 1", 0.025),
        ("median(latency)[middleware=one, size=100 B, topology=C1-1] < 100 µs", 0.025),
        ("monotone in size: median(latency)[middleware=one, topology=C1-1]", 0.05),
    ],
)
def test_of_equal_sides_a_claim_rarely_holds(claim: str, allowed: float, blocks: int) -> None:
    """Of 800 claims about equals no more hold than a rate of `allowed` could bring about, once in a thousand."""
    rng = np.random.default_rng(blocks)
    parsed, times = parse_claim(claim), 800
    some = [each for each in EXPERIMENTS if each.factors["topology"] == "C1-1"]
    holds = 0
    for _ in range(times):
        draw = latencies(rng, lambda _: 100e3, blocks)
        holds += judge_claim(parsed, [found(each, draw(each)) for each in some]).judgement is Judgement.HOLDS
    assert holds / times <= allowed + 3.1 * (allowed * (1 - allowed) / times) ** 0.5


def test_many_true_parts_are_rarely_refuted_by_chance() -> None:
    """Equals everywhere: at the parts' own level one of twelve is soon refuted."""
    rng = np.random.default_rng(3)
    parsed = parse_claim("median(latency) < 100 µs")
    refuted, singly, times = 0, 0, 200
    for _ in range(times):
        own = [found(each, latencies(rng, lambda _: 100e3)(each)) for each in EXPERIMENTS]
        claim = judge_claim(parsed, own)
        refuted += claim.judgement is Judgement.REFUTED
        singly += claim.count(Judgement.REFUTED) > 0
    assert singly / times > 0.1
    assert refuted / times <= 0.025 + 3.1 * (0.025 * 0.975 / times) ** 0.5


@pytest.mark.parametrize(
    ("median_ns", "judgement"),
    [
        (grown, Judgement.HOLDS),
        (lambda each: 1e9 / grown(each), Judgement.HOLDS),
        (lambda each: {100: 50e3, 1000: 90e3, 10_000: 60e3}[each.streams[0].size_bytes], Judgement.REFUTED),
        (lambda _: 50e3, Judgement.UNDECIDED),
    ],
)
def test_a_figure_that_turns_back_is_not_monotone(
    median_ns: Callable[[Experiment], float], judgement: Judgement
) -> None:
    claim = judged("monotone in size: median(latency)", latencies(np.random.default_rng(4), median_ns, spread=0.01))
    assert claim.judgement is judgement
    assert len(claim.parts) == 4
    undecided = [part.reason for part in claim.parts if part.judgement is Judgement.UNDECIDED]
    assert all(reason.endswith("run more trials") for reason in undecided)


def loss(share: float, blocks: int = 3) -> Draw:
    return lambda each: {"loss": [share if each.middleware == "two" else 0.0] * blocks}


@pytest.mark.parametrize(
    ("claim", "judgement"),
    [
        ("no loss[middleware=one]", Judgement.HOLDS),
        ("no loss", Judgement.REFUTED),
        ("loss[middleware=one] < 1 %", Judgement.HOLDS),
        ("loss[middleware=one] < 0.1 %", Judgement.UNDECIDED),
        ("loss[middleware=two] < 1 %", Judgement.REFUTED),
        ("loss[middleware=one] < loss[middleware=two]", Judgement.HOLDS),
        ("loss[middleware=one, topology=C1-1] < loss[middleware=one, topology=D1-1]", Judgement.UNDECIDED),
    ],
)
def test_no_loss_among_few_messages_is_no_proof_of_a_tiny_bound(claim: str, judgement: Judgement) -> None:
    found = judged(claim, loss(0.05))
    assert found.judgement is judgement
    assert all(part.effect is not None for part in found.parts)


def test_no_loss_says_how_rare_a_loss_can_be() -> None:
    effect = judged("no loss[middleware=one]", loss(0.0)).parts[0].effect
    assert effect is not None
    assert (effect.scale, effect.value, effect.low) == (Scale.VALUE, 0.0, 0.0)
    assert effect.high == pytest.approx(1 - 0.025 ** (1 / (3 * MESSAGES)))


@pytest.mark.parametrize("trials", [3, 6])
def test_a_bound_at_the_true_loss_is_rarely_decided_though_few_trials_lose_most(trials: int) -> None:
    rng, experiment = np.random.default_rng(2), EXPERIMENTS[0]
    claim = parse_claim("loss[middleware=one, size=100 B, topology=C1-1] < 2 %")
    drawn = [drawn_events(rng, 0.02, 1.0, trials, MESSAGES) / MESSAGES for _ in range(400)]
    judgements = [judge_claim(claim, [found(experiment, {"loss": own.tolist()})]).judgement for own in drawn]
    assert 1 - judgements.count(Judgement.UNDECIDED) / len(drawn) < 0.08


@pytest.mark.parametrize(
    ("kind", "judgement"),
    [
        ("no_communication", Judgement.HOLDS),
        ("valid", Judgement.REFUTED),
        ("failed", Judgement.UNDECIDED),
        ("not_applicable", Judgement.UNDECIDED),
    ],
)
def test_no_communication_is_judged_by_outcomes(kind: str, judgement: Judgement) -> None:
    experiments = [found(each, {}, kind) for each in EXPERIMENTS]
    assert judge_claim(parse_claim("no communication[middleware=one]"), experiments).judgement is judgement


def test_what_is_not_applicable_is_no_part_of_a_claim_and_is_counted() -> None:
    first, *rest = EXPERIMENTS
    experiments = [found(first, {}, "not_applicable"), *(found(each, {"loss": [0.0] * 4}) for each in rest)]
    claim = judge_claim(parse_claim("no loss"), experiments)
    assert (claim.judgement, len(claim.parts), claim.n_not_applicable) == (Judgement.HOLDS, len(rest), 1)
    alone = judge_claim(parse_claim("no loss"), experiments[:1])
    assert (alone.judgement, len(alone.parts), alone.n_not_applicable) == (Judgement.UNDECIDED, 1, 0)


def test_why_nothing_was_measured_is_told_with_the_reason_of_worker_or_trial() -> None:
    refused = TrialOutcome("t0", 0, 1, "not_applicable", "4 MB: too large")
    disturbed = TrialOutcome("t0", 0, 1, "invalid", "5 % of CPU time was stolen", "steal")
    claim = parse_claim("median(latency)[middleware=one] < 1 s")
    reasons = [
        judge_claim(claim, [replace(found(EXPERIMENTS[0], {}), outcomes=(outcome,))]).parts[0].reason
        for outcome in (refused, disturbed)
    ]
    assert reasons == ["not applicable: 4 MB: too large", "no valid trial (invalid: steal)"]


def test_a_side_without_a_value_is_named_by_what_tells_it_from_the_other() -> None:
    """By its middleware; where both are of one, by the first factor in which they differ."""
    unmeasured = [found(each, {}, "failed") for each in EXPERIMENTS]
    claims = [
        "median(latency)[middleware=one] < median(latency)[middleware=two]",
        "median(latency)[middleware=one, size=100 B] < median(latency)[middleware=one, size=1 kB]",
    ]
    reasons = [judge_claim(parse_claim(claim), unmeasured).parts[0].reason for claim in claims]
    assert reasons == [
        "one: no valid trial (failed); two: no valid trial (failed)",
        "100 B: no valid trial (failed); 1 kB: no valid trial (failed)",
    ]


def test_trials_without_a_common_block_are_compared_all_the_same() -> None:
    def apart(each: Experiment) -> ExperimentFindings:
        whole = found(each, {"median(latency)": [faster(each) * scale for scale in (0.98, 1.0, 1.02)]})
        first = 0 if each.middleware == "one" else 3
        return replace(
            whole,
            by_block={key: {first + b: v for b, v in own.items()} for key, own in whole.by_block.items()},
        )

    claim = judge_claim(parse_claim(PAIR.format("<")), [apart(each) for each in EXPERIMENTS])
    assert (claim.judgement, claim.parts[0].test) == (Judgement.HOLDS, Test.WELCH)
