"""How fast clusters of nodes are simulated: a week and a year of sites, GPUs in pieces, and a thousand nodes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from result import Result

import schedlab as sl
from schedlab.schedule.schedule import Schedule
from schedlab.workload.resources import WHOLE, Resources

WEEK = 7 * 86_400
YEAR = 365 * 86_400
SITE = "fcfs+slurm(interval=120,depth=2500,window=259200,queue_depth=2500)"
ARCHER2 = (
    "multifactor(age=500,size=100,fairshare=300,qos=10000,max_age=1209600,half_life=172800,qoses=2:0.2;3:1)"
    "+slurm(depth=1000,window=345600,queue_depth=256,delay=4)"
)
"""What its slurm.conf is imported as."""

JOBS_A_YEAR, ARCHER2_NODES, LOAD = 600_000, 5_860, 0.9


def nodes(traces: Path) -> Iterator[Result]:
    """A site's week under EASY and Slurm's passes, openb under two rules of placement, a thousand nodes."""
    site, week = traces.parent / "slurm-sites" / "ubccr-medium", traces / "modern" / "workload_week.events.gz"
    if site.is_dir() and week.is_file():
        cluster, jobs = sl.read_cluster(site), sl.read_workload(week)
        for text, goal in (("fcfs+easy", 3.0), (SITE, 20.0)):
            sl.simulate(jobs, text, cluster=cluster)  # limits that cannot bind 200 jobs would not be compiled
            name = f"UBCCR week, 217 nodes, {text.partition('(')[0]}"
            yield timed(name, jobs, text, cluster, goal)
    pods = traces / "modern" / "alibaba-openb-2023"
    if pods.is_dir():
        cluster = sl.read_cluster(pods / "openb_node_list_all_node.csv.gz")
        jobs = sl.clean(sl.read_workload(pods / "openb_pod_list_default.csv.gz").replace(processors=cluster.processors))
        for rule in ("best", "fgd"):
            text = f"fcfs+easy,placement={rule}"
            sl.simulate(jobs[:200], text, cluster=cluster)
            yield timed(f"openb, 1,523 nodes, {rule}", jobs, text, cluster, 5.0)
    cluster, jobs = thousand(1_000_000)
    sl.simulate(jobs[:200], "fcfs+easy", cluster=cluster)
    yield timed("1,000 nodes, 1 M jobs of cores, memory and GPUs", jobs, "fcfs+easy", cluster, 5.0)
    yield of_a_year(30_000)


def long_nodes(_: Path) -> Iterator[Result]:
    """A year of 600,000 jobs on 5,860 nodes, under Slurm's passes."""
    yield of_a_year(JOBS_A_YEAR)


def of_a_year(count: int) -> Result:
    """Return how long part of the year takes; the goal is 10 minutes of one core for the whole."""
    cluster, jobs = year(count)
    sl.simulate(jobs[:200], ARCHER2, cluster=cluster)
    days = 365 * count / JOBS_A_YEAR
    return timed(f"5,860 nodes, {days:.0f} days, slurm", jobs, ARCHER2, cluster, 600.0 * count / JOBS_A_YEAR)


def year(count: int) -> tuple[sl.Cluster, sl.Workload]:
    """Return a model of ARCHER2 and its first jobs of a year: whole nodes, by powers of two, for 90 % of the nodes."""
    groups = [
        sl.cluster.NodeGroup.of("nid[0001-5276]", cores=128, memory=256_000, weight=500),
        sl.cluster.NodeGroup.of("nid[5277-5860]", cores=128, memory=512_000, weight=1000),
    ]
    cluster = sl.Cluster.of_nodes(groups)
    rng = np.random.default_rng(2026)
    sizes = 2 ** rng.integers(0, 10, count)
    span = YEAR * count / JOBS_A_YEAR
    run = rng.lognormal(0.0, 1.0, count)
    run = np.ceil(run * LOAD * ARCHER2_NODES * span / float((run * sizes).sum())).clip(30, 23 * 3600).astype(np.int64)
    limit = (-(-(run * rng.uniform(1.05, 4, count)) // 300) * 300).clip(300, 86_400).astype(np.int64)
    columns = {
        "submit_time": np.sort(rng.uniform(0, span, count)).astype(np.int64),
        "run_time": np.minimum(run, limit - 30),
        "requested_time": limit,
        "requested_processors": sizes * 128,
        "user_id": rng.zipf(1.6, count) % 200,
    }
    jobs = sl.Workload.from_columns(columns, processors=cluster.processors)
    return cluster, jobs.replace(resources=Resources.of(count, tasks=sizes * 128, nodes=sizes))


def thousand(count: int) -> tuple[sl.Cluster, sl.Workload]:
    """Return a thousand nodes and jobs of 1 to 64 cores, with memory and some with GPUs, that keep them busy."""
    groups = [
        sl.cluster.NodeGroup.of("c[0001-0800]", cores=64, memory=256_000),
        sl.cluster.NodeGroup.of("g[0001-0200]", cores=64, memory=512_000, gpus={"a100": 4}, weight=10),
    ]
    rng = np.random.default_rng(2026)
    run = np.ceil(rng.lognormal(7, 1.2, count)).clip(60, 86_400).astype(np.int64)
    tasks = rng.choice([1, 2, 4, 8, 16, 32, 64], count)
    gpus = np.where(rng.random(count) < 0.1, rng.choice([1, 2, 4], count), 0)
    work = float((run * tasks).sum())
    cluster = sl.Cluster.of_nodes(groups)
    submit = np.sort(rng.integers(0, int(work / (0.8 * cluster.processors)), count))
    columns = {
        "submit_time": submit,
        "run_time": run,
        "requested_time": run * rng.integers(1, 6, count),
        "requested_processors": tasks,
    }
    memory = rng.choice([1_000, 2_000, 4_000], count)
    resources = Resources.of(count, tasks=tasks, nodes=np.where(gpus > 0, 1, 0), memory_per_core=memory, gpus=gpus)
    jobs = sl.Workload.from_columns(columns, processors=cluster.processors)
    return cluster, jobs.replace(resources=resources)


def timed(name: str, jobs: sl.Workload, text: str, cluster: sl.Cluster, goal: float) -> Result:
    """Return a simulation's processor time, and whether no node ever gave more cores, or whole GPUs, than it has."""
    begin = time.process_time()
    schedule = sl.simulate(jobs, text, cluster=cluster)
    seconds = time.process_time() - begin
    whole = jobs.resources is None or bool((jobs.resources.gpu_share == WHOLE).all())
    shown = f"no node over its cores{' or GPUs' if whole else ''}; {len(jobs) / seconds:,.0f} jobs/s"
    return Result(name, f"{seconds:.2f} s", f"{goal:g} s", seconds <= goal, shown, within_nodes(schedule, whole))


def within_nodes(schedule: Schedule, whole_gpus: bool) -> bool:
    """Return whether at every second each node has the cores, and the GPUs if none is shared, that its jobs hold."""
    placement = schedule.placement
    assert placement is not None
    job = np.repeat(np.arange(len(schedule.workload)), np.diff(placement.offsets))
    when = np.concatenate([schedule.start_time[job], schedule.end_time[job]])
    order = np.lexsort((np.arange(len(when)) < len(job), when, np.tile(placement.node, 2)))  # ends before starts
    node = np.tile(placement.node, 2)[order]
    last = np.r_[node[1:] != node[:-1], True]
    resources = [(placement.held_cores, placement.cores), (placement.held_gpus, placement.gpus)]
    for held, most in resources if whole_gpus else resources[:1]:
        in_use = np.cumsum(np.concatenate([held, -held])[order])
        if bool((in_use > np.asarray(most)[node]).any()) or bool((in_use[last] != 0).any()):
            return False
    return True
