"""Weights and billing of resources, and depths of a backfill pass, held against a real slurmctld.

The expectations in `conformance/site-by-hand.json` are what sprio, sshare and squeue said there (see
`conformance/README.md`). sprio rounds each part, and cuts the priority off; sshare rounds use down.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from schedlab.cluster.nodes import Partition
from schedlab.cluster.tres_weights import tres_weights
from schedlab.engine import simulate
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site.importing import import_site
from schedlab.site.site import Site
from schedlab.workload.workload import Workload

sys.path.append(str(Path(__file__).parents[3] / "slurm"))
from site_on_slurm import CASES, write_case

RECORDED = {case["name"]: case for case in json.loads(CASES.read_text(encoding="utf-8"))}
SHOWN = ("PriorityWeightTRES", "PriorityWeightJobSize")
WITH_SPRIO = [name for name, case in RECORDED.items() if any(one in "".join(case["conf"]) for one in SHOWN)]
BILLED = [name for name, case in RECORDED.items() if name not in WITH_SPRIO and "TRES" in "".join(case["conf"])]
DEPTHS = [name for name, case in RECORDED.items() if "SchedulerParameters" in "".join(case["conf"])]


def replayed(jobs, scheduler, cluster):
    """Simulate with the reference."""
    return replay(prepare(jobs, scheduler, cluster=cluster))


def until_its_second(case, directory: Path) -> tuple[Site, Simulation]:
    """Return the site of a case, and its simulation at the second of the looks."""
    site = import_site(directory, write_case(case, directory), slurm="22.05")
    assert site.jobs is not None
    simulation = Simulation(site.jobs, site.scheduler, cluster=site.cluster)
    simulation.run(until=case["second"])
    return site, simulation


@pytest.mark.parametrize("name", WITH_SPRIO)
def test_priorities_are_those_of_sprio(name, tmp_path):
    case = RECORDED[name]
    site, simulation = until_its_second(case, tmp_path)
    found = simulation.priorities()
    rows = [site.jobs.job_id.tolist().index(number) for number in found.job_id.tolist()]
    expected = [case["sprio"][str(row)] for row in rows]
    assert sorted(rows) == sorted(map(int, case["sprio"]))
    assert found.priority.tolist() == [priority for priority, _ in expected]
    for tres, (_, parts) in zip(found.tres.tolist(), expected, strict=True):
        shown = [int(part.rpartition("=")[2]) for part in parts.split(",") if part]
        assert tres == pytest.approx(sum(shown), abs=0.5 * max(1, len(shown)) + 0.5)


@pytest.mark.parametrize("name", BILLED)
def test_usage_is_that_of_sshare(name, tmp_path):
    case = RECORDED[name]
    _, simulation = until_its_second(case, tmp_path)
    who, shares = simulation._prepared.associations, simulation._world.priority.shares
    used = {f"{user} in {account}": shares.usage[place] for place, (user, account, _) in enumerate(who.names) if user}
    rate = {
        f"{user} in {account}": max([0.0, *who.rate.fixed[who.of_job == place].tolist()])
        for place, (user, account, _) in enumerate(who.names)
        if user
    }
    for one, expected in case["sshare"].items():
        if one in case.get("differs", {}):
            assert used[one] != pytest.approx(expected, rel=0.01)
            continue
        # A tick of a second at the start; whole nodes are billed by what they have.
        assert abs(used[one] - expected) <= 2 * max(rate[one], expected / case["second"]) + 1, one


def test_a_limit_on_billing_holds_the_job_that_would_exceed_it(tmp_path):
    case = RECORDED["billing in the limits"]
    _, simulation = until_its_second(case, tmp_path)
    assert [number - 1 for number in simulation.priorities().job_id.tolist()] == [int(row) for row in case["sprio"]]


@pytest.mark.parametrize("engine", [simulate, replayed], ids=["compiled", "plain"])
@pytest.mark.parametrize("name", DEPTHS)
def test_a_backfill_pass_starts_the_jobs_that_it_looks_at(name, engine, tmp_path):
    case = RECORDED[name]
    site = import_site(tmp_path, write_case(case, tmp_path), slurm="22.05")
    start = engine(site.jobs, site.scheduler, cluster=site.cluster).start_time - site.jobs.submit_time.min()
    second = case["second"]
    running = np.flatnonzero((start <= second) & (second < start + site.jobs.run_time))
    assert running.tolist() == case["running"]


def test_weights_are_read_with_the_units_of_memory():
    assert dict(tres_weights("cpu=.5,Mem=1K,GRES/gpu:a100=2")) == {"cpu": 0.5, "mem": 1024.0, "gres/gpu:a100": 2.0}
    for text in ("cpu", "cpu=-1", "cpu=x", "=3"):
        with pytest.raises(InputError, match="RESOURCE=NUMBER"):
            tres_weights(text)
    with pytest.raises(InputError, match="billing of cpu"):
        Partition("a", billing=(("cpu", -1.0),))


@pytest.mark.parametrize(
    "text", ["multifactor(tres=cpu:1000;gres/gpu:a100:0.5)", "multifactor(tres=mem:2,amounts=yes)"]
)
def test_the_text_of_a_policy_names_the_weights(text):
    assert Scheduler.parse(f"{text}+slurm").policy.text == text


def test_without_nodes_cores_are_shares_of_the_machine():
    jobs = Workload.from_columns(
        {"submit_time": [0, 1, 2], "run_time": [9] * 3, "requested_time": [60] * 3, "requested_processors": [4, 2, 3]},
        processors=4,
    )
    wide_first = simulate(jobs, "multifactor(tres=cpu:1000)+easy")
    assert np.argsort(wide_first.start_time, kind="stable").tolist() == [0, 2, 1]
