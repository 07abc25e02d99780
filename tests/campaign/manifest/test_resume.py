"""A run is gone on with only as its suite plans it, with the workers found or named now, on what it was begun on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from middlemark.analysis.dataframes import load
from middlemark.campaign.campaign import resume_run, run_new
from middlemark.campaign.manifest import new_manifest, resumed
from middlemark.campaign.order import order_suite
from middlemark.errors import StoreError, UsageError
from middlemark.plan import WarningKind
from middlemark.results.run_folder import RunFolder
from middlemark.suite import LoadedSuite, load_suite, parse_suite
from staged import install_fake_worker, placed, suite_text

THREE = suite_text().replace("trials: 1", "trials: 3")


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """Planned, and cut off before its first trial."""
    folder = RunFolder(tmp_path / "run")
    folder.write_manifest(new_manifest(placed(THREE)))
    return folder


def edit(run: RunFolder, change: Callable[[Any], object]) -> None:
    manifest = json.loads(run.manifest_path.read_text())
    change(manifest)
    run.manifest_path.write_text(json.dumps(manifest))


def test_what_was_planned_is_planned_again(run: RunFolder) -> None:
    found = resumed(run, [], across=False)
    assert found.manifest == run.read_manifest()
    assert found.differences == ()


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m["trials"].pop(1),
        lambda m: m["trials"].reverse(),
        lambda m: m["trials"][0].update(seed=7),
        lambda m: m["trials"][2].update(block=1_000_000),
        lambda m: m["trials"][0]["experiment"].update(options={"fault": "refuses"}),
        lambda m: m["trials"][0]["experiment"]["hosts"][0].update(kind="ssh", ssh="elsewhere", address="10.0.0.1"),
        lambda m: m["trials"][1]["experiment"]["streams"][0].update(size_bytes=10**12),
        lambda m: m.update(seed=m["seed"] + 1),
        lambda m: m.update(suite_text=THREE.replace("size: 100 B", "size: 200 B")),
        lambda m: m.update(suite_text="suite: other"),
        lambda m: m.update(suite_text=": no YAML ["),
    ],
)
def test_another_plan_than_the_suites_is_refused(run: RunFolder, change: Callable[[Any], object]) -> None:
    edit(run, change)
    with pytest.raises(StoreError, match=r"manifest\.json") as caught:
        resume_run(run.path)
    assert not list(run.path.glob("trials/*")), caught.value


@pytest.mark.parametrize("name", ["../../precious", "{tmp_path}/precious", "..", "1-fake\n", "x"])
def test_a_trial_that_names_another_folder_empties_none(run: RunFolder, tmp_path: Path, name: str) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("mine")
    edit(run, lambda m: m["trials"][0].update(id=name.format(tmp_path=tmp_path)))
    with pytest.raises(StoreError, match=r"trials\.0\.id"):
        resume_run(run.path)
    assert (tmp_path / "precious" / "file").read_text() == "mine"


def test_further_blocks_are_of_experiments_that_the_suite_has(run: RunFolder) -> None:
    """As `--trials`, `stop` and searches add them."""
    for text in (
        suite_text().replace("trials: 1", "trials: 5"),
        suite_text(more="stop: {relative_width: 1 %, max_trials: 9}"),
        suite_text().replace(
            "{workload: imu, rate: 200 Hz, size: 100 B}", "{workload: x, pattern: capacity, size: 64 B}"
        ),
    ):
        run.write_manifest(new_manifest(placed(text)))
        resumed(run, [], across=False)


def test_another_build_kernel_or_machine_is_named_and_refused(run: RunFolder, tmp_path: Path) -> None:
    edit(run, lambda m: m["machine"].update(kernel="5.0-other", machine_id="0" * 16))
    edit(run, lambda m: m.update(middlemark_version="0.0.1"))
    edit(run, lambda m: m["middlewares"]["fake"]["library"].update(version="0.1"))
    with (tmp_path / "workers/middlemark-worker-fake").open("a") as worker:
        worker.write("\n# built again\n")
    with pytest.raises(StoreError, match="--across") as caught:
        resume_run(run.path)
    for name in (
        "middlemark: 0.0.1",
        "kernel: 5.0-other",
        "machine: 0000",
        "library of fake",
        "worker of fake (SHA-256)",
    ):
        assert name in str(caught.value)


def test_what_was_not_recorded_then_is_no_reason_to_go_on_silently(run: RunFolder) -> None:
    edit(run, lambda m: (m["machine"].pop("machine_id"), m["middlewares"]["fake"].pop("sha256")))
    with pytest.raises(StoreError, match="machine: not recorded"):
        resumed(run, [], across=False)
    assert len(resumed(run, [], across=True).differences) == 2


def test_with_across_each_later_trial_says_what_differs_and_a_report_warns(tmp_path: Path) -> None:
    path = tmp_path / "run"
    run_new(path, placed(suite_text().replace("trials: 1", "trials: 2")))
    first, second = RunFolder(path).stored_trials()
    second.record_path.unlink()
    with (tmp_path / "workers/middlemark-worker-fake").open("a") as worker:
        worker.write("\n# built again\n")
    resume_run(path, across=True)
    assert first.read_record().across == ()
    (difference,) = second.read_record().across
    assert difference.startswith("worker of fake (SHA-256): ")
    (row,) = load(path).warnings.filter(kind=WarningKind.ACROSS.value).to_dicts()
    assert row["n_trials"] == 1
    assert difference in row["text"]


def test_the_workers_of_a_base_are_those_that_the_user_names_again(tmp_path: Path) -> None:
    install_fake_worker(tmp_path / "base")
    loaded = LoadedSuite(file="staged.yaml", text=THREE, suite=parse_suite(THREE, file="staged.yaml"))
    run = RunFolder(tmp_path / "run")
    run.write_manifest(new_manifest(order_suite(loaded, [], None, [tmp_path / "base"])))
    with pytest.raises(UsageError, match="name their folders again") as caught:
        resume_run(run.path)
    assert f"--against {tmp_path / 'base'}" in (caught.value.remedy or "")
    found = resumed(run, [tmp_path / "base"], across=False)
    assert found.base["fake"].path == tmp_path / "base/middlemark-worker-fake"
    edit(run, lambda m: m.update(against=["/somewhere/else"]))
    assert resumed(run, [tmp_path / "base"], across=False).base == found.base


def test_a_run_without_a_base_takes_none(run: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no base"):
        resumed(run, [tmp_path], across=False)


def test_the_files_that_a_suite_names_are_kept_with_the_run(tmp_path: Path) -> None:
    (tmp_path / "walk.csv").write_text("at_ms,loss_percent\n0,0\n100,5\n")
    text = suite_text("{topology: D1-1, link: {trace: walk.csv}}")
    (tmp_path / "mine.yaml").write_text(text)
    run = RunFolder(tmp_path / "run")
    run.write_manifest(new_manifest(order_suite(load_suite(str(tmp_path / "mine.yaml")), [], None)))
    (tmp_path / "walk.csv").unlink()
    resumed(run, [], across=False)
    edit(run, lambda m: m.update(suite_files={"walk.csv": "at_ms,loss_percent\n0,0\n100,6\n"}))
    with pytest.raises(StoreError, match="not those that its suite plans"):
        resumed(run, [], across=False)
    edit(run, lambda m: m.update(suite_files={}))
    with pytest.raises(StoreError, match="was not kept with the run"):
        resumed(run, [], across=False)
