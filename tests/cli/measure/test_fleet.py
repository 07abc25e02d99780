"""What the command line says of a fleet: of its certificates, and of how blocks come back."""

import re
from pathlib import Path

import dask.config
import pytest
from typer.testing import CliRunner

from middlemark.campaign.fleet import testbed
from middlemark.cli.main import app
from middlemark.cli.measure.fleet import security
from middlemark.errors import EnvironmentNotReady, UsageError
from middlemark.testbed import capabilities
from middlemark.testbed.machine import readiness
from middlemark.testbed.machine.readiness import Fact

NOBODY = "tcp://127.0.0.1:9"
TLS = "tls://192.0.2.1:8786"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    named = tmp_path / "ca.pem", tmp_path / "bed.pem", tmp_path / "bed.key"
    for file in named:
        file.touch()
    return named


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> list[Fact]:
    """What `doctor` would find of this machine."""
    facts: list[Fact] = []
    monkeypatch.setattr(readiness, "facts", lambda: facts)
    monkeypatch.setattr(capabilities, "facts", list)
    return facts


def test_what_doctor_finds_not_ready_is_said_before_a_machine_joins(
    machine: list[Fact], monkeypatch: pytest.MonkeyPatch
) -> None:
    joined: list[str] = []
    monkeypatch.setattr(testbed, "join", lambda address, *_: joined.append(address))
    machine += [Fact("governor", "powersave", False, "cpupower frequency-set"), Fact("turbo", "off", True)]
    ended = CliRunner().invoke(app, ["testbed", "join", NOBODY])
    assert ended.stderr.splitlines()[0] == "not ready: governor powersave: cpupower frequency-set"
    assert "turbo" not in ended.stderr
    assert (ended.exit_code, joined) == (0, [NOBODY])


def test_a_machine_whose_clock_is_too_coarse_does_not_join(machine: list[Fact]) -> None:
    machine += [Fact("clock_resolution_ns", 4_000_000, False, "boot with another clock source")]
    ended = CliRunner().invoke(app, ["testbed", "join", NOBODY])
    assert isinstance(ended.exception, EnvironmentNotReady)
    assert "moves in steps of 4000000 ns" in ended.exception.text
    assert ended.exception.remedy == "boot with another clock source"


@pytest.mark.usefixtures("machine")
def test_a_machine_without_any_worker_does_not_join(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testbed, "available_workers", lambda: ({}, {}))
    ended = CliRunner().invoke(app, ["testbed", "join", NOBODY])
    assert isinstance(ended.exception, EnvironmentNotReady)
    assert "no worker was found" in ended.exception.text


def test_without_certificates_connections_are_plain() -> None:
    assert security("tcp://192.0.2.1:8786", None, None, None) is None


def test_each_role_gets_this_machine_s_certificate_and_must_encrypt(files: tuple[Path, Path, Path]) -> None:
    secured = security(TLS, *files)
    assert secured is not None
    authority, certificate, key = map(str, files)
    assert secured.require_encryption
    for role in ("client", "worker"):
        named = [getattr(secured, name) for name in ("tls_ca_file", f"tls_{role}_cert", f"tls_{role}_key")]
        assert named == [authority, certificate, key]


@pytest.mark.parametrize(("missing", "option"), [(0, "--tls-ca-file"), (1, "--tls-cert"), (2, "--tls-key")])
def test_the_option_that_is_missing_is_named(files: tuple[Path, Path, Path], missing: int, option: str) -> None:
    options = [None if number == missing else file for number, file in enumerate(files)]
    with pytest.raises(UsageError, match=f"{option} is missing"):
        security(TLS, *options)


def test_a_certificate_that_is_no_file_is_named_with_its_option(files: tuple[Path, Path, Path]) -> None:
    files[1].unlink()
    with pytest.raises(UsageError, match=r"--tls-cert: there is no file .*bed\.pem"):
        security(TLS, *files)


def test_an_address_of_tls_without_certificates_is_refused() -> None:
    with pytest.raises(UsageError, match="no certificates are named"):
        security(TLS, None, None, None)


def test_certificates_of_dask_s_own_configuration_are_left_to_it() -> None:
    with dask.config.set({"distributed.comm.tls.ca-file": "ca.pem"}):
        assert security(TLS, None, None, None) is None


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--through", "/shared"], "none is named"),
        (["--through", "shared", "--fleet", NOBODY], "whole path"),
    ],
)
def test_blocks_come_back_only_through_what_every_test_bed_finds(words: list[str], reason: str) -> None:
    ended = CliRunner().invoke(app, ["run", "quick", *words])
    assert isinstance(ended.exception, UsageError)
    assert re.search(reason, str(ended.exception))
