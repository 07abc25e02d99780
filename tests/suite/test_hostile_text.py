"""Whatever text is given as a suite, the answer is a suite or a refusal, never another exception."""

import random
import string

from hypothesis import given
from hypothesis import strategies as st

from middlemark.errors import ExitCode, SuiteError
from middlemark.suite import Suite, load_suite, parse_suite

QUICK = load_suite("quick").text
YAML_PIECES = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ": ",
    "- ",
    "\n",
    "\n  ",
    "&a ",
    "*a",
    "!!set",
    "? ",
    "|",
    ">",
    "'",
    '"',
    "#",
    "%",
    "\t",
]
WORDS = [
    "suite",
    "workloads",
    "imu",
    "rate",
    "size",
    "4 MB",
    "200 Hz",
    "qos",
    "null",
    "true",
    "1e400",
    "0x1F",
    "2001-01-01",
    "~",
]

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS) | st.text(max_size=8)
trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(list(Suite.model_fields)) | st.text(max_size=5), inner)
    ),
    max_leaves=12,
)


def answer(text: str) -> Suite | SuiteError:
    try:
        return parse_suite(text, file="hostile.yaml")
    except SuiteError as refusal:
        return refusal


def assert_understood_or_refused(text: str) -> None:
    answered = answer(text)
    if isinstance(answered, SuiteError):
        assert str(answered).startswith("hostile.yaml")
        assert answered.exit_code is ExitCode.USAGE


@given(st.text())
def test_any_text(text: str) -> None:
    assert_understood_or_refused(text)


@given(st.lists(st.sampled_from(YAML_PIECES + WORDS), max_size=40).map("".join))
def test_any_mixture_of_yaml(text: str) -> None:
    assert_understood_or_refused(text)


@given(seed=st.integers(0, 2**32), edits=st.integers(1, 5))
def test_quick_with_a_few_slips_of_the_pen(seed: int, edits: int) -> None:
    chooser = random.Random(seed)
    text = QUICK
    for _ in range(edits):
        place = chooser.randrange(len(text))
        insertion = chooser.choice([*YAML_PIECES, *string.printable, ""])
        text = text[:place] + insertion + text[place + chooser.randrange(3) :]
    assert_understood_or_refused(text)


@given(trees)
def test_any_tree_in_place_of_a_suite(tree: object) -> None:
    assert_understood_or_refused(repr(tree))


@given(st.sampled_from(list(Suite.model_fields)), trees)
def test_any_tree_in_place_of_a_field(field: str, tree: object) -> None:
    head = {"suite": "mine", "middlewares": "all", "workloads": "imu"} | {field: tree}
    assert_understood_or_refused(repr(head).replace("True", "true").replace("False", "false").replace("None", "null"))
