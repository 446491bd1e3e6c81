"""What is deployed, on paper and on the real Slurm."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import schedlab as sl
from schedlab.errors import InputError
from schedlab.slurm.configuration import machine_configuration
from schedlab.slurm.deployment import deploy, shadow
from schedlab.slurm.jobs import from_workload
from schedlab.slurm.laboratory import Laboratory
from schedlab.slurm.replay import run

SHORTEST_FIRST = [0, 3, 6, 1, 8, 9, 4, 7, 2, 5, 10]
"""The first job holds the core; then by limit: 1, 2, 3, 4, 5, 6, 7, 8, 9, 11 minutes."""


def blocked_queue() -> sl.Workload:
    """One core; a job that holds it, and ten jobs that wait behind it."""
    limits = [10, 3, 8, 1, 6, 9, 2, 7, 4, 5, 11]
    columns = {
        "submit_time": list(range(11)),
        "run_time": [60 * limit - 5 for limit in limits],
        "requested_time": [60 * limit for limit in limits],
        "requested_processors": [1] * 11,
    }
    return sl.Workload.from_columns(columns, processors=1)


def test_lua_is_for_scores_that_are_fixed_at_submission():
    assert deploy("saf").way == "lua"
    assert deploy("wfp3").way == "priority-loop"
    assert deploy("eaf").way == "priority-loop"
    with pytest.raises(InputError, match="Lua acts at submission only"):
        deploy("wfp3", way="lua")
    with pytest.raises(InputError, match="no formula"):
        deploy("multifactor(age=1000)")
    with pytest.raises(InputError, match="not @actual"):
        deploy("spf@actual")


def test_a_deployment_says_how_to_install_and_undo_it(tmp_path: Path):
    for policy in ("f1", "wfp3"):
        deploy(policy).save(tmp_path / policy)
        readme = (tmp_path / policy / "README.md").read_text()
        assert "## Install" in readme
        assert "## Undo" in readme
        assert "%" not in readme


def test_the_daemon_ranks_as_the_score_does(tmp_path: Path):
    deploy("saf", way="priority-loop").save(tmp_path)
    scores = np.array([-1e30, -3.5, -1.0, 0.0, 1e-9, 1.0, 1.0001, 60.0, 3600.0, 7.2e6, 1e12])
    code = f"import priority_daemon as d; print([d.rank(s) for s in {scores.tolist()}])"
    answer = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    ranks = eval(answer.stdout)
    assert ranks == sorted(set(ranks))


def test_the_daemon_expects_what_the_conformance_case_expects(tmp_path: Path):
    """Case 56: one run of user 1 used a quarter of its limit."""
    deploy("saf@groups(user,decay=1)").save(tmp_path)
    code = """import priority_daemon as d
state = d.State("state.json")
ended, waiting = (d.groups_of(user=user, account="", partition="", request="", processors="") for user in "12")
print([state.share(ended), state.learn(ended, 0.25), state.share(ended), state.share(waiting)])
state.save()
print(d.State("state.json").share(ended))"""
    answer = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    before, _, own, others = eval(answer.stdout.splitlines()[0])
    assert (before, others) == (1, pytest.approx(0.5))
    assert own == pytest.approx(0.25**0.75)
    assert eval(answer.stdout.splitlines()[1]) == own


def test_what_squeue_does_not_know_is_refused():
    with pytest.raises(InputError, match=r"not @groups\(user.executable\)"):
        deploy("saf@groups(user.executable)")
    with pytest.raises(InputError, match="not @similar"):
        deploy("saf@similar")


def test_the_shadow_orders_a_queue_and_leaves_held_jobs_out():
    queue = {
        "jobs": [
            {"job_id": 1, "job_state": "PENDING", "priority": 9, "time_limit": 60, "cpus": 4, "submit_time": 100},
            {"job_id": 2, "job_state": ["PENDING"], "priority": {"set": True, "number": 8}, "time_limit": 10, "cpus": 1,
             "submit_time": 200},
            {"job_id": 3, "job_state": "PENDING", "priority": 0, "time_limit": 1, "cpus": 1, "submit_time": 200},
            {"job_id": 4, "job_state": "RUNNING", "priority": 7, "time_limit": 1, "cpus": 1, "submit_time": 20},
        ]
    }  # fmt: skip
    rows = shadow("saf", queue)
    assert [(row["job"], row["rank"], row["slurm_rank"]) for row in rows] == [(2, 1, 2), (1, 2, 1)]
    with pytest.raises(InputError, match="squeue --json"):
        shadow("saf", {})


@pytest.mark.usefixtures("real_slurm")
def test_lua_starts_jobs_in_the_order_of_the_policy():
    jobs = blocked_queue()
    conf = machine_configuration(1).having(JobSubmitPlugins="lua")
    conf = type(conf)(conf.lines, {"job_submit.lua": deploy("saf").files["job_submit.lua"]})
    real = run(from_workload(jobs), conf=conf)
    assert real.schedule.start_time.argsort().tolist() == SHORTEST_FIRST


@pytest.mark.usefixtures("real_slurm")
@pytest.mark.parametrize("way", ["priority-loop", "site-factor"])
def test_a_daemon_starts_jobs_in_the_order_of_the_policy_and_undoes_it(way: str, tmp_path: Path):
    jobs = blocked_queue()
    deploy("saf", way=way).save(tmp_path)  # type: ignore[arg-type]
    said = []

    def daemon(laboratory: Laboratory, *options: str) -> None:
        environment = laboratory.daemon.environment(laboratory.clock.now())
        command = [sys.executable, str(tmp_path / "priority_daemon.py"), *options]
        answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert answer.returncode == 0, answer.stderr
        said.append(answer.stderr)

    def prepare(laboratory: Laboratory) -> None:
        laboratory.every(60, lambda: daemon(laboratory, "--once"), first=30)

    conf = machine_configuration(1).having(PriorityWeightPartition=1000000)
    real = run(from_workload(jobs), conf=conf, prepare=prepare)
    assert real.schedule.start_time.argsort().tolist() == SHORTEST_FIRST
    assert any("priority=" in text or "sitefactor=" in text for text in said)
