"""Jobs that wait when nothing can happen any more: the simulation ends, and says which they are and why.

Both engines, the compiled one as plain Python. It has to end although Slurm's passes and the computation of priorities
come round for as long as jobs wait.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from features import UNIFORM
from plain_process import number_printed

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Accounting, Limits, QosLimits
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.jobs_that_never_start import refuse_left_over
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.speculate.requests import Requests
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.workload import Workload

SCHEDULERS = (
    "fcfs",
    "wfp3+easy",
    "fcfs+conservative",
    "fcfs+conservative,reservations=fixed",
    "fcfs+slurm",
    "wfp3+slurm",
    "fcfs+easy,starvation=5",
    "multifactor(age=1000,period=60)",
    "multifactor(age=1000,period=60)+easy",
    "multifactor(age=1000,period=60)+conservative",
    "multifactor(age=1000,period=60)+slurm",
)

NODES = "too few of the nodes or GPUs that went down came back: add up events"
LIMIT = (
    "job 1, expected to run for 135 s, is beyond a limit by itself (QOSGrpCPURunMinutesLimit): raise the limit, or let "
    "jobs whose requests fail be abandoned (exhausted=give-up)"
)


def message(engine, workload, scheduler, **options):
    """Return what an engine says against a simulation."""
    prepared = prepare(workload, scheduler, **options)
    run = partial(replay, prepared) if engine == "twin" else partial(simulate, workload, scheduler, **options)
    with pytest.raises(InputError) as caught:
        run()
    return str(caught.value)


def workload(*jobs):
    """Return jobs given as processors, run time and limit, submitted in the first second."""
    processors, run, limit = np.array(jobs).T
    columns = {"submit_time": 0 * run, "requested_processors": processors, "run_time": run, "requested_time": limit}
    return Workload.from_columns(columns)


def check_outage(engine, scheduler, left):
    """One of two nodes goes down and stays there: job 1 needs both, job 2 has the other one, if it is seen."""
    cluster = Cluster.of_nodes([NodeGroup(("n1", "n2"), cores=1)])
    down = NodeEvents((NodeEvent(0, "down", ("n1",)),))
    said = message(engine, workload((2, 50, 50), (1, 20, 20)), scheduler, cluster=cluster, node_events=down)
    assert said == f"{left} never started, the first is job 1: {NODES}", (engine, scheduler, said)


def check_limit(engine, scheduler, events):
    """Requests grow from 60 s to 90 s and 135 s, of which a limit of one core-minute, 119 s to Slurm, lets two begin.

    When it has failed twice, job 1 asks for 135 s; it needs 100 s. Job 2 waits for it; job 3 runs.
    """
    cluster = Cluster.of_nodes([NodeGroup(("n1",), cores=1)], [Partition("batch", default=True, qos="small")])
    small = QosLimits("small", limits=Limits(grp_tres_run_mins=(("cpu", 1),)))
    cluster = replace(cluster, accounting=Accounting(qos=(QosLimits("normal"), small)))
    jobs = workload((1, 100, 60), (1, 10, 10), (1, 10, 10))
    jobs = jobs.replace(dependencies=Dependencies.from_pairs([1], [0], [0], jobs=3))
    none = np.full(3, -1)
    growing = Requests(np.arange(4), np.array([60, 10, 10]), np.full(3, 500), np.full(3, 1.5), none, none, 0, UNIFORM)
    said = message(engine, jobs, scheduler, cluster=cluster, requests=growing, node_events=events)
    assert said == f"2 jobs never started, the first is job 1: {LIMIT}", (engine, scheduler, said)


def check_window(engine, scheduler):
    """As before, and job 2 is behind the window."""
    if "+slurm" not in scheduler:
        check_outage(engine, f"{scheduler},window=1", "2 jobs")


CASES = {
    "outage": lambda engine, scheduler: check_outage(engine, scheduler, "1 job"),
    "outage, window": check_window,
    "limit": lambda engine, scheduler: check_limit(engine, scheduler, None),
    "limit, with node events": lambda engine, scheduler: check_limit(
        engine, scheduler, NodeEvents((NodeEvent(5, "drain", ("n1",)), NodeEvent(7, "up", ("n1",))))
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_simulation_ends_when_only_jobs_are_left_that_can_never_start_and_says_why(case):
    assert number_printed(__file__, case) == 2 * len(SCHEDULERS)


def test_a_job_that_a_fault_of_ours_has_forgotten_is_told_as_such():
    columns = {"submit_time": [0, 0], "run_time": [9, 9], "requested_time": [9, 9], "requested_processors": [1, 1]}
    prepared = prepare(Workload.from_columns(columns, processors=2), "fcfs")
    refuse_left_over(prepared, np.array([0, 0]), prepared.jobs["estimate"])
    with pytest.raises(InputError, match=r"1 job never started, the first is job 2: .* a fault of schedlab: please"):
        refuse_left_over(prepared, np.array([0, -1]), prepared.jobs["estimate"])


if __name__ == "__main__":
    import sys

    for scheduler in SCHEDULERS:
        for engine in ("compiled", "twin"):
            CASES[sys.argv[1]](engine, scheduler)
    print(2 * len(SCHEDULERS))
