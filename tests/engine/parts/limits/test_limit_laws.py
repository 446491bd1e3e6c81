"""Every limit of accounts, users and QOS is kept in random schedules, and binds in some of them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from cluster_cases import random_jobs
from limit_laws import LAWS, is_kept
from random_seeds import seeds
from test_laws import schedule_of_two, under
from test_limit_kinds import SIMULATED

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limit_kinds import LIMIT_KINDS
from schedlab.engine.parts.limits.machine_inputs import never_runs
from schedlab.engine.simulation import simulate

SCHEDULERS = ("fcfs", "saf+easy", "fcfs+conservative", "multifactor(age=100,size=100)+slurm(interval=5)")
MOST = {
    **{"max_wall": (20, 40), "max_tres_per_job": (2, 4), "max_tres_per_node": (2, 3), "max_tres_mins_per_job": (0, 2)},
    **{"min_tres_per_job": (2, 3), "grp_tres": (4, 8), "max_tres_per_user": (3, 6), "max_tres_per_account": (3, 6)},
    **{"grp_tres_run_mins": (2, 5), "max_tres_run_mins_per_user": (1, 4), "max_tres_run_mins_per_account": (1, 4)},
}
"""The least and the most of the limits that are drawn; of numbers of jobs, 1 to 3."""

OWNERS = {"qos": {"qos": "normal"}, "account": {"account": "a"}, "user": {"user": "1", "account": "a"}}


def cluster_with(name: str, most: int, owner: str) -> Cluster:
    """Return four nodes, one QOS, and an account of three users; one of these has a limit."""
    limits = {name: {"cpu": most} if LIMIT_KINDS[name].is_of_resources else most}
    own = {one: {"limits": limits} if one == owner else {} for one in OWNERS}
    return Cluster.from_dict(
        {
            "groups": [
                {"nodes": "n[1-3]", "cores": 4, "memory": 400},
                {"nodes": "g1", "cores": 8, "memory": 800, "gpus": {"a100": 2, "v100": 1}},
            ],
            "partitions": [{"name": "all", "default": True}, {"name": "gpu", "nodes": "g1,n3"}],
            "qos": [{"name": "normal", **own["qos"]}],
            "accounts": [
                {"name": "root", "parent": "", "qos": ["normal"], "default_qos": "normal"},
                {"name": "a", **own["account"]},
            ],
            "users": [
                {"user": str(user), "account": "a", "default": True, **(own["user"] if user == 1 else {})}
                for user in range(1, 4)
            ],
        }
    )


CASES = [(name, owner) for name in LAWS for owner in OWNERS if LIMIT_KINDS[name].holds(qos=owner == "qos")]


@pytest.mark.parametrize(("name", "owner"), CASES, ids=lambda one: one)
def test_a_limit_is_kept_and_binds(name: str, owner: str):
    bound = 0
    for seed in seeds(6):
        random = Random(f"{name}, {owner}, {seed}")
        most = random.randint(*MOST.get(name, (1, 3)))
        cluster = cluster_with(name, most, owner)
        jobs = random_jobs(random, cluster_with("grp_jobs", 99, "qos"), jobs=18)
        shared = np.zeros(len(jobs), dtype=np.int64)  # of whole nodes, limits count what was asked for
        jobs = jobs.replace(resources=replace(jobs.resources, exclusive=shared))
        refused = never_runs(jobs, cluster).codes >= 0
        kept = jobs[np.flatnonzero(~refused)]
        if not len(kept):
            bound += 1
            continue
        schedule = simulate(kept, SCHEDULERS[seed % len(SCHEDULERS)], cluster=cluster)
        assert is_kept(schedule, cluster.accounting, name, most, OWNERS[owner]), f"seed {seed}: more than {most}"
        reason = LIMIT_KINDS[name].reason("cpu" if LIMIT_KINDS[name].is_of_resources else "", qos=owner == "qos")
        waited = (schedule.waited_for or {}).get(reason, np.zeros(1))
        bound += bool(refused.any() or waited.any())
    assert bound >= 2


@pytest.mark.parametrize(
    ("name", "most"),
    [  # both jobs hold 2 cores of a node from second 0 on, and request 100 s: 200 s of cores are 3 full minutes
        *((name, 2) for name in LAWS if "jobs" in name or "submit" in name),
        *(("grp_tres", 4), ("max_tres_per_user", 4), ("max_tres_per_account", 4)),
        *((name, 6) for name in LAWS if "run_mins" in name),
        *(("max_wall", 100), ("max_tres_per_job", 2), ("max_tres_per_node", 2), ("max_tres_mins_per_job", 3)),
        ("min_tres_per_job", 2),
    ],
)
def test_a_law_sees_a_limit_that_is_exceeded_by_one(name: str, most: int):
    schedule, accounting = schedule_of_two(), under().accounting
    broken = most + 1 if name == "min_tres_per_job" else most - 1
    assert is_kept(schedule, accounting, name, most, {"account": "a"})
    assert not is_kept(schedule, accounting, name, broken, {"account": "a"})


def test_every_simulated_limit_has_a_law():
    assert LAWS.keys() == SIMULATED
