"""Quantities are read as people write them, exactly, and written back in the unit that suits them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from middlemark.suite import DURATION, RATE, SHARE, SIZE
from middlemark.suite.yaml.quantity import Quantity, percent, plural


@pytest.mark.parametrize(
    ("quantity", "written", "value"),
    [
        (SIZE, "64 B", 64),
        (SIZE, "4 MB", 4_000_000),
        (SIZE, "4000 kB", 4_000_000),
        (SIZE, "4MB", 4_000_000),
        (SIZE, " 1.5 kB ", 1500),
        (SIZE, "1 KiB", 1024),
        (SIZE, "2 MiB", 2_097_152),
        (RATE, "200 Hz", 200.0),
        (RATE, "0.5 Hz", 0.5),
        (RATE, "1 kHz", 1000.0),
        (DURATION, "10 s", 10_000_000_000),
        (DURATION, "700 ms", 700_000_000),
        (DURATION, "1.5 min", 90_000_000_000),
        (DURATION, "20 us", 20_000),
        (DURATION, "20 µs", 20_000),
        (DURATION, "1e3 ns", 1_000),
        (SHARE, "2 %", 0.02),
        (SHARE, "0.5%", 0.005),
    ],
)
def test_a_quantity_is_read_as_people_write_it(quantity: Quantity, written: str, value: float) -> None:
    assert quantity.parse(written) == value


@pytest.mark.parametrize(
    ("quantity", "written"),
    [(SIZE, w) for w in ("4", 4, 4.0, True, None, "4 Mb", "4 mB s", "-4 MB", "4 s", "MB", "4 MB 3 kB", [], "1e999 B")]
    + [(DURATION, w) for w in ("1:30", "10", "10 Hz", "inf s", "nan s", "10 sec", "0.1 ns", "0 nan", "0nan")]
    + [(SHARE, w) for w in ("101 %", "2", "2 B")],
)
def test_anything_else_is_refused_with_what_is_allowed(quantity: Quantity, written: object) -> None:
    with pytest.raises(PydanticCustomError) as raised:
        quantity.parse(written)
    assert raised.value.context is not None
    assert quantity.example in raised.value.context["allowed"]


@given(st.integers(0, 10**12))
def test_a_whole_quantity_survives_being_written_and_read(value: int) -> None:
    assert SIZE.parse(SIZE.text(value)) == value
    assert DURATION.parse(DURATION.text(value)) == value


@given(st.integers(1, 10**9).map(lambda thousandths: thousandths / 1000))
def test_a_rate_survives_being_written_and_read(rate_hz: float) -> None:
    assert RATE.parse(RATE.text(rate_hz)) == pytest.approx(rate_hz, rel=1e-11)


@given(st.integers(0, 100_000).map(lambda thousandths: thousandths / 1000))
def test_a_share_is_a_fraction_and_is_written_in_percent_as_it_was_read(percents: float) -> None:
    share = SHARE.parse(f"{percents} %")
    assert share == percents / 100
    assert SHARE.text(share) == f"{percents:g} %"
    assert percent(share) == percents


@pytest.mark.parametrize(
    ("count", "noun", "written"),
    [(0, "trial", "0 trials"), (1, "trial", "1 trial"), (2, "block", "2 blocks"), (3, "search", "3 searches")],
)
def test_one_of_a_thing_is_singular(count: int, noun: str, written: str) -> None:
    assert plural(count, noun) == written
