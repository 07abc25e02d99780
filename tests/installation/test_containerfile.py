"""The image's definition takes files that are there, and leaves to the workers what only they know."""

import re

from middlemark.worker.executables import workers
from pages import ROOT

CONTAINERFILE = (ROOT / "setup" / "dist" / "Containerfile").read_text(encoding="utf-8")


def test_what_an_image_copies_is_there_and_no_build_of_this_checkout_is() -> None:
    copied = re.findall(r"^COPY (?!--from)(\S+)", CONTAINERFILE, re.MULTILINE)
    assert [path for path in copied if not (ROOT / path).exists()] == []
    ignored = (ROOT / ".containerignore").read_text(encoding="utf-8").split()
    assert {"/target/", "/.venv/"} <= set(ignored)


def test_an_image_names_no_middleware_as_each_worker_says_what_it_needs() -> None:
    said = "".join(line for line in CONTAINERFILE.splitlines() if not line.startswith("#"))
    words = set(re.findall(r"[a-z0-9]+", said.lower()))
    assert words.isdisjoint(workers())
    assert "system_packages.py" in CONTAINERFILE
