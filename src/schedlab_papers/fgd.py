"""ATC'23: how much of a GPU cluster each rule of placement can allocate, as its authors' simulator has it and as ours.

Pods arrive one after the other and stay; one that finds no room is gone. What share of the GPUs is in use when pods
for a percentage of them have arrived?

References
----------
Weng, Yang, Yu, Wang, Tang, Yang and Zhang, "Beware of fragmentation: scheduling GPU-sharing workloads with
fragmentation gradient descent", USENIX ATC 2023, section 6, and the results published with its program.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from schedlab import Simulation, Workload
from schedlab_papers.fgd_pods import (
    FOLDER,
    NODES,
    POD_LISTS,
    PUBLISHED,
    Machines,
    PodList,
    arrivals,
    curve,
    pods_of,
    published,
    read_machines,
    read_pods,
)
from schedlab_papers.fgd_rules import POLICIES, ever_fits, place
from schedlab_papers.reproduction import (
    Part,
    Reproduction,
    Reproductions,
    Row,
    TextTable,
    chosen,
    missing,
    require_some,
)

__all__ = ["POD_LISTS", "reproduce"]

SHOWN = (100, 130)
"""Arrived loads of the tables, in per cent."""

OWN_SHOWN = (80, 90, 100, 110, 120, 130)
OWN_RULES = ("weight", "first", "best", "spread", "fgd")
"""Rules of schedlab's engine; "weight" without weights is "first"."""

FOREVER = 10**8
"""Seconds that a pod runs: no pod ends while others arrive, one a second."""

FIRST, RANDOM = 0, 1

Curves = dict[tuple[str, int], NDArray[np.float64]]
"""Curves, runs by loads, by policy and by how ties are broken."""


def reproduce(traces: Path, *, logs: Iterable[str] = (), runs: int = 5) -> Reproductions:
    """Repeat the packing of those lists of pods that are there.

    Parameters
    ----------
    traces
        Directory with the lists, their nodes and the published results.
    logs
        Names of lists, as in `POD_LISTS`; none are all.
    runs
        How often pods are drawn and placed, by different seeds; the authors did it ten times.

    Returns
    -------
    Reproductions
        The authors' rules beside their results, a table per list, and the rules of schedlab's engine.

    Raises
    ------
    InputError
        If none of the lists is there or one cannot be read, or if the paper has no list of such a name.
    """
    wanted = chosen(POD_LISTS, logs, "ATC'23")
    require_some(traces, (pods.file for pods in wanted))
    require_some(traces, [f"{FOLDER}/{NODES}"])
    require_some(traces, [f"{FOLDER}/{PUBLISHED}"])
    theirs, machines = published(traces), read_machines(traces)
    tables: list[Part] = []
    for pods in wanted:
        if not (traces / pods.file).is_file():
            tables.append(Reproduction(f"ATC'23, {pods.name}", "", (missing(pods.name, pods.file),)))
            continue
        jobs = read_pods(traces, pods)
        tables += [
            packing_table(pods, curves(jobs, machines, runs), theirs),
            own_table(pods, jobs, machines),
        ]
    return Reproductions(tuple(tables))


def curves(jobs: Workload, machines: Machines, runs: int) -> Curves:
    """Return the share of GPUs in use by arrived load, under each rule of the authors."""
    pods = pods_of(jobs, machines)
    found: Curves = {}
    for policy in POLICIES:
        for which in (FIRST, RANDOM):
            lines = []
            for run in range(runs):
                order = arrivals(pods, machines, np.random.default_rng([run]))
                rng = np.random.default_rng([run, POLICIES.index(policy)])
                placed = place(pods, order, machines, policy, rng, ties="random" if which == RANDOM else "first")
                lines.append(curve(pods.load[order], placed, machines.all_gpus))
            found[policy, which] = np.array(lines)
    return found


def packing_table(pods: PodList, ours: Curves, theirs: dict[tuple[str, str], NDArray[np.float64]]) -> Reproduction:
    """Return the means over runs beside the authors', and count those that differ by no more than two errors."""
    rows, near = [], 0
    for load in SHOWN:
        for policy in POLICIES:
            sample, other = ours[policy, FIRST][:, load], theirs[pods.workload, policy][:, load]
            near += abs(sample.mean() - other.mean()) <= 2 * float(np.hypot(_error(sample), _error(other)))
            rows.append(
                Row(
                    f"{pods.name}, {load} % arrived",
                    policy,
                    round(float(other.mean()), 2),
                    ours=float(sample.mean()),
                    alternative=float(ours[policy, RANDOM][:, load].mean()),
                )
            )
    title = f"ATC'23, {pods.name}: GPUs in use, per cent"
    return Reproduction(
        f"{title}; {near} of {len(rows)} within two standard errors of the difference", "ties drawn", tuple(rows)
    )


def _error(sample: NDArray[np.float64]) -> float:
    """Return the standard error of a mean; with one run, that of the authors' scatter is all there is."""
    return float(sample.std(ddof=1) / np.sqrt(len(sample))) if len(sample) > 1 else 0.0


def own_table(pods: PodList, jobs: Workload, machines: Machines) -> TextTable:
    """Return the same of the rules of schedlab's engine, for the pods of the first run.

    Pods that would not fit empty nodes, which the engine refuses, count as arrived and find no room.
    """
    asked = pods_of(jobs, machines)
    order = arrivals(asked, machines, np.random.default_rng([0]))
    fits = ever_fits(asked, machines)[order]
    arriving = _one_a_second(jobs, order[fits], machines)
    rows: list[tuple[str | float, ...]] = []
    for rule in OWN_RULES:
        placed = np.zeros(len(order), dtype=np.bool_)
        placed[fits] = placed_by_engine(arriving, machines, rule)
        found = curve(asked.load[order], placed, machines.all_gpus)
        rows.append((rule, *(float(found[load]) for load in OWN_SHOWN)))
    columns = ("placement", *(f"{load} %" for load in OWN_SHOWN))
    return TextTable(f"ATC'23, {pods.name}: GPUs in use under schedlab's rules, by arrived load", columns, tuple(rows))


def _one_a_second(jobs: Workload, order: NDArray[np.intp], machines: Machines) -> Workload:
    """Return pods that arrive in an order, one a second, and never end."""
    count = len(order)
    forever = np.full(count, FOREVER)
    return jobs[order].replace(
        submit_time=np.arange(count),
        run_time=forever,
        requested_time=forever,
        processors=machines.cluster.processors,
    )


def placed_by_engine(arriving: Workload, machines: Machines, rule: str) -> NDArray[np.bool_]:
    """Return which pods the engine places: each on its arrival, if it fits, whoever waits before it."""
    simulation = Simulation(arriving, f"fcfs,placement={rule}", cluster=machines.cluster)
    while simulation.next_decision(until=len(arriving)):
        simulation.start(int(simulation.startable[0]))
    placed = np.zeros(len(arriving), dtype=np.bool_)
    placed[simulation.running] = True
    return placed
