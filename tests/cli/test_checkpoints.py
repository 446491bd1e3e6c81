"""--checkpoints of simulate, the same field of campaigns, and the verb that estimates the time between failures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedlab.campaign.definition.campaign_file import read_campaign
from schedlab.campaign.sources.machine import MachineFiles

LOG = "; MaxProcs: 1\n1 0 0 1000 1 -1 -1 1 2000 -1 1 3 1 1 1 1 -1 -1\n"
CLUSTER = '[[groups]]\nnodes = "n1"\ncores = 1\n'
EVENTS = "second,event,nodes\n350,down,n1\n400,up,n1\n"
RULE = "every(100s,cost=10s,restart=20s)"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("log.swf", LOG), ("site.toml", CLUSTER), ("events.csv", EVENTS)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_simulate_tells_what_checkpoints_cost_and_save(run, files: Path) -> None:
    """As on the page: 1,000 s of work and 110 s of checkpoints in the 1,180 s, of which 20 s of work are lost."""
    asked = ("simulate", "log.swf", "-s", "fcfs", "--cluster", "site.toml", "--node-events", "events.csv")
    done = run(*asked, "--checkpoints", RULE, "--json")
    metrics = json.loads(done.stdout)["metrics"]
    assert metrics["checkpoint_share"] == pytest.approx(110 / 1180)
    assert metrics["saved_share"] == pytest.approx(300 / 1180)
    assert metrics["lost_share"] == pytest.approx(20 / 1180)
    assert "1 of 1 job writes checkpoints, every 100s of work in the median" in done.stderr


def test_rules_that_cannot_be_read_end_in_one_sentence(run, files: Path) -> None:
    done = run("simulate", "log.swf", "-s", "fcfs", "--checkpoints", "every(0s)")
    assert done.exit_code == 1
    assert "interval=0s: must be a whole number from 1 on" in done.stderr


def test_campaigns_have_the_same_rules(files: Path) -> None:
    """A rule is part of what results are called by; an entry without any has the name that it always had."""
    entries = []
    for line in ("", f'checkpoints = "{RULE}"\n'):
        (files / "c.toml").write_text(f'name = "c"\nschedulers = ["fcfs"]\n[[workloads]]\ntrace = "log.swf"\n{line}')
        entries.append(read_campaign(files / "c.toml").workloads[0])
    item = next(iter(entries[1].inputs(0, files, {}, MachineFiles())))
    assert entries[1].workload(item, None, None)["checkpoint_interval"].tolist() == [100]
    assert "checkpoints" not in entries[0].specification(item)
    assert entries[1].specification(item)["checkpoints"] == RULE


def test_the_time_between_failures_is_estimated_from_events(run, files: Path) -> None:
    """A node that is in service for 950 of 1,000 s, and fails once."""
    found = json.loads(run("cluster", "mtbf", "site.toml", "events.csv", "--until", "1000", "--json").stdout)
    assert (found["failures"], found["seconds"]) == (1, 950)
    assert "1 failure in" in run("cluster", "mtbf", "site.toml", "events.csv").stdout
