"""The notebooks of the gallery run from begin to end, and show something."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

GALLERY = Path(__file__).resolve().parents[1] / "docs" / "gallery"
NOTEBOOKS = sorted(GALLERY.glob("*.ipynb"))


def shown_by(source: str, names: dict[str, Any]) -> Any:
    """Run a cell, and return what it would show: the value of its last line, if that is an expression."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None  # type: ignore[attr-defined]
    exec(compile(tree, "cell", "exec"), names)
    return None if last is None else eval(compile(last, "cell", "eval"), names)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    document = json.loads(notebook.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    try:
        values = [shown_by("".join(cell["source"]), names) for cell in cells]
        assert len([value for value in values if value is not None and repr(value)]) + len(capsys.readouterr().out) > 1
    finally:
        plt.close("all")


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_one_that_jupyter_opens_without_old_outputs(notebook: Path) -> None:
    document = json.loads(notebook.read_text(encoding="utf-8"))
    assert (document["nbformat"], document["metadata"]["kernelspec"]["name"]) == (4, "python3")
    assert len({cell["id"] for cell in document["cells"]}) == len(document["cells"])
    assert all(cell["outputs"] == [] for cell in document["cells"] if cell["cell_type"] == "code")


def test_the_page_of_the_gallery_lists_all_notebooks() -> None:
    page = (GALLERY / "index.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) >= 3
    assert all(f"`{notebook.name}`" in page for notebook in NOTEBOOKS)
