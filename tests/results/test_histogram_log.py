"""Histogram logs of strangers: whatever an entry holds, it is read within bounds or refused with its file."""

import base64
import struct
import zlib
from pathlib import Path

import pytest

from middlemark.errors import StoreError
from middlemark.results.histogram_log import read_log
from shared_runs import GOLDEN

WORKERS = GOLDEN / "histogram" / "worker.beyond.hlog"


def entry(raw: bytes, tag: str = "imu.0.0") -> str:
    return f"Tag={tag},0.0,0.0,0.0,{base64.b64encode(raw).decode()}\n"


def compressed(plain: bytes) -> bytes:
    packed = zlib.compress(plain)
    return struct.pack(">II", 0x1C84_9314, len(packed)) + packed


def header(digits: int = 3, lowest: int = 1, highest: int = 3_600_000_000_000) -> bytes:
    return struct.pack(">iiiiqqd", 0x1C84_9313, 0, 0, digits, lowest, highest, 1.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (entry(compressed(header() + bytes(200 << 20))), "at most 4194304 bytes"),
        (entry(compressed(header(digits=5))), "5 digits"),
        (entry(compressed(header(highest=2**62))), "none of latencies"),
        (entry(compressed(header(lowest=-1))), "none of latencies"),
        (entry(b"\x1c\x84"), "beyond"),
        (entry(b""), "beyond"),
        (entry(compressed(b"")), "beyond"),
        ("Tag=\n", "beyond"),
        ("Tag=imu,0,0,0,AAAA\n", "beyond"),
        ("Tag=imu.0.0,0,0,0,%%%\n", "beyond"),
        ("Tag=a.b.c,0,0,0,AAAA\n", "beyond"),
        ("Tag=imu.0.0\n" * 20_000, "20000 flows"),
    ],
)
def test_what_is_no_log_of_a_worker_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.beyond.hlog"
    path.write_text(text)
    with pytest.raises(StoreError, match=said) as caught:
        read_log(path)
    assert "a.beyond.hlog" in str(caught.value)


def test_bytes_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.beyond.hlog").write_bytes(WORKERS.read_bytes() + b"\xff\n")
    with pytest.raises(StoreError, match=r"a\.beyond\.hlog"):
        read_log(tmp_path / "a.beyond.hlog")
