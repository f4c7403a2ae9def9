"""Notebooks run from top to bottom in a kernel of their own, and show what they promise."""

from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import nbformat
import pytest
from nbclient import NotebookClient

from xpos_viz.export import bundle, reproduce
from xpos_viz.pictures import PICTURES
from xpos_viz.state import from_address
from xpos_viz.texts import texts

ROOT = Path(__file__).parents[2]
PLOTLY = "application/vnd.plotly.v1+json"


@pytest.fixture
def results(tmp_path, monkeypatch):
    """What each cell of a notebook gives, by media type; its kernel works in a folder."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))

    def executed(path, folder):
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        NotebookClient(notebook, timeout=120, resources={"metadata": {"path": folder}}).execute()
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert [len(cell.outputs) for cell in cells] == [1] * len(cells)
        return [cell.outputs[0].data for cell in cells]

    return executed


def test_the_example_runs(results, tmp_path):
    result, maps, values, curves, table, same = results(ROOT / "assets" / "example.ipynb", tmp_path)
    assert "<td>pronoun</td>" in result["text/html"]
    assert len(maps[PLOTLY]["data"]) == 3
    assert values["text/plain"].startswith("tensor([32.0000, 16.6083,  5.8173]")
    names = [trace.get("name", "") for trace in curves[PLOTLY]["data"]]
    assert all(any(word in name for name in names) for word in ("RoPE", "XPos", "RetNet"))
    assert "retnet" in table["text/html"]
    assert same["text/plain"] == "True"
    assert reproduce((tmp_path / "decay.pdf").read_bytes()).recipe.paper.size == "column"


def test_the_example_holds_no_results():
    notebook = nbformat.read(ROOT / "assets" / "example.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [(cell.execution_count, cell.outputs) for cell in cells] == [(None, [])] * 6


def test_the_notebook_of_a_bundle_rebuilds_it(results, tmp_path):
    state, _ = from_address({"curves": "xpos,alibi", "distance": "64"})
    with ZipFile(BytesIO(bundle("decay", state, "en"))) as archive:
        archive.extractall(tmp_path)
    same, *drawn = results(tmp_path / "rebuild.ipynb", tmp_path)
    assert same["text/plain"] == "True"
    pictures = PICTURES["decay"](state, texts("en"))
    for picture, figure, table in zip(pictures, drawn[::2], drawn[1::2], strict=True):
        assert len(figure[PLOTLY]["data"]) > 0
        rows = picture.table()
        assert all(f"<th>{name}</th>" in table["text/html"] for name in rows.columns)
        assert table["text/plain"].endswith(f"[{len(rows)} rows x {len(rows.columns)} columns]")
