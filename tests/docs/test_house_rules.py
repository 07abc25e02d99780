"""What CONTRIBUTING.md says of the source holds: small folders, short modules, imports in one direction, paths that exist."""

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from pages import ROOT

SOURCE = ROOT / "src" / "middlemark"
MOST_ENTRIES, MOST_LINES = 12, 300
GENERATED = {SOURCE / "worker" / "contract.py"}
FOLDERS = sorted({path.parent for path in SOURCE.rglob("*.py")})


def entries(folder: Path) -> list[str]:
    """Its modules and the folders that have modules, without its `__init__.py`."""
    return sorted(
        path.name
        for path in folder.iterdir()
        if (path.suffix == ".py" and path.name != "__init__.py") or next(path.glob("**/*.py"), None)
    )


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_folder_has_at_most_a_dozen_entries(folder: Path) -> None:
    found = entries(folder)
    assert len(found) <= MOST_ENTRIES, (
        f"{folder.relative_to(ROOT)} has {len(found)} entries, at most {MOST_ENTRIES} are allowed: "
        "put the modules of one subject into a folder of their own, or join two that are one concept"
    )


def test_a_module_has_at_most_300_lines() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCE.rglob("*.py")}
    long = {str(path.relative_to(ROOT)): n for path, n in lines.items() if n > MOST_LINES and path not in GENERATED}
    assert long == {}, f"more than {MOST_LINES} lines: move one of its concepts to the module that it belongs to"


def test_no_modules_import_each_other_in_a_cycle() -> None:
    graph = grimp.build_graph("middlemark", exclude_type_checking_imports=True, cache_dir=None)
    # The package itself gives notebooks its names when they are asked for, and everybody its version.
    graph.remove_module("middlemark")
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    cycle = ""
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        cycle = " → ".join(reversed(error.args[1]))
    assert cycle == "", "move what both modules need into the lower one, or into a third below both"


def test_each_path_that_contributing_names_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+/[\w./-]+)`", text))
    assert "analysis/stats" in named
    assert [each for each in sorted(named) if not (ROOT / each).exists() and not (SOURCE / each).exists()] == []


def test_contributing_says_what_each_folder_holds() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    folders = [str(folder.relative_to(SOURCE)) for folder in FOLDERS if folder != SOURCE]
    assert [folder for folder in folders if f"`{folder}`" not in text] == []
