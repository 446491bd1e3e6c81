"""Compile the kernels of the usual kinds of simulations beforehand, for instance when a container is built."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from schedlab.arguments import explained
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.simulation import simulate
from schedlab.schedule.measures import LARGEST
from schedlab.workload.workload import Workload

SCHEDULERS = {
    "no backfilling, EASY": "fcfs+easy",
    "conservative backfilling": "fcfs+conservative",
    "learned predictions": "fcfs+easy@ave2",
    "Slurm": "multifactor(age=1000)+slurm",
}
"""One scheduler of each kind that is compiled separately."""


@explained
def warm_up(*, nodes: bool = False, progress: Callable[[str, float], None] | None = None) -> dict[str, float]:
    """Compile the kernels that usual simulations need, unless they are cached; the result is kept on disk.

    Otherwise the first simulation of each kind compiles them: that takes seconds, once for each version of schedlab and
    each user of a host (see `schedlab.kernels` for where compiled code is kept).

    Parameters
    ----------
    nodes
        Compile for clusters of nodes, too, which takes about half a minute more.
    progress
        Called with each kind and the seconds that it took.

    Returns
    -------
    dict
        Seconds by kind; a few hundredths where nothing had to be compiled.
    """
    small = _jobs(8)
    large = _jobs(LARGEST + 1)
    steps: dict[str, Callable[[], object]] = {"small workloads": lambda: simulate(small, "fcfs+easy").metrics()}
    for name, text in SCHEDULERS.items():
        steps[name] = lambda text=text: simulate(large, text).metrics()  # type: ignore[misc]
    if nodes:
        cluster = Cluster.of_nodes([NodeGroup.of("n[1-4]", cores=16)])
        for name in ("no backfilling, EASY", "conservative backfilling", "Slurm"):
            text = SCHEDULERS[name]
            steps[f"{name}, on nodes"] = lambda text=text: simulate(small, text, cluster=cluster)  # type: ignore[misc]
    taken = {}
    for name, step in steps.items():
        begin = time.perf_counter()
        step()
        taken[name] = time.perf_counter() - begin
        if progress is not None:
            progress(name, taken[name])
    return taken


def _jobs(number: int) -> Workload:
    submit = 10 * np.arange(number)
    columns = {"submit_time": submit, "run_time": 25 + submit % 7, "requested_time": np.full(number, 60)}
    columns |= {"requested_processors": 1 + submit % 5, "user_id": submit % 3}
    return Workload.from_columns(columns, processors=8)
