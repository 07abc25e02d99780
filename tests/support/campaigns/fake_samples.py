# ruff: noqa: ANN001, ANN201
"""The samples of the fake worker: written as the contract has them, or spoilt as a fault says."""

import os
import struct

RECEIVED = (
    "stream u2",
    "answer u2",
    "publisher u2",
    "subscriber u2",
    "sequence u4",
    "intended_ns i8",
    "sent_ns i8",
    "received_ns i8",
)
PUBLISHED = (
    "stream u2",
    "publisher u2",
    "sequence u4",
    "intended_ns i8",
    "sent_ns i8",
    "returned_ns i8",
    "fill_ns i8",
    "accepted u1",
)


def write(path, fields, rows):
    """A structured array of NumPy, as the contract has samples."""
    descr = [tuple(field.split()) for field in fields]
    code = "<" + "".join({"u1": "B", "u2": "H", "u4": "I", "i8": "q"}[kind] for _, kind in descr)
    dtype = [(name, "|u1" if kind == "u1" else "<" + kind) for name, kind in descr]
    header = repr(
        {
            "descr": [(n, "|" + k if k == "u1" else k) for n, k in dtype],
            "fortran_order": False,
            "shape": (len(rows),),
        }
    )
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(b"".join(struct.pack(code, *row) for row in rows))


def spoil(path, rows, what, how):
    """Leaves something else in place of samples, or of a log of histograms."""
    content = open(path, "rb").read() if what == "samples" else b""  # noqa: PTH123, SIM115
    if what == "samples":
        os.remove(path)  # noqa: PTH107
    if how == "pipe":
        os.mkfifo(path)
    elif how == "link":
        os.symlink("/etc/passwd", path)  # noqa: PTH211
    else:
        shape = f"({rows},)".encode()
        header, body = content[:128], content[128:]
        resized = lambda by: header.replace(shape, by).rstrip().ljust(127) + b"\n"  # noqa: E731
        spoilt = {
            "empty": b"",
            "cut": content[:-1],
            "negative": resized(b"(-1,)") + body,
            "huge": resized(b"(9999999999999,)") + body,
            "objects": header.replace(b"<u2", b"|O4", 1) + body,
            "other": header.replace(b"<u2", b"<i2", 1) + body,
            "far": header + b"\xff" * len(body),
            "junk": b"Tag=imu.0.0,0,0,0,%s\n" % (b"A" * 1000),
        }
        with open(path, "wb") as file:  # noqa: PTH123
            file.write(spoilt[how])
