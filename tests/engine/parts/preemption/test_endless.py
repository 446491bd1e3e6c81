"""Jobs that preempt each other for ever: one sentence, in the engine and its reference.

A real slurmctld 22.05 goes on: with two QOS in a circle, which only files of its state can have, two jobs preempted
each other for eleven hours, every 150 or 180 seconds, until it was stopped.
"""

from __future__ import annotations

import pytest

from schedlab.cluster import NodeGroup, Partition, Preemption
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Accounting, QosLimits
from schedlab.engine.parts.preemption import endless
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

MESSAGE = (
    r"^preemption never ends: job 1 \(QOS low\), job 3 \(QOS low\) gave way again and again, more than 40 times since "
    "second {}, while no job ended and nothing else happened: let jobs that preempt stand before"
)


def machine(grace=200):
    """Return one node on which high preempts low."""
    return Cluster.of_nodes(
        [NodeGroup.of("n1", cores=1)],
        [Partition("all", default=True)],
        preemption=Preemption("qos", exempt_time=29),
        accounting=Accounting((QosLimits("low", grace_time=grace), QosLimits("high", preempts=("low",)))),
    )


def workload(*more):
    """Return job 2, which preempts and is the last by its request, jobs 1 and 3, which give way, and others."""
    jobs = [(0, 600, 600, "low"), (10, 600, 900, "high"), (50, 600, 600, "low"), *more]
    submit, run, limit, qos = zip(*jobs, strict=True)
    columns = {"submit_time": submit, "run_time": run, "requested_time": limit, "requested_processors": [1] * len(jobs)}
    return Workload.from_columns(columns, resources=Resources.of(len(jobs), qos=qos))


@pytest.fixture
def few_times(monkeypatch):
    monkeypatch.setattr(endless, "PATIENCE", 40)


@pytest.mark.usefixtures("few_times")
@pytest.mark.parametrize("scheduler", ["sjf+easy", "sjf"])
def test_jobs_that_preempt_each_other_for_ever_are_named(scheduler):
    """While one has its grace time, the other is back before the job that preempts, and gets the place."""
    with pytest.raises(InputError, match=MESSAGE.format(50)):
        replay(prepare(workload(), scheduler, cluster=machine()))


@pytest.mark.usefixtures("few_times")
def test_the_engine_says_the_same_as_its_twin():
    with pytest.raises(InputError, match=MESSAGE.format(50)):
        simulate(workload(), "sjf+easy", cluster=machine())


@pytest.mark.usefixtures("few_times")
def test_what_is_still_to_come_could_end_it():
    """Until the last submission, and the end of the job that is submitted then, nothing is said."""
    late = (20_000, 50, 60, "high")
    with pytest.raises(InputError, match=MESSAGE.format(r"20\d\d\d")):
        replay(prepare(workload(late), "sjf+easy", cluster=machine()))


def test_slurm_lets_a_job_go_before_those_that_it_preempts_so_that_preemption_ends():
    schedule = replay(prepare(workload(), "sjf+slurm", cluster=machine()))
    assert schedule.runs["done"].sum() == 3


def test_without_a_grace_time_the_job_that_preempts_gets_the_place():
    schedule = replay(prepare(workload(), "sjf+slurm", cluster=machine(0)))
    assert schedule.runs["done"].sum() == 3


def test_qos_that_preempt_each_other_in_a_circle_are_refused():
    """Slurm's database says "QOS Preemption loop detected"; a QOS may name itself, which has no effect."""
    below = {"a": "b", "b": "bc", "c": "d", "d": "be", "e": "e"}
    with pytest.raises(InputError, match=r"in a circle.*: b preempts c, which preempts d, which preempts b; let one"):
        Accounting(tuple(QosLimits(name, preempts=tuple(names)) for name, names in below.items()))
