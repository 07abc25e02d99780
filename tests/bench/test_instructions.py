"""What callgrind says at its end is the number of instructions."""

import runpy

import pytest

from pages import ROOT

collected = runpy.run_path(str(ROOT / "bench" / "instructions.py"))["collected"]


def test_the_number_collected_is_read() -> None:
    assert collected("==1== \n==1== Events    : Ir\n==1== Collected : 7415231\n") == 7_415_231


def test_a_run_without_a_count_is_no_count() -> None:
    with pytest.raises(ValueError, match="counted nothing: valgrind: no such file"):
        collected("valgrind: no such file")
