"""A file never imports unless the user allows the name: every door."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.definition.campaign_file import read_campaign
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.campaign.run.directory import RunDirectory
from schedlab.engine.simulation import simulate
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.imports import allow_imports, check_imports, load_named, named_classes
from schedlab.own_code import files_of
from schedlab.report.triples import plot_triples
from schedlab.schedule.explanation import explain
from schedlab.schedule.exports import read_schedule
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site import import_site
from schedlab.site.site import read as read_site
from schedlab.site.variants import read_variants
from schedlab.slurm.sprio import priorities
from schedlab.workload.workload import Workload

CLASS = """
open({witness!r}, "w").close()
class Last:
    def predict(self, job):
        return job.requested_time
    def learn(self, job, run_time):
        pass
"""

CAMPAIGN = """
name = "small"
schedulers = ["fcfs", {scheduler}]
[[workloads]]
generate = "lublin"
jobs = 20
processors = 16
"""


@pytest.fixture
def witness(tmp_path, monkeypatch):
    """A module `readme` in the current directory that leaves a file behind when it is imported."""
    path = tmp_path / "it-was-run"
    (tmp_path / "readme.py").write_text(CLASS.format(witness=str(path)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "readme", raising=False)
    yield path
    sys.modules.pop("readme", None)


def write(scheduler: str) -> Path:
    Path("small.toml").write_text(CAMPAIGN.format(scheduler=scheduler))
    return Path("small.toml")


@pytest.mark.parametrize(
    "scheduler",
    [
        '"easy@readme:Last"',
        '"saf+easy:fcfs @ readme : Last/doubling"',
        '{policy = "fcfs", runtimes = "readme:Last"}',
        '{policy = ["fcfs"], backfill = "easy", runtimes = ["requested", "readme:Last"]}',
    ],
)
def test_a_campaign_file_that_names_a_class_is_refused_before_it_is_imported(witness, scheduler):
    with pytest.raises(
        InputError, match=r'small\.toml names readme:Last, .* write with sl\.imports\.allow_imports\("readme:Last"\)'
    ):
        read_campaign(write(scheduler))
    assert not witness.exists()


def test_a_baseline_is_a_door_too(witness):
    with pytest.raises(InputError, match="names readme:Last"):
        read_campaign(write('"easy"]\nbaseline = "fcfs@readme:Last"\nx = ['))
    assert not witness.exists()


def test_an_allowed_class_is_not_taken_from_the_current_directory(witness):
    path = write('"easy@readme:Last"')
    with allow_imports("readme:Last"), pytest.raises(InputError, match=r"to take the one in the .* set PYTHONPATH=\."):
        read_campaign(path)
    assert not witness.exists()


def test_an_allowed_class_of_an_installed_module_is_imported(witness, tmp_path, monkeypatch):
    path = write('"easy@readme:Last"')
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    with allow_imports("readme:Last"):
        assert read_campaign(path).scheduler_texts() == ["fcfs", "fcfs+easy@readme:Last/incremental"]
    assert witness.exists()
    with allow_imports("readme:First"), pytest.raises(InputError, match="names readme:Last"):
        read_campaign(path)


def test_a_run_directory_from_elsewhere_imports_nothing(witness, tmp_path):
    text = "fcfs+easy@readme:Last"
    workloads = [{"generate": "lublin", "jobs": 20, "processors": 16}]
    made = Campaign.model_validate({"name": "small", "schedulers": [text], "workloads": workloads})  # typed by a user
    run_campaign(made, tmp_path / "runs" / "got", workers=1)
    del sys.modules["readme"]
    witness.unlink()
    run = RunDirectory.open(tmp_path / "runs" / "got")
    with pytest.raises(InputError, match=r"campaign\.json names readme:Last"):
        run.status()
    assert not witness.exists()
    again = run_campaign(made, tmp_path / "runs" / "got", workers=1)
    assert again.status().done == 1


WIDTH = {"requested_processors": [2, 2]}
SITE_CONF = "ClusterName=lab\nNodeName=n[1-2] CPUs=4\nPartitionName=batch Nodes=n[1-2] Default=YES\n"


def test_a_site_from_elsewhere_imports_nothing(witness, tmp_path):
    (tmp_path / "slurm.conf").write_text(SITE_CONF)
    manifest = import_site(tmp_path).save(tmp_path / "site") / "site.json"
    document = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(document | {"scheduler": "fcfs+easy@readme:Last"}))
    with pytest.raises(
        InputError, match=r'site\.json names readme:Last, .* write with sl\.imports\.allow_imports\("readme:Last"\)'
    ):
        read_site(tmp_path / "site")
    assert not witness.exists()


@pytest.mark.parametrize(
    "text", ['[[variant]]\nname = "a"\npolicy = "readme:Last"\n', '[over]\nPolicy = ["saf", "saf@readme:Last"]\n']
)
def test_a_file_of_variants_imports_nothing(witness, text):
    Path("variants.toml").write_text(text)
    with pytest.raises(InputError, match=r"variants\.toml names readme:Last"):
        read_variants("variants.toml")
    assert not witness.exists()


def test_a_schedule_from_elsewhere_imports_nothing(witness, tmp_path):
    jobs = Workload.from_columns({name: [2, 3] for name in ("submit_time", "run_time", "requested_time")} | WIDTH)
    schedule = replace(simulate(jobs, "fcfs", processors=2), scheduler="multifactor(age=1)+easy@readme:Last")
    schedule.save(tmp_path / "from.parquet")
    again = read_schedule(tmp_path / "from.parquet")
    explain(again, 2)
    with pytest.raises(InputError, match="names readme:Last"):
        priorities(again, 5)
    assert not witness.exists()


def test_a_saved_simulation_from_elsewhere_imports_nothing(witness, tmp_path):
    jobs = Workload.from_columns({name: [2, 3] for name in ("submit_time", "run_time", "requested_time")} | WIDTH)
    Simulation(jobs, "fcfs", processors=2).save(tmp_path / "from.sim")
    with zipfile.ZipFile(tmp_path / "from.sim") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"]) | {"scheduler": "easy@readme:Last"}
    with zipfile.ZipFile(tmp_path / "from.sim", "w") as archive:
        for name, content in (members | {"header.json": json.dumps(header).encode()}).items():
            archive.writestr(name, content)
    with pytest.raises(InputError, match=r"from\.sim names readme:Last"):
        Simulation.load(tmp_path / "from.sim")
    assert not witness.exists()


def test_a_table_of_results_from_elsewhere_imports_nothing(witness):
    rows = [(text, log, 1.0) for text in ("fcfs", "easy@readme:Last") for log in ("a", "b")]
    with pytest.raises(InputError, match="names readme:Last"):
        plot_triples(pd.DataFrame(rows, columns=["scheduler", "workload", "mean_wait"]), "a", "b", metric="mean_wait")
    assert not witness.exists()


def test_policies_models_and_agents_from_elsewhere_import_nothing(witness):
    policy = {"version": 1, "formula": "readme:Last", "coefficients": {}, "training": {}}
    Path("policy.json").write_text(json.dumps(policy))
    Path("agent.json").write_text(json.dumps({"kind": "schedlab agent", "version": 1, "base": "readme:Last"}))
    for text in ("@policy.json+easy", "@agent:agent.json"):
        with pytest.raises(InputError):
            Scheduler.parse(text)
    assert not witness.exists()


@pytest.mark.parametrize("place", ["front", "end", "joined", "environment"])
def test_the_option_may_stand_anywhere(witness, tmp_path, place):
    path = write('"easy@readme:Last"')
    words = ["campaign", "plan", str(path)]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{tmp_path}:{':'.join(sys.path)}"}
    refused = schedlab(words, environment)
    assert (refused.returncode, "add --allow-import readme:Last" in refused.stderr) == (1, True)
    allowed = {
        "front": ["--allow-import", "readme:Last", *words],
        "end": [*words, "--allow-import", "readme:Last"],
        "joined": [*words, "--allow-import=readme:Last"],
        "environment": words,
    }
    if place == "environment":
        environment["SCHEDLAB_ALLOW_IMPORT"] = "readme:Last"
    done = schedlab(allowed[place], environment)
    assert (done.returncode, done.stderr) == (0, "")


def schedlab(words: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "schedlab", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_orders_of_candidates_and_policy_files_are_not_classes():
    for text in ("fcfs+easy:saf@ave2", 'saf+easy:"p*q"', "fcfs+easy:@policy.json", "@mine.json+easy", "slurm(a=1:2)"):
        assert named_classes(text) == []
    assert named_classes('"p@a:B"') == ["a:B"], "in doubt, it is one"


def test_what_is_allowed_is_a_class():
    for name in ("os:", ":x", "../a:B", "a:B.c", "a:b c:"):
        with (
            pytest.raises(InputError, match="is not a class that can be imported; write MODULE:CLASS"),
            allow_imports(name),
        ):
            pass


def test_a_module_that_is_not_there_is_one_sentence():
    with (
        allow_imports("no_such_module:X"),
        pytest.raises(InputError, match="the module no_such_module cannot be imported"),
    ):
        check_imports(["easy@no_such_module:X"], "a.toml")


FAILING = {
    "import there_is_no_such_module": "ModuleNotFoundError: No module named 'there_is_no_such_module'",
    "from math import squareroot": "ImportError: cannot import name 'squareroot' from 'math'",
    "raise ValueError('not today')": "ValueError: not today",
}


@pytest.fixture
def failing(tmp_path, monkeypatch):
    """Give a function that writes the second line of a module beside another one that imports it."""

    def write(line: str) -> Path:
        (tmp_path / "outer_mod.py").write_text("import inner_mod\n")
        (tmp_path / "inner_mod.py").write_text(f"X = 1\n{line}\n")
        return tmp_path / "inner_mod.py"

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", ".")
    monkeypatch.syspath_prepend(tmp_path)
    yield write
    for name in ("outer_mod", "inner_mod"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(("line", "reason"), FAILING.items())
def test_a_module_that_is_found_but_fails_names_the_line_of_the_file_that_fails(failing, line, reason):
    file = failing(line)
    place = re.escape(f"in {file}, line 2 ({line}), {reason}")
    with allow_imports("outer_mod:X"), pytest.raises(InputError) as told:
        check_imports(["easy@outer_mod:X"], "a.toml")
    assert re.match(
        f"a\\.toml: the module outer_mod was found, but itself cannot be imported: {place}", str(told.value)
    )
    assert "PYTHONPATH" not in str(told.value)
    with pytest.raises(InputError, match=f"^predictor outer_mod:X: {place}"):
        load_named("outer_mod:X", "predictor")
    with pytest.raises(InputError, match=f"^outer_mod:X: {place}"):
        files_of("outer_mod:X")


def test_a_module_that_is_no_python_names_file_and_line(failing):
    file = failing("def (")
    with allow_imports("outer_mod:X"), pytest.raises(InputError, match=rf"in {file}, line 2, SyntaxError: invalid"):
        check_imports(["easy@outer_mod:X"], "a.toml")


def test_a_module_that_is_only_in_the_current_directory_is_not_found(tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("X = 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with (
        allow_imports("only_here"),
        pytest.raises(
            InputError, match=r"\(No module named 'only_here'\); to take the one in the .* set PYTHONPATH=\.$"
        ),
    ):
        check_imports(["easy@only_here:X"], "a.toml")
