"""Claims are read strictly: what can't be read, or is of what the suite has not, is told with its place."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from pydantic_core import PydanticCustomError

from middlemark.errors import SuiteError, UsageError
from middlemark.suite import (
    Bound,
    Comparison,
    Monotone,
    NoCommunication,
    NoLoss,
    Operand,
    Selection,
    load_claims,
    parse_claim,
    parse_suite,
)
from middlemark.suite.claims.claim import Statement
from middlemark.suite.load import parse_claims
from middlemark.suite.metrics import DISTRIBUTIONS, LEVEL_NAMES, PLAIN, metric_named

SUITE = """\
suite: mine
middlewares: [zenoh, mqtt]
workloads: [imu]
topologies: [C1-1, D1-1]
claims:
"""
ZENOH = Operand("median(latency)", Selection((("middleware", "zenoh"), ("topology", "D1-1"))))
MQTT = Operand("median(latency)", Selection((("middleware", "mqtt"),)))


@pytest.mark.parametrize(
    ("written", "statement"),
    [
        (
            "median(latency)[middleware=zenoh, topology=D1-1] < median(latency)[middleware=mqtt]",
            Comparison(ZENOH, MQTT, above=False),
        ),
        (
            "p50(latency)[middleware=mqtt]/median(latency)[middleware=zenoh,topology=D1-1]>2.5",
            Comparison(MQTT, ZENOH, above=True, ratio=2.5),
        ),
        (
            "p99(latency)[size=1000kB] < 1 ms",
            Bound(Operand("p99(latency)", Selection((("size", "1 MB"),))), above=False, bound=1e6),
        ),
        ("loss < 0.1 %", Bound(Operand("loss", Selection()), above=False, bound=0.001)),
        ("goodput > 80 MB/s", Bound(Operand("goodput", Selection()), above=True, bound=80e6)),
        ("cpu < 50 %", Bound(Operand("cpu", Selection()), above=False, bound=50)),
        ('no loss[link="1 Gbit/s, 10 ms"]', NoLoss(Selection((("link", "1 Gbit/s, 10 ms"),)))),
        ("no communication[middleware=mqtt]", NoCommunication(Selection((("middleware", "mqtt"),)))),
        ("monotone in size: p99(latency)", Monotone("size", Operand("p99(latency)", Selection()))),
    ],
)
def test_every_form_is_read(written: str, statement: Statement) -> None:
    assert parse_claim(written).statement == statement


def test_every_metric_of_the_catalogue_can_be_claimed() -> None:
    names = [f"{level}({what})" for level in LEVEL_NAMES for what in DISTRIBUTIONS] + [each.name for each in PLAIN]
    for name in names:
        metric = metric_named(name)
        assert metric.name == name
        assert parse_claim(f"{name} < {metric.dimension.example}").selections
    assert len({metric_named(name).stored_name for name in names}) == len(names)


def told(claim: str) -> str:
    with pytest.raises(SuiteError) as raised:
        parse_suite(SUITE + claim, file="mine.yaml")
    return str(raised.value)


MISTAKES = {
    "a wrong figure is told with its column": (
        "  - p99(latancy)[middleware=zenoh] < 1 ms\n",
        snapshot("""\
mine.yaml:6:5: `p99(latancy)` is no metric
  - p99(latancy)[middleware=zenoh] < 1 ms
allowed: did you mean `p99(latency)`? (p99(latency), p99(latency_from_intended), p99(round_trip), p99(round_trip_from_intended), p99(round_trip_without_server), p99(server_time), p99(jitter), p99(publish_call), p99(pacing_error), p99(fill), p99(serialise), p99(deserialise), p99(latency_with_serialisation), p99(end_to_end), p99(communication), p99(idle), p99(computation), first_message, first_full_message, matched, handshake, start_up, deadline_missed, loss, unanswered, undelivered, goodput, capacity, cpu, memory, kernel_share, tcp_share, cpu_per_message, wire_to_payload)\
"""),
    ),
    "an unknown middleware": (
        "  - no loss\n  - p99(latency)[middleware=zeno] < 1 ms\n",
        snapshot("""\
mine.yaml:7:5: the suite has no middleware `zeno`
  - p99(latency)[middleware=zeno] < 1 ms
allowed: did you mean `zenoh`? (zenoh, mqtt)\
"""),
    ),
    "a bound without its unit": (
        "  - 'p99(latency)[middleware=zenoh] < 5'\n",
        snapshot("""\
mine.yaml:6:39: `5` can't be a bound of p99(latency)
  - 'p99(latency)[middleware=zenoh] < 5'
allowed: a value, such as `200 µs`\
"""),
    ),
    "a claim that ends too early": (
        "  - p99(latency)[middleware=zenoh]\n",
        snapshot("""\
mine.yaml:6:35: the claim ends too early
  - p99(latency)[middleware=zenoh]
allowed: `<`, `/`\
"""),
    ),
    "a word that can not stand where it does": (
        "  - no lost\n",
        snapshot("""\
mine.yaml:6:8: `lost` is not allowed here
  - no lost
allowed: `communication`, `loss`\
"""),
    ),
    "a ratio of shares": (
        "  - loss[middleware=zenoh] / loss[middleware=mqtt] > 2\n",
        snapshot("""\
mine.yaml:6:52: a share may be 0, so it has no ratio
  - loss[middleware=zenoh] / loss[middleware=mqtt] > 2
allowed: `A < B`, which judges their difference\
"""),
    ),
    "figures of two kinds": (
        "  - loss[middleware=zenoh] < cpu\n",
        snapshot("""\
mine.yaml:6:28: these can't be compared
  - loss[middleware=zenoh] < cpu
allowed: two metrics of one kind; loss is a number of share, cpu of percent_of_core\
"""),
    ),
    "a factor that does not grow": (
        "  - monotone in topology: p99(latency)\n",
        snapshot("""\
mine.yaml:6:17: `topology` is no factor that grows
  - monotone in topology: p99(latency)
allowed: size, rate, answer, interval, patience, response, timeout, publish_patience, queue, spin, cpu_load\
"""),
    ),
}


@pytest.mark.parametrize(("claims", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_its_place_and_what_is_allowed(claims: str, said: str) -> None:
    assert told(claims) == said


def test_a_mapping_is_a_claim_only_if_it_reads_as_one() -> None:
    suite = parse_suite(SUITE + "  - monotone in size: median(latency)[middleware=zenoh]\n", file="mine.yaml")
    assert suite.claims[0].text == "monotone in size: median(latency)[middleware=zenoh]"
    assert "is not allowed here" in told("  - monotoner in size: median(latency)\n")


@given(st.text(max_size=60))
def test_any_text_is_a_claim_or_refused(written: str) -> None:
    try:
        assert parse_claim(written).text == " ".join(written.split())
    except PydanticCustomError as error:
        context = error.context or {}
        assert context["problem"]
        assert context["allowed"]
        assert 0 <= context["character"] <= len(written)


def test_claims_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "claims.yaml"
    file.write_text("- no loss\n- monotone in rate: cpu\n")
    assert [each.text for each in load_claims(str(file))] == ["no loss", "monotone in rate: cpu"]
    file.write_text("claims: [no loss]\n")
    assert [each.text for each in load_claims(str(file))] == ["no loss"]
    file.write_text(SUITE + "  - cpu < 50 %\n")
    assert [each.text for each in load_claims(str(file))] == ["cpu < 50 %"]


def test_a_claim_of_the_command_line_is_pointed_into() -> None:
    with pytest.raises(UsageError) as raised:
        parse_claims(["p99(latancy) < 1 ms"])
    assert str(raised.value) == snapshot("""\
`p99(latancy)` is no metric
  p99(latancy) < 1 ms
  ^
allowed: did you mean `p99(latency)`? (p99(latency), p99(latency_from_intended), p99(round_trip), p99(round_trip_from_intended), p99(round_trip_without_server), p99(server_time), p99(jitter), p99(publish_call), p99(pacing_error), p99(fill), p99(serialise), p99(deserialise), p99(latency_with_serialisation), p99(end_to_end), p99(communication), p99(idle), p99(computation), first_message, first_full_message, matched, handshake, start_up, deadline_missed, loss, unanswered, undelivered, goodput, capacity, cpu, memory, kernel_share, tcp_share, cpu_per_message, wire_to_payload)\
""")
