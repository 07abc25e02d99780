"""Base and head in one campaign: each block holds both, each with its own worker, and the pair is judged as such."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from middlemark.analysis.compare.pairing import pair_within_run
from middlemark.analysis.run import analyse
from middlemark.campaign.campaign import resume_run, run_new
from middlemark.campaign.order import Order, order_suite
from middlemark.cli.main import app
from middlemark.errors import EnvironmentNotReady, UsageError
from middlemark.plan import Side
from middlemark.results.run_folder import RunFolder
from middlemark.suite import LoadedSuite, parse_suite
from staged import install_fake_worker, suite_text

VERSION = '"version": "1"'
MODE = 'receive_mode="'
TWICE = suite_text().replace("trials: 1", "trials: 2")


def placed_against(text: str, *folders: Path) -> Order:
    loaded = LoadedSuite(file="staged.yaml", text=text, suite=parse_suite(text, file="staged.yaml"))
    return order_suite(loaded, [], None, folders)


def _rewrite(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A folder with a worker of another version, which says so when it runs."""
    folder = tmp_path / "base"
    install_fake_worker(folder)
    _rewrite(folder / "middlemark-worker-fake", MODE, MODE + "base ")
    _rewrite(folder / "middlemark-worker-fake.lib/fake_protocol.py", VERSION, '"version": "0.9"')
    return folder


def test_each_block_has_both_sides_each_with_its_own_worker_and_resume_keeps_them(tmp_path: Path, base: Path) -> None:
    run_new(tmp_path / "run", placed_against(TWICE, base))
    run = RunFolder(tmp_path / "run")
    manifest = run.read_manifest()
    assert sorted((t.block, t.experiment.side) for t in manifest.trials) == [
        (block, side) for block in (1, 2) for side in (Side.BASE, Side.HEAD)
    ]
    assert manifest.against == (str(base),)
    assert (manifest.base["fake"].library.version, manifest.middlewares["fake"].library.version) == ("0.9", "1")
    next(run.stored_trials()).record_path.unlink()
    resume_run(run.path, against=[base])
    records = [folder.read_record() for folder in run.stored_trials()]
    assert [record.outcome.kind for record in records] == ["valid"] * 4
    for record in records:
        of_base = {effective.receive_mode.startswith("base ") for effective in record.effective.values()}
        assert of_base == {record.trial.experiment.side is Side.BASE}

    pairs = pair_within_run(analyse(run).experiments, "side", "base").pairs
    assert [(pair.names, pair.paired) for pair in pairs] == [(("base", "head"), True)]
    gated = CliRunner().invoke(app, ["gate", str(run.path), "--fail-if", "first_message > +100000 %"])
    assert "0 of 1 condition failed, 0 passed, 1 undecided" in gated.output  # two blocks decide nothing
    compared = CliRunner().invoke(app, ["compare", str(run.path), "--json"])
    assert compared.exit_code == 0, compared.output


def test_a_base_without_a_worker_for_what_the_suite_names_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(EnvironmentNotReady, match="the base has no worker"):
        placed_against(TWICE, tmp_path / "empty")


def test_one_run_without_sides_is_no_comparison(tmp_path: Path) -> None:
    run_new(tmp_path / "run", placed_against(suite_text()))
    refused = CliRunner().invoke(app, ["gate", str(tmp_path / "run"), "--fail-if", "loss > +1 pp"])
    assert isinstance(refused.exception, UsageError)
