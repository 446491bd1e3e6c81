"""A campaign in one file: whole, unharmed, and run again with the same results."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.results.archive import archive, rerun, unpacked
from schedlab.campaign.results.difference import difference
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.errors import InputError
from schedlab.imports import allow_imports
from schedlab.model.lublin_feitelson import lublin
from schedlab.workload.swf import write_swf

CODE = """
import packaging.version
from own_archived.helper import WEIGHT

def narrow(q):
    return WEIGHT * q
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Give a campaign over two logs that imports a package beside it; the logs lie elsewhere."""
    package = tmp_path / "home" / "own_archived"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "mine.py").write_text(CODE)
    (package / "helper.py").write_text("WEIGHT = 2\n")
    (tmp_path / "logs").mkdir()
    for number in (1, 2):
        write_swf(lublin(20, 16, rng=number, load=0.9), tmp_path / "logs" / f"log{number}.swf")
    monkeypatch.syspath_prepend(tmp_path / "home")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "home"))
    schedulers = ["fcfs", "own_archived.mine:narrow+easy"]
    definition = Campaign(name="two-logs", workloads=[{"trace": "../logs/*.swf"}], schedulers=schedulers)
    yield run_campaign(definition, tmp_path / "home" / "run", base=tmp_path / "home", workers=1)
    for name in [name for name in sys.modules if name.startswith("own_archived")]:
        del sys.modules[name]


def test_an_archive_is_whole_and_is_run_again_elsewhere_with_the_same_results(run, tmp_path, monkeypatch):
    file = archive(run, tmp_path / "x.zip")
    with zipfile.ZipFile(file) as opened:
        names = set(opened.namelist())
        told = opened.read("README.md").decode()
        manifest = json.loads(opened.read("manifest.json"))
    code = {"code/own_archived/__init__.py", "code/own_archived/mine.py", "code/own_archived/helper.py"}
    assert {"README.md", "manifest.json", "run/campaign.json", "inputs/1/log1.swf", "inputs/2/log2.swf"} | code <= names
    assert "schedlab campaign rerun x.zip --allow-import own_archived.mine:narrow" in told
    library = importlib.metadata.version("packaging")  # which the user's own code imports, and schedlab does not tell
    assert f", packaging {library}." in told or f", packaging {library}, " in told
    assert manifest["versions"]["packaging"] == run.facts["provenance"]["packaging"] == library
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.move(tmp_path / "home", tmp_path / "gone")
    shutil.move(tmp_path / "logs", tmp_path / "gone" / "logs")
    for name in [name for name in sys.modules if name.startswith("own_archived")]:
        del sys.modules[name]
    monkeypatch.chdir(elsewhere)
    with pytest.raises(InputError, match=r'write with sl\.imports\.allow_imports\("own_archived\.mine:narrow"\)'):
        rerun(file, elsewhere / "refused", workers=1)
    with allow_imports("own_archived.mine"):
        found = difference(*rerun(file, elsewhere / "again", workers=1))
    assert (found.common, found.identical, found.changed, len(found.unmatched)) == (4, 4, 0, 0)
    assert found.same_specification == 4


def test_what_has_changed_since_the_campaign_was_run_is_not_archived(run, tmp_path):
    log = tmp_path / "logs" / "log1.swf"
    text = log.read_text()
    log.write_text(text + "; a note\n")
    with pytest.raises(InputError, match=r"log1\.swf has changed since the campaign was run"):
        archive(run, tmp_path / "x.zip")
    log.write_text(text)
    (tmp_path / "home" / "own_archived" / "helper.py").write_text("WEIGHT = 3\n")
    with pytest.raises(InputError, match=r"the code of own_archived\.mine:narrow has changed"):
        archive(run, tmp_path / "x.zip")


def rewritten(file: Path, changes: dict[str, bytes]) -> Path:
    """Return a copy of an archive in which some files hold something else."""
    target = file.with_name("other.zip")
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(target, "w") as new:
        for name in {*old.namelist(), *changes}:
            new.writestr(name, changes.get(name) if name in changes else old.read(name))
    return target


def test_an_archive_that_was_changed_is_refused(tmp_path):
    definition = Campaign(
        name="small", workloads=[{"generate": "lublin", "jobs": 20, "processors": 16}], schedulers=["fcfs"]
    )
    file = archive(run_campaign(definition, tmp_path / "run", workers=1), tmp_path / "x.zip")
    with pytest.raises(InputError, match=r"'run/campaign\.json' is not what it was when the archive was written"):
        unpacked(rewritten(file, {"run/campaign.json": b"{}"}), tmp_path / "a")
    with zipfile.ZipFile(file) as opened:
        manifest = json.loads(opened.read("manifest.json"))
    manifest["files"]["../evil.py"] = "00"
    with pytest.raises(InputError, match=r"'\.\./evil\.py' is no file of an archive"):
        unpacked(rewritten(file, {"manifest.json": json.dumps(manifest).encode(), "../evil.py": b""}), tmp_path / "b")
    assert not (tmp_path / "evil.py").exists()
    with pytest.raises(InputError, match=r"other\.zip is not an archive of a campaign"):
        unpacked(rewritten(file, {"manifest.json": b"[]"}), tmp_path / "c")
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "mine").write_text("")
    with pytest.raises(InputError, match="is not empty"):
        unpacked(file, tmp_path / "d")
    (tmp_path / "no.zip").write_text("none")
    with pytest.raises(InputError, match="is not an archive of a campaign"):
        unpacked(tmp_path / "no.zip", tmp_path / "e")
