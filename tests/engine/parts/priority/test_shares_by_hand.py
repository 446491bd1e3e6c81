"""Fair share of accounts, held against a real slurmctld: `conformance/shares-by-hand.json`.

The expectations are what sshare said there (see `conformance/README.md`). Slurm rounds use down, and counts a job's
seconds from one of its own ticks to another.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from site_cases import random_associations

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Account, Accounting, AccountUser
from schedlab.cluster.sacctmgr import read_accounts
from schedlab.engine import simulate
from schedlab.engine.parts.limits.tres import Billing
from schedlab.engine.parts.priority.associations import Associations, associations, unknown_users
from schedlab.engine.parts.priority.reference_shares import Shares
from schedlab.engine.parts.priority.shares import new_shares, weighed
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.steps.stepwise import Simulation
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.workload import Workload

CASES = json.loads((Path(__file__).parents[4] / "conformance" / "shares-by-hand.json").read_text(encoding="utf-8"))
CORES, TICK = 64, 1
NAMES = [case["name"] for case in CASES]


def jobs_of(jobs) -> Workload:
    """Return jobs, each given by user, account, submit time, cores, run time and options of sbatch."""
    users = sorted({user for user, *_ in jobs})
    qos = [
        "".join(option.removeprefix("--qos=") for option in options)
        for *_, options in (job[:6] for job in filled(jobs))
    ]
    workload = Workload.from_columns(
        {
            "submit_time": [job[2] for job in jobs],
            "requested_processors": [job[3] for job in jobs],
            "run_time": [job[4] + TICK for job in jobs],
            "requested_time": [-(-job[4] // 60) * 60 for job in jobs],
            "user_id": [users.index(job[0]) for job in jobs],
        },
        header=tuple(f" User: {number} {name}" for number, name in enumerate(users)),
        processors=CORES,
        requests_enforced=False,
    )
    accounts = Labels.of([job[1] for job in jobs])
    return workload.replace(resources=Resources.of(len(jobs), account=accounts, qos=Labels.of(qos)))


def filled(jobs):
    return [[*job[:5], job[5:]] for job in jobs]


def machine_of(case, directory: Path) -> Cluster:
    path = directory / "accounts.script"
    path.write_text("\n".join(["add cluster name=lab fairshare=1", *case["accounts"], ""]))
    return Cluster(CORES, accounting=Accounting.of_slurm(read_accounts(path, cluster="lab")))


def scheduler_of(case) -> str:
    classic = "shares=classic," if "NO_FAIR_TREE" in str(case.get("parameters")) else ""
    if classic and "FairShareDampeningFactor" in case["parameters"]:
        classic += f"dampening={case['parameters']['FairShareDampeningFactor']},"
    ends = "" if "limits" in str(case.get("parameters")) else ",ends=lost"
    return f"multifactor(fairshare=1000000,{classic}half_life={case['half_life']},period=60{ends})+slurm(version=22.05)"


def named(who: Associations, values) -> dict[str, float]:
    """Return the values of users, as sshare names them."""
    return {f"{user} in {account}": values[place] for place, (user, account, _) in enumerate(who.names) if user}


def factors(
    who: Associations, usage: list[float], *, fair_tree: bool, dampening: float = 1.0
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the factors of users who have used so much, by the engine and by its reference."""
    shares = new_shares(who, fair_tree=fair_tree, dampening=dampening)
    plain = Shares(who.parent.tolist(), who.shares.tolist(), who.user.tolist(), fair_tree, dampening)
    plain.use({one: used for one, used in enumerate(usage) if who.user[one]}, 1.0, 1.0)
    shares.usage[:] = plain.usage
    weighed(shares)
    return named(who, shares.factor.tolist()), named(who, plain.factors())


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_what_users_have_used_gives_them_the_factors_of_a_real_slurm(case, tmp_path: Path):
    jobs = jobs_of(case["jobs"])
    who = associations(jobs, machine_of(case, tmp_path), None, Billing.of(jobs.job_processors))
    for seen in case["sshare"].values():
        usage = [seen.get(f"{user} in {account}", [0])[0] for user, account, _ in who.names]
        expected = {name: factor for name, (_, factor) in seen.items()}
        policy = Scheduler.parse(scheduler_of(case)).policy
        for found in factors(who, usage, fair_tree=policy.shares == "tree", dampening=float(policy.dampening)):  # type: ignore[attr-defined]
            assert found == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_simulation_counts_what_a_real_slurm_counts_and_gives_the_same_factors(case, tmp_path: Path):
    last = [*case["jobs"][0][:2], int(list(case["sshare"])[-1]) + 1, 1, 60]
    simulation = Simulation(jobs_of([*case["jobs"], last]), scheduler_of(case), cluster=machine_of(case, tmp_path))
    for second, seen in case["sshare"].items():
        simulation.run(until=int(second))
        shares = simulation._world.priority.shares
        who = simulation._prepared.associations
        used = {name: used for name, (used, _) in seen.items()}
        ticks = 3 * max(job[3] for job in case["jobs"])
        assert named(who, shares.usage) == pytest.approx(used, rel=0.02, abs=ticks)
        assert named(who, shares.factor) == pytest.approx({name: one for name, (_, one) in seen.items()}, abs=1e-3)


def replayed(jobs, scheduler, cluster):
    """Simulate with the reference."""
    return replay(prepare(jobs, scheduler, cluster=cluster))


@pytest.mark.parametrize("engine", [simulate, replayed], ids=["compiled", "plain"])
def test_jobs_start_in_the_order_and_nearly_at_the_second_of_a_real_slurm(engine, tmp_path: Path):
    for case in (case for case in CASES if "starts" in case):
        schedule = engine(jobs_of(case["jobs"]), scheduler_of(case), cluster=machine_of(case, tmp_path))
        assert np.argsort(schedule.start_time, kind="stable").tolist() == np.argsort(case["starts"]).tolist()
        assert schedule.start_time == pytest.approx(np.array(case["starts"]), abs=5)


@pytest.mark.parametrize("fair_tree", [True, False])
def test_the_engine_and_its_twin_agree_on_random_trees_with_many_ties(fair_tree):
    random = Random(1)
    for _ in range(300):
        who = random_associations(random, np.zeros(0))
        usage = [float(random.choice([0, 0, 10, 20, 20, 30])) for _ in who.names]
        engine, twin = factors(who, usage, fair_tree=fair_tree, dampening=3.0)
        assert engine == pytest.approx(twin, abs=0 if fair_tree else 1e-12)


def test_users_whom_the_accounts_do_not_know_have_one_share_in_the_account_of_their_jobs():
    who = Accounting((), (Account("root", ""), Account("a", shares=5)), (AccountUser("ann", "a"),))
    jobs = jobs_of([["ann", "a", 0, 1, 60], ["bob", "a", 0, 1, 60], ["eve", "b", 0, 1, 60]])
    machine = Cluster(CORES, accounting=who)
    found = associations(jobs, machine, None, Billing.of(jobs.job_processors))
    assert found.names == (
        ("", "root", ""), ("", "a", ""), ("ann", "a", ""), ("bob", "a", ""), ("", "b", ""), ("eve", "b", ""),
    )  # fmt: skip
    assert found.shares.tolist() == [1, 5, 1, 1, 1, 1]
    assert found.of_job.tolist() == [2, 3, 5]
    assert unknown_users(jobs, machine) == [("bob", "a"), ("eve", "b")]
