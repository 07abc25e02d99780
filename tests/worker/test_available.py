"""Middlewares whose worker or service can't run here are left out, with what they need."""

import json
import os
from pathlib import Path

import pytest

from middlemark.worker.available import available_workers
from toy_workers import DESCRIPTION, install

pytestmark = pytest.mark.usefixtures("own_folders")


def test_a_worker_that_can_not_be_loaded_names_the_library_and_the_packages(tmp_path: Path) -> None:
    loader = "toy: error while loading shared libraries: libtoy.so.3: cannot open shared object file"
    path = install(tmp_path / "target/release", "toy", more=f"echo '{loader}' >&2; exit 127")
    record = {"workers": [{"worker": "toy", "status": "built", "packages": [["libtoy3", "libtoys"], ["libtoy4"]]}]}
    (path.parent / "middlemark-workers.json").write_text(json.dumps(record))
    unfit = available_workers()[1]["toy"]
    assert "needs libtoy.so.3, which is not here; it needs: sudo apt-get install libtoy3 libtoys, or libtoy4" in unfit


def test_a_middleware_whose_service_can_not_run_is_left_out_until_it_can(tmp_path: Path) -> None:
    broker = {"service": "broker", "per": "network", "when": []}
    install(tmp_path / "a", "toy", DESCRIPTION | {"services": [broker | {"missing": "no toyd; install it"}]})
    fit, unfit = available_workers()
    assert "toy" not in fit
    assert unfit["toy"] == "broker: no toyd; install it"
    path = tmp_path / "a/middlemark-worker-toy"
    content = path.read_text().replace(', "missing": "no toyd; install it"', "")
    status = path.stat()
    path.write_text(content + " " * (status.st_size - len(content)))  # the file is the same to who looks from outside
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert "toy" in available_workers()[0]


def test_a_service_that_only_an_option_needs_keeps_no_middleware_away(tmp_path: Path) -> None:
    router = {"service": "router", "per": "network", "when": [{"option": "express", "values": [True]}], "missing": "no"}
    install(tmp_path / "a", "toy", DESCRIPTION | {"services": [router]})
    assert "toy" in available_workers()[0]
