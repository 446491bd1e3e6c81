"""Campaigns know the code of what is the user's own: a change makes other tasks, and objects become texts."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from campaign_samples import campaign, finished_run

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.definition.inputs import find_inputs
from schedlab.campaign.definition.plan import Plan
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.campaign.run.directory import RunDirectory
from schedlab.cli.campaigns import _ranking
from schedlab.errors import InputError
from schedlab.imports import allow_imports, check_imports
from schedlab.own_code import OwnCode, digest_of_code, files_of
from schedlab.scheduler import Easy, FunctionPolicy, Scheduler

MINE = """
import numpy as np
from {helper} import WEIGHT

class Ages:
    def __init__(self, days, name="plain"):
        self.days, self.name, self._told = days, name, 0

    def score(self, r, now):
        return WEIGHT * r / self.days

    def on_end(self, job, now, run_time):
        self._told += 1

class Greedy:
    def __init__(self, k=1):
        self.k = k

    def decide(self, view):
        for job in view.waiting:
            if view.fits(job):
                view.start(job)

class Guess:
    def predict(self, job):
        return job.requested_time / 2

    def learn(self, job, run_time):
        pass

class Hidden:
    def __init__(self, k):
        self.table = [k]

    def decide(self, view):
        pass

def narrow(q):
    return q
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Give a module, in a directory of its own, that uses another one beside it."""
    name = f"own_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{name}_helper.py").write_text("WEIGHT = 2\n")
    (tmp_path / f"{name}.py").write_text(MINE.format(helper=f"{name}_helper"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    yield importlib.import_module(name)
    sys.modules.pop(name, None)


def change(module, old, new):
    file = Path(module.__file__)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_the_code_of_a_class_is_its_module_and_those_beside_it_that_it_uses(mine):
    name = mine.__name__
    assert [file.name for file in files_of(f"{name}:Ages")] == [f"{name}.py", f"{name}_helper.py"]
    before = digest_of_code(f"{name}:Ages")
    assert digest_of_code(f"{name}:Guess") == before
    helper = sys.modules[f"{name}_helper"]
    change(helper, "2", "3")
    assert digest_of_code(f"{name}:Ages") != before
    change(helper, "3", "2")
    assert digest_of_code(f"{name}:Ages") == before


def test_what_is_installed_is_one_file():
    assert [file.name for file in files_of("fractions:Fraction")] == ["fractions.py"]
    assert files_of("math:pi") == []


def test_a_change_of_the_code_makes_other_tasks_of_the_schedulers_that_name_it(mine, tmp_path):
    definition = campaign(schedulers=["fcfs", f"{mine.__name__}:narrow+easy"])
    inputs = find_inputs(definition, tmp_path)
    before = Plan(definition, inputs)
    change(mine, "return q", "return -q")
    after = Plan(definition, inputs)
    same = before.names == after.names
    assert same.tolist() == [True, False] * 4
    assert Plan(definition, inputs, before.code).names.tolist() == before.names.tolist()
    (told,) = after.task(1)[1].specification()["code"].items()
    assert told == (f"{mine.__name__}:narrow", digest_of_code(f"{mine.__name__}:narrow"))
    assert "code" not in after.task(0)[1].specification()


def test_a_metric_of_changed_code_makes_other_tasks_of_all_schedulers(mine, tmp_path):
    definition = campaign(metrics={"own": [f"{mine.__name__}:narrow"]})
    inputs = find_inputs(definition, tmp_path)
    before = Plan(definition, inputs).names
    change(mine, "return q", "return -q")
    assert not (Plan(definition, inputs).names == before).any()


def test_a_run_notices_and_keeps_what_has_not_changed(mine, tmp_path):
    definition = campaign(
        schedulers=["fcfs", f"{mine.__name__}:narrow+easy"],
        workloads=[{"generate": "lublin", "jobs": 20, "processors": 16}],
    )
    first = run_campaign(definition, tmp_path / "run", workers=1)
    assert first.changed_code == []
    fcfs, ours = first.results().task
    change(mine, "return q", "return -q")
    with allow_imports(mine.__name__):
        assert RunDirectory.open(tmp_path / "run").status().done == 2  # what was run, is still what is shown
    second = run_campaign(definition, tmp_path / "run", workers=1)
    assert second.changed_code == [f"{mine.__name__}:narrow"]
    again = second.results().task
    assert again[0] == fcfs
    assert again[1] != ours


def test_the_plan_that_imports_nothing_has_the_same_tasks(mine, tmp_path):
    name = mine.__name__
    metrics = {"own": [f"{name}:narrow"], "main": f"{name}:narrow"}
    schedulers = ["fcfs", {"policy": [f"{name}:narrow", "saf"], "backfill": "easy", "runtimes": f"{name}:Guess"}]
    run = finished_run(tmp_path, campaign(schedulers=schedulers, metrics=metrics), failed=[1])
    sys.modules.pop(name)
    told = RunDirectory.open(run.path).without_code()
    assert told.plan.names.tolist() == run.plan.names.tolist()
    assert (told.status().done, told.status().failed) == (11, 1)
    assert name not in sys.modules
    with pytest.raises(InputError, match=f"names .*{name}:narrow"):
        RunDirectory.open(run.path).status()


def test_workers_run_the_code_that_was_checked_whatever_the_current_directory_has(mine, tmp_path, monkeypatch):
    other = tmp_path / "elsewhere"
    other.mkdir()
    change(mine, "return q", "return q\n\ndef one(schedule, rows):\n    return 1.0")
    (other / f"{mine.__name__}.py").write_text("def one(schedule, rows):\n    return 2.0\n")
    importlib.reload(mine)
    monkeypatch.chdir(other)
    monkeypatch.setenv("PYTHONPATH", "")
    metric = f"{mine.__name__}:one"
    definition = campaign(schedulers=[f"{mine.__name__}:narrow+easy"], metrics={"own": [metric]})
    run = run_campaign(definition, tmp_path / "run", workers=2)
    assert run.status().failed == 0
    assert run.results()[metric].tolist() == [1.0] * 4


def test_a_worker_that_finds_other_code_does_not_run_it(mine):
    name = f"{mine.__name__}:narrow"
    code = OwnCode.of({name: digest_of_code(name)})
    code.check()
    assert code.places == {mine.__name__: str(Path(mine.__file__).parent)}
    change(mine, "return q", "return -q")
    with pytest.raises(InputError, match=rf"{name}: a worker has other code than the campaign was begun with: .*\.py"):
        code.check()


def test_objects_in_a_campaign_become_texts_that_make_them_again(mine):
    name = mine.__name__
    made = Campaign(
        name="objects",
        workloads=[{"generate": "lublin", "jobs": 20, "processors": 16}],
        schedulers=[
            Scheduler(mine.Ages(3), mine.Greedy(k=2)),
            Scheduler("saf", Easy(FunctionPolicy(mine.narrow)), runtimes=mine.Guess()),
            Scheduler("fcfs", mine.Greedy()),
        ],
    )
    assert made.scheduler_texts() == [
        f"{name}:Ages(days=3)+{name}:Greedy(k=2)",
        f"saf+easy:{name}:narrow@{name}:Guess/incremental",
        f"fcfs+{name}:Greedy",
    ]


def test_what_workers_cannot_make_is_told(mine):
    def here(q):
        return q

    fields = {"name": "objects", "workloads": [{"generate": "lublin", "jobs": 20, "processors": 16}]}
    with pytest.raises(
        ValueError, match=r"<here> cannot be imported by other processes, as .*:here: put it into a module"
    ):
        Campaign(schedulers=[Scheduler(here)], **fields)
    with pytest.raises(
        ValueError, match=r"<Hidden> cannot be written as .*:Hidden\(\.\.\.\): let it keep its arguments"
    ):
        Campaign(schedulers=[Scheduler("fcfs", mine.Hidden(3))], **fields)
    used = mine.Ages(3)
    used._told = 7
    with pytest.raises(ValueError, match=r"give it as it is made"):
        Campaign(schedulers=[Scheduler(used)], **fields)


def test_all_names_that_are_not_allowed_are_told_at_once_and_a_module_allows_all_of_its_names():
    texts = ["saf+fractions:Fraction", "decimal:Decimal+easy", "fractions:Fraction", "fcfs+fractions:gcd"]
    with pytest.raises(
        InputError, match=r'write with sl\.imports\.allow_imports\("fractions:Fraction,decimal:Decimal,fractions:gcd"\)'
    ):
        check_imports(texts, "a.toml")
    with allow_imports("fractions:Fraction,decimal:Decimal fractions:gcd"):
        check_imports(texts, "a.toml")
    with allow_imports("fractions"), pytest.raises(InputError, match=r"a\.toml names decimal:Decimal, and files"):
        check_imports(texts, "a.toml")
    with pytest.raises(InputError, match="write MODULE:CLASS, or MODULE"), allow_imports("3"):
        pass


def test_results_are_shown_without_the_code_that_made_them(mine, tmp_path):
    """A table of stored numbers imports nothing: that of an archive, opened elsewhere, needs no module of its own."""
    name = mine.__name__
    metrics = {"own": [f"{name}:narrow"], "main": f"{name}:narrow"}
    run = finished_run(tmp_path, campaign(schedulers=["fcfs", f"{name}:narrow+easy"], metrics=metrics), failed=[])
    with allow_imports(name):
        before = str(_ranking(RunDirectory.open(run.path), "mean_wait"))
    sys.modules.pop(name)
    told = RunDirectory.open(run.path).without_code()
    assert (told.plan.campaign.compared_with, told.plan.campaign.metrics.main) == ("fcfs", f"{name}:narrow")
    assert name not in sys.modules
    assert str(_ranking(told, "mean_wait")) == before


def test_changed_code_is_told_where_it_may_be_imported(mine, tmp_path):
    name = mine.__name__
    run = finished_run(tmp_path, campaign(schedulers=["fcfs", f"{name}:narrow+easy"]), failed=[])
    with allow_imports(name):
        assert RunDirectory.open(run.path).other_code() == []
        change(mine, "return q", "return -q")
        assert RunDirectory.open(run.path).other_code() == [f"{name}:narrow"]
    assert RunDirectory.open(run.path).other_code() == []  # nothing may be imported, and nothing is told
