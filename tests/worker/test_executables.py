"""Workers are found by their names, the first folder wins; what they say is asked once for each state of their file."""

import json
import os
import shutil
from pathlib import Path

import pytest

from middlemark import installation
from middlemark.errors import EnvironmentNotReady, WorkerFailed
from middlemark.worker import description, executables
from middlemark.worker.available import available_workers
from middlemark.worker.contract import Description, ServiceNeed, When
from middlemark.worker.description import CONTRACT_VERSION


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDDLEMARK_WORKERS", f"{tmp_path / 'a'}{os.pathsep}{tmp_path / 'b'}")
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path / "target"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


DESCRIPTION = {
    "contract_version": CONTRACT_VERSION,
    "middleware": "toy",
    "title": "Toy",
    "summary": "A toy.",
    "library": {"name": "toy", "version": "1.2.3", "origin": "tests"},
    "capabilities": {
        "patterns": ["periodic"], "transports": ["udp"], "reliabilities": ["reliable"], "durabilities": ["volatile"],
        "histories": ["keep_all"],
        "congestion": ["block"],
        "deliveries": {
            "default": "own_thread",
            "has": [
                {"delivery": "own_thread", "how": "h", "source": "s"},
                {"delivery": "polling", "how": "h", "source": "s"},
            ],
            "lacks": [{"delivery": "library_thread", "reason": "r"}],
        },
        "largest_message_bytes": 100, "zero_copy": False, "same_process": False,
        "security": [], "between_hosts": False,
    },
    "services": [],
    "profiles": {"default": {"summary": "d", "options": {}}, "tuned": {"summary": "t", "delivery": "polling", "options": {"express": True}}},
    "options": [
        {"name": "express", "kind": {"kind": "boolean"}, "default": False, "summary": "e"},
        {"name": "depth", "kind": {"kind": "integer", "minimum": 1, "maximum": 9}, "default": 1, "summary": "d"},
    ],
}  # fmt: skip


def install(folder: Path, name: str, answer: object = DESCRIPTION, *, more: str = "") -> Path:
    """A worker that counts how often it is asked."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"middlemark-worker-{name}"
    path.write_text(f"#!/bin/sh\necho asked >> {folder}/asked\n{more}\ncat <<'END'\n{json.dumps(answer)}\nEND\n")
    path.chmod(0o755)
    return path


def test_the_first_folder_that_has_a_worker_wins(tmp_path: Path) -> None:
    install(tmp_path / "target/release", "toy")
    install(tmp_path / "target/release", "built")
    second = install(tmp_path / "b", "toy")
    assert executables.worker("toy") == second
    first = install(tmp_path / "a", "toy")
    assert executables.worker("toy") == first
    assert executables.worker("built") == tmp_path / "target/release/middlemark-worker-built"


def test_files_that_are_not_executable_are_not_listed_as_workers(tmp_path: Path) -> None:
    install(tmp_path / "a", "toy").chmod(0o644)
    install(tmp_path / "a", "toy.d")
    (tmp_path / "a/middlemark-worker-folder").mkdir()
    assert not {"toy", "toy.d", "folder"} & executables.workers().keys()


def test_a_missing_worker_is_said_with_the_reason_of_the_build(tmp_path: Path) -> None:
    (tmp_path / "target/release").mkdir(parents=True)
    record = {
        "workers": [{"worker": "toy", "status": "left_out", "reason": "no libtoy-dev", "seconds": 1.0, "more": 1}]
    }
    (tmp_path / "target/release/middlemark-workers.json").write_text(json.dumps(record))
    with pytest.raises(EnvironmentNotReady, match="no libtoy-dev"):
        executables.worker("toy")


def test_a_worker_is_described_again_only_when_its_file_has_changed(tmp_path: Path) -> None:
    path = install(tmp_path / "a", "toy")
    for _ in range(3):
        assert description.describe(path).library.version == "1.2.3"
    assert (tmp_path / "a/asked").read_text().splitlines() == ["asked"]
    library = {**DESCRIPTION["library"], "version": "1.3"}  # type: ignore[dict-item]
    install(tmp_path / "a", "toy", DESCRIPTION | {"library": library})
    assert description.describe(path).library.version == "1.3"


def test_a_worker_of_another_contract_version_is_refused_whatever_else_it_says(tmp_path: Path) -> None:
    path = install(tmp_path / "a", "toy", {"contract_version": 99, "something": "new"})
    with pytest.raises(WorkerFailed, match="version 99 of the worker contract"):
        description.describe(path)


@pytest.mark.parametrize("answer", [{"contract_version": CONTRACT_VERSION}, [], DESCRIPTION | {"unknown": 1}])
def test_an_answer_that_is_no_description_is_refused(tmp_path: Path, answer: object) -> None:
    with pytest.raises(WorkerFailed, match="did not print a description"):
        description.describe(install(tmp_path / "a", "toy", answer))


def test_a_worker_that_fails_is_quoted(tmp_path: Path) -> None:
    path = install(tmp_path / "a", "toy", more="echo libtoy.so.3 is missing >&2; exit 127")
    with pytest.raises(WorkerFailed, match=r"libtoy\.so\.3 is missing"):
        description.describe(path)


def test_a_suite_overrides_the_profile_and_the_profile_the_defaults() -> None:
    toy = Description.model_validate(DESCRIPTION)
    assert description.resolved_options(toy, "default", {}) == {"express": False, "depth": 1}
    assert description.resolved_options(toy, "tuned", {"depth": 4}) == {"express": True, "depth": 4}
    assert description.resolved_options(toy, "tuned", {"express": False}) == {"express": False, "depth": 1}


def test_a_delivery_is_the_suites_else_the_profiles_else_the_default() -> None:
    toy = Description.model_validate(DESCRIPTION)
    assert description.resolved_delivery(toy, "default", None) == "own_thread"
    assert description.resolved_delivery(toy, "tuned", None) == "polling"
    assert description.resolved_delivery(toy, "tuned", "library_thread") == "library_thread"


def test_profiles_that_set_the_same_count_once() -> None:
    tuned = DESCRIPTION["profiles"]["tuned"]  # type: ignore[index]
    others = {"tuned_latency": tuned, "tuned_throughput": {"summary": "t", "options": {"express": True}}}
    toy = Description.model_validate(DESCRIPTION | {"profiles": DESCRIPTION["profiles"] | others})  # type: ignore[operator]
    assert description.distinct_profiles(toy) == ("default", "tuned", "tuned_throughput")


@pytest.mark.parametrize(
    ("when", "needed"),
    [
        ([], True),
        ([When(option="mode", values=["client", "peer"])], True),
        ([When(option="mode", values=["client"])], False),
        ([When(option="mode", values=["peer"]), When(option="shared", values=[False])], False),
        ([When(option="count", values=[True])], False),
        ([When(option="unknown", values=["x"])], False),
    ],
)
def test_a_service_is_needed_where_every_condition_holds(when: list[When], *, needed: bool) -> None:
    resolved = {"mode": "peer", "shared": True, "count": 1}
    assert description.is_needed(ServiceNeed(service="router", per="network", when=when), resolved) is needed


def test_a_wheels_own_programs_come_before_a_checkouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "target/release", "toy")
    of_wheel = install(tmp_path / "native", "toy")
    monkeypatch.setattr(installation, "WHEEL_PROGRAMS", tmp_path / "native")
    assert executables.worker("toy") == of_wheel


def test_a_worker_that_can_not_be_loaded_gives_way_to_its_alternative(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    loadable, alternative = tmp_path / "a/middlemark-worker-toy", tmp_path / "a/alternatives/middlemark-worker-toy"
    shutil.copy("/bin/true", loadable)
    install(alternative.parent, "toy")
    assert executables.workers()["toy"] == loadable
    content = loadable.read_bytes()
    assert b"libc.so.6" in content
    loadable.write_bytes(content.replace(b"libc.so.6", b"libx.so.6"))
    assert executables.workers()["toy"] == alternative


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
