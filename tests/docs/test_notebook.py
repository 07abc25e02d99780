"""The example notebook runs from its first cell to its last, and its charts have marks."""

import os

import nbformat
import pytest
from nbclient import NotebookClient

from pages import ROOT

NOTEBOOK = ROOT / "examples" / "explore.ipynb"


@pytest.mark.filterwarnings("ignore")  # what the kernel's client warns of is its own
def test_the_example_notebook_runs(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"), prepend=os.pathsep)
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path_factory.mktemp(name.lower())))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are for its reader to make"
    NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": NOTEBOOK.parent}}
    ).execute()
    shown = [out.data for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs if "data" in out]
    assert any("text/html" in data for data in shown)
    assert any("image/svg+xml" in data for data in shown)
