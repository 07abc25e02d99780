"""A fleet whose connections use TLS measures, and nobody without a certificate of its authority connects."""

import subprocess
from pathlib import Path

import pytest

import prepared
from fleets import PATIENCE_S, PATIENT, fleet
from middlemark.campaign.campaign import run_new
from middlemark.campaign.fleet import roster
from middlemark.campaign.fleet.front import connected
from middlemark.cli.measure.fleet import security
from middlemark.errors import EnvironmentNotReady
from middlemark.results.run_folder import RunFolder
from staged import placed, suite_text

pytestmark = PATIENT
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")


def authority(folder: Path) -> Path:
    folder.mkdir()
    made = ("openssl", "req", "-x509", *_KEY, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=fleet")
    subprocess.run(made, cwd=folder, check=True, capture_output=True)
    return folder


def certified(authority: Path, name: str) -> tuple[str, ...]:
    """The options that name the files of a machine."""
    request = ("openssl", "req", *_KEY[:-2], "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
    subprocess.run(request, cwd=authority, check=True, capture_output=True)
    signed = ("openssl", "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial")
    subprocess.run((*signed, "-days", "2", "-out", f"{name}.pem"), cwd=authority, check=True, capture_output=True)
    files = {"--tls-ca-file": "ca.pem", "--tls-cert": f"{name}.pem", "--tls-key": f"{name}.key"}
    return tuple(word for option, file in files.items() for word in (option, str(authority / file)))


def test_a_fleet_measures_over_tls_and_refuses_strangers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, foreign = (
        certified(authority(tmp_path / "own"), "machine"),
        certified(authority(tmp_path / "foreign"), "thief"),
    )
    with fleet(tmp_path, "one", tls=own) as beds:
        assert beds.address.startswith("tls://")
        secured = security(beds.address, *(Path(own[at]) for at in (1, 3, 5)))
        run_new(tmp_path / "run", placed(suite_text()), None, lambda run: connected(beds.address, run, secured))
        words = ("testbed", "join", beds.address, "--death-timeout", 5, *foreign)
        stranger = prepared.start(prepared.FRONT, words, tmp_path / "stranger.log")
        stranger.join(PATIENCE_S)
        monkeypatch.setattr(roster, "ANSWERED_WITHIN_S", 2.0)
        in_clear = beds.address.replace("tls://", "tcp://")
        with pytest.raises(EnvironmentNotReady, match="no scheduler answers"):
            run_new(tmp_path / "clear", placed(suite_text()), None, lambda run: connected(in_clear, run, None))
    (record,) = [folder.read_record() for folder in RunFolder(tmp_path / "run").stored_trials()]
    assert (record.testbed, record.outcome.kind) == ("one", "valid")
    assert stranger.exitcode == 3
    assert "Traceback" not in (tmp_path / "stranger.log").read_text()
