"""What the command line says of a fleet: of its certificates, and of how blocks come back."""

import re
from pathlib import Path

import dask.config
import pytest
from typer.testing import CliRunner

from middlemark.cli.main import app
from middlemark.cli.measure.fleet import security
from middlemark.errors import UsageError

TLS = "tls://192.0.2.1:8786"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    named = tmp_path / "ca.pem", tmp_path / "bed.pem", tmp_path / "bed.key"
    for file in named:
        file.touch()
    return named


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
        (["--through", "shared", "--fleet", "tcp://127.0.0.1:9"], "whole path"),
    ],
)
def test_blocks_come_back_only_through_what_every_test_bed_finds(words: list[str], reason: str) -> None:
    ended = CliRunner().invoke(app, ["run", "quick", *words])
    assert isinstance(ended.exception, UsageError)
    assert re.search(reason, str(ended.exception))
