"""A program's answer is heard to its end, or within its bounds."""

import sys

import pytest

from middlemark.installation.answers import NoAnswer, answer_of


def python(script: str) -> list[str]:
    return [sys.executable, "-IS", "-c", script]


def test_output_errors_and_exit_status_are_told() -> None:
    script = "import sys; sys.stdout.write(sys.stdin.read()); print(2, file=sys.stderr); sys.exit(3)"
    answer = answer_of(python(script), within_s=30, data=b"1" * 100_000)
    assert (answer.exit_status, answer.output, answer.errors) == (3, b"1" * 100_000, b"2\n")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_an_answer_without_end_is_too_much(stream: str) -> None:
    script = f"import sys\nwhile True: sys.{stream}.write('x' * 65536)"
    with pytest.raises(NoAnswer, match="more than 1 MiB"):
        answer_of(python(script), within_s=30, most_bytes=1 << 20)


@pytest.mark.parametrize(
    "script", ["import time; time.sleep(600)", "import os, time; os.close(1); os.close(2); time.sleep(600)"]
)
def test_who_does_not_end_is_waited_for_only_so_long(script: str) -> None:
    with pytest.raises(NoAnswer, match="not ended after 0 s"):
        answer_of(python(script), within_s=0.3)
