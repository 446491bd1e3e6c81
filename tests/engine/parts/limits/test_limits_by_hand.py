"""Licences, submitted jobs, and which of several limits counts, held against a real slurmctld.

The expectations in `conformance/slurm-limits.json` are Slurm's starts and what squeue said why a job waited (see
`conformance/README.md`). Slurm notices an end with its next tick, and puts a pass that is asked for off by up to three
seconds (`batch_sched_delay`); what counts here is behind which end a job starts. Submissions that sbatch refused were
made again every second.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Accounting, Limits, QosLimits
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.cluster.sacctmgr import read_accounts
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

CASES = json.loads((Path(__file__).parents[4] / "conformance" / "slurm-limits.json").read_text(encoding="utf-8"))
TICK, DELAY = 1, 3


def site_of(case, directory):
    """Return the cluster of a case: eight nodes of eight cores."""
    path = directory / "accounts.script"
    path.write_text("\n".join(["add cluster name=lab fairshare=1", *case["accounts"], ""]))
    held = {}
    for word in filter(None, case.get("licenses", "").split(",")):
        name, _, count = word.partition(":")
        held[name] = int(count or 1)
    cluster = Cluster.of_nodes(
        [NodeGroup.of("n[1-8]", cores=8)],
        [
            Partition("batch", default=True, qos=case.get("partition_qos", "")),
            *map(Partition, case.get("further_partitions", ())),
        ],
        licenses=held,
    )
    return replace(cluster, accounting=Accounting.of_slurm(read_accounts(path, cluster="lab")))


def scheduler_of(case):
    """Return the scheduler: that of priority/multifactor where its period matters."""
    parameters = case.get("parameters", {})
    if "PriorityCalcPeriod" not in parameters:
        return "fcfs+slurm(version=22.05)"
    return f"multifactor(age=1000,period={60 * parameters['PriorityCalcPeriod']})+slurm(version=22.05)"


def elements_of(case):
    """Return the row of each job, an array being as many as it has elements."""
    found = []
    for row, job in enumerate(case["jobs"]):
        last = next((word.partition("-")[2] for word in job[5:] if word.startswith("--array=")), "0")
        found += [row] * (int(last.rpartition("-")[2]) + 1)
    return found


def jobs_of(case):
    rows = elements_of(case)
    jobs = [case["jobs"][row] for row in rows]
    users = sorted({user for user, *_ in jobs})
    return Workload.from_columns(
        {
            "submit_time": [job[2] for job in jobs],
            "requested_processors": [job[3] for job in jobs],
            "run_time": [job[4] + TICK for job in jobs],
            "requested_time": [limit_of(job) for job in jobs],
            "user_id": [users.index(job[0]) for job in jobs],
        },
        header=tuple(f" User: {number} {name}" for number, name in enumerate(users)),
        requests_enforced=False,
        resources=Resources.of(
            len(jobs),
            nodes=[int("-N1" in job) for job in jobs],
            tasks=[job[3] for job in jobs],
            account=[job[1] for job in jobs],
            partition=[next((word[2:] for word in job[5:] if word.startswith("-p")), None) for job in jobs],
            licenses=[job[job.index("-L") + 1] if "-L" in job else None for job in jobs],
            array=[str(row) if rows.count(row) > 1 else None for row in rows],
        ),
    )


def limit_of(job):
    """Return the time limit of a job, in seconds: as it says, or its run time in full minutes."""
    given = next((int(word.removeprefix("-t")) for word in job[5:] if word.startswith("-t")), -(-job[4] // 60))
    return given * 60


def starts_and_reasons_agree(case, scheduler, directory):
    """Return whether jobs start behind the same ends, and wait for the same reasons."""
    schedule = replay(prepare(jobs_of(case), scheduler, cluster=site_of(case, directory)))
    rows = elements_of(case)
    late = np.abs(schedule.start_time - np.array(case["starts"])[rows])
    if (late > DELAY * (1 + np.arange(len(late)))).any():
        return False
    waits = (schedule.start_time > case["look"]).nonzero()[0].tolist()
    if sorted({rows[job] for job in waits}) != sorted(map(int, case["reasons"])):
        return False
    kept = waits if schedule.waited_for is not None else ()  # nodes alone keep no account of reasons
    return all(schedule.waited_for[case["reasons"][str(rows[job])]][job] > 0 for job in kept)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_jobs_start_behind_the_ends_behind_which_real_slurm_started_them_and_wait_for_its_reasons(case, tmp_path):
    assert starts_and_reasons_agree(case, scheduler_of(case), tmp_path)


def test_there_are_enough_cases_and_few_differ():
    assert len(CASES) >= 45
    assert not any("differs" in case for case in CASES)


def four_jobs(**asked):
    columns = {"submit_time": [0, 0, 1, 1, 2], "run_time": [10] * 5, "requested_time": [10] * 5}
    resources = Resources.of(5, **asked)
    return Workload.from_columns(columns | {"requested_processors": [1] * 5}, processors=8, resources=resources)


@pytest.mark.parametrize("scheduler", ["fcfs", "fcfs+easy", "fcfs+conservative"])
def test_so_many_elements_of_an_array_run_at_a_time_and_others_pass_by(scheduler):
    # Jobs 0 to 3 are one array, two at a time; job 4 is of none. No cluster: the machine is eight processors.
    jobs = four_jobs(array=["a"] * 4 + [None], array_limit=[2] * 4 + [0])
    schedule = simulate(jobs, scheduler)
    assert schedule.start_time.tolist() == [0, 0, 10, 10, 2]
    assert schedule.waited_for["JobArrayTaskLimit"].tolist() == [0, 0, 9, 9, 0]
    assert replay(prepare(jobs, scheduler)).start_time.tolist() == [0, 0, 10, 10, 2]


def test_a_licence_that_the_cluster_lacks_is_named_and_without_a_cluster_none_counts():
    jobs = four_jobs(licenses=["m:2", "m:2", "n", None, "m:4"])
    assert simulate(jobs, "fcfs").start_time.tolist() == [0, 0, 1, 1, 2]
    with pytest.raises(InputError, match=r"job 3 can never run: the cluster has not the licences .*\(Licenses\)"):
        simulate(jobs, cluster=Cluster(8, licenses=(("m", 9),)))
    with pytest.raises(InputError, match="licenses='m::': give names and counts, such as matlab:2,ansys"):
        simulate(four_jobs(licenses=["m::", None, None, None, None]), cluster=Cluster(8, licenses=(("m", 3),)))


@pytest.mark.parametrize("scheduler", ["fcfs", "fcfs+easy", "fcfs+conservative", "fcfs+slurm"])
def test_limits_of_users_accounts_and_qos_hold_without_nodes(scheduler):
    # Eight processors, and jobs of one each: of user 1, one at a time.
    jobs = four_jobs().replace(user_id=[1, 1, 1, 2, 2], resources=None)
    limited = Accounting((QosLimits("normal", limits=Limits(max_tres_per_user=(("cpu", 1),))),))
    cluster = Cluster(8, accounting=limited)
    schedule = simulate(jobs, scheduler, cluster=cluster)
    same = simulate(jobs, scheduler, cluster=Cluster.of_nodes(NodeGroup.of("n1", cores=8), accounting=limited))
    assert schedule.start_time.tolist() == same.start_time.tolist()
    starts, users = np.sort(schedule.start_time), (schedule.start_time[:3], schedule.start_time[3:])
    assert all(np.diff(np.sort(one)).min() >= 10 for one in users)
    assert starts[1] < 10  # the two users run side by side
    assert set(schedule.waited_for) >= {"QOSMaxCpuPerUserLimit"}
    assert replay(prepare(jobs, scheduler, cluster=cluster)).start_time.tolist() == schedule.start_time.tolist()


@pytest.mark.parametrize("limits", [{"grp_tres": (("node", 2),)}, {"max_tres_per_node": (("cpu", 2),)}])
def test_limits_on_what_only_nodes_have_are_refused_without_nodes(limits):
    cluster = Cluster(8, accounting=Accounting((QosLimits("normal", limits=Limits(**limits)),)))
    with pytest.raises(InputError, match="cluster: limits on nodes, or on memory and devices, need nodes"):
        simulate(four_jobs(), "fcfs", cluster=cluster)


def test_arrays_that_contradict_themselves_are_named():
    with pytest.raises(InputError, match="array 'a': its elements name different limits, from job 1 on"):
        simulate(four_jobs(array=["a"] * 5, array_limit=[2, 2, 3, 3, 3]))
    with pytest.raises(InputError, match=r"row 2: array_limit is of no array \(array_limit 2\)"):
        four_jobs(array=["a", "a", None, None, None], array_limit=[2, 2, 2, 0, 0])
