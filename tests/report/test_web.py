"""The built script: made of the sources that stand beside it, and free to be passed on."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

import schedlab.report
from schedlab.report.page import built
from schedlab.schedule.summary import durations

WEB = Path(schedlab.report.__file__).parent / "web"


def test_what_is_built_is_built_from_these_sources() -> None:
    digest = hashlib.sha256()
    names = ["build.mjs", "package-lock.json", *sorted(f"src/{file.name}" for file in (WEB / "src").iterdir())]
    for name in names:
        digest.update(f"{name}\n".encode())
        digest.update((WEB / name).read_bytes())
    assert digest.hexdigest() == built("sources.sha256"), "run: npm ci && npm run build, in src/schedlab/report/web"


def test_building_again_gives_the_same_files(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None or not (WEB / "node_modules" / "esbuild").is_dir():
        pytest.skip("no Node, or no npm ci in src/schedlab/report/web")
    shutil.copytree(WEB, tmp_path / "web", symlinks=True)
    subprocess.run([node, "build.mjs"], cwd=tmp_path / "web", check=True)
    for file in sorted((WEB / "built").iterdir()):
        assert (tmp_path / "web" / "built" / file.name).read_bytes() == file.read_bytes(), file.name


@pytest.mark.parametrize("name", ["report.js", "report.css", "widget.js"])
def test_the_licence_of_uplot_goes_with_it(name: str) -> None:
    text = built(name)
    assert "Copyright (c) 2022 Leon Sorokin" in text
    assert "The above copyright notice and this permission notice shall be included" in text


@pytest.mark.parametrize("name", ["report.js", "report.css"])
def test_nothing_in_it_ends_its_element_or_asks_for_anything_outside(name: str) -> None:
    text = built(name)
    for forbidden in ("</script", "</style", "<!--", "@import", "fetch(", "XMLHttpRequest", "eval(", "new Function"):
        assert forbidden not in text


def test_the_durations_of_a_column_are_told_in_script_as_in_python() -> None:
    """One unit for all, as `durations` of Python gives them."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed")
    columns = [
        [7_200, 90_000, 600_000],
        [5_400, 0, 9_000, 10],
        [],
        [864_000, 900_000, 60],
        [340, 7_200, 90_000],
        [30, 50],
    ]
    asked = f"m => console.log(JSON.stringify({json.dumps(columns)}.map((one) => m.durations(one))))"
    script = f"import({json.dumps((WEB / 'src' / 'format.js').as_uri())}).then({asked})"
    told = subprocess.run(
        [node, "--input-type=module", "-e", script], check=True, capture_output=True, text=True
    ).stdout
    assert json.loads(told) == [durations(one) for one in columns]
