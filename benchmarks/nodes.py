"""How fast clusters of nodes are simulated: a week of a site, GPUs in pieces, and a thousand nodes."""

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
SITE = "fcfs+slurm(interval=120,depth=2500,window=259200,queue_depth=2500)"


def nodes(traces: Path) -> Iterator[Result]:
    """A site's week under EASY and Slurm's passes, openb under two rules of placement, a thousand nodes."""
    site, week = traces.parent / "slurm-sites" / "ubccr-medium", traces / "modern" / "workload_week.events.gz"
    if site.is_dir() and week.is_file():
        cluster, jobs = sl.read_cluster(site), sl.read_workload(week)
        for text, goal in (("fcfs+easy", 3.0), (SITE, 20.0)):
            sl.simulate(jobs[:200], text, cluster=cluster)
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
    """Return how long a simulation takes, and whether no node ever gave more cores, or whole GPUs, than it has."""
    begin = time.perf_counter()
    schedule = sl.simulate(jobs, text, cluster=cluster)
    seconds = time.perf_counter() - begin
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
