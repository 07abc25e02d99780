"""The headers of a trial's messages are found in a file as they were sent, and nothing else is taken for one."""

import random
import struct
from pathlib import Path

import pytest

from middlemark.campaign.observers.traffic import readable_headers

TOKEN = 0xDEADBEEF
HEADER = struct.Struct("<qqIIHHHBB")


def header(sequence: int, token: int = TOKEN, phase: int = 1, version: int = 1) -> bytes:
    """As the contract has it."""
    return HEADER.pack(sequence * 1000, sequence * 1000, sequence, token, 258, 3, 4, phase, version)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "capture.pcapng"


def test_each_header_of_each_phase_counts(file: Path) -> None:
    noise = random.Random(1).randbytes(5000)
    file.write_bytes(b"".join(noise + header(n, phase=phase) for n, phase in enumerate([2, 2, 0, 1, 1, 1])))
    assert readable_headers(file, TOKEN) == 6


@pytest.mark.parametrize(
    "other",
    [
        header(7, token=TOKEN + 1),
        header(7, version=2),
        header(7, phase=3),
        header(7)[:-1],
        TOKEN.to_bytes(4, "big") * 9,
    ],
    ids=["token", "version", "phase", "cut", "order"],
)
def test_what_is_no_header_of_the_trial_does_not_count(file: Path, other: bytes) -> None:
    file.write_bytes(other)
    assert readable_headers(file, TOKEN) == 0


def test_a_token_by_chance_is_no_header(file: Path) -> None:
    file.write_bytes(TOKEN.to_bytes(4, "little").join(random.Random(n).randbytes(100) for n in range(100)))
    assert readable_headers(file, TOKEN) == 0
