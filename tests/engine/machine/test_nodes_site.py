"""Partitions and limits: cases by hand, and what holds for every schedule of the plain engine."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from node_cases import Shape, node_inputs, node_workloads, on_nodes
from site_cases import site_of
from test_nodes_against_twin import simulate

from schedlab.engine.machine.numbers import UNLIMITED, NodeInputs
from schedlab.engine.reference.simulate import play, replay
from schedlab.workload.workload import Workload

SCHEDULERS = [
    "fcfs",
    "saf+easy",
    "fcfs+easy@actual",
    "fcfs+conservative",
    "fcfs+slurm(interval=4,resolution=3,delay=2)",
]


def nodes_of(cores, widths, allowed, eligible) -> NodeInputs:
    """Return nodes of so many cores, and a request of one task for each job."""
    count = len(cores)
    cluster = {
        "cores": cores,
        "memory": [UNLIMITED] * count,
        "weight": [1] * count,
        "gpus": [0] * count,
        "types": [],
        "allowed": allowed,
    }
    shapes = [Shape(0, 1, task_cores=width, eligible=row) for width, row in zip(widths, eligible, strict=True)]
    return node_inputs(cluster, shapes, list(range(len(shapes))), 0)


def jobs_of(rows, processors) -> Workload:
    """Return jobs of submit time, run time and cores."""
    submit, run, width = zip(*rows, strict=True)
    columns = {"submit_time": submit, "run_time": run, "requested_time": run, "requested_processors": width}
    return Workload.from_columns(columns, processors=processors)


def starts(workload, nodes, site, scheduler):
    """Return when jobs start, by the plain engine and by the compiled one."""
    plain = replay(on_nodes(workload, nodes, scheduler)._replace(limits=site)).start_time.tolist()
    compiled, _ = simulate(on_nodes(workload, nodes, scheduler)._replace(limits=site))
    assert compiled.start_time.tolist() == plain
    return plain


def test_a_blocked_partition_does_not_block_another():
    """Nodes a (p) and b (q). Job 2 waits for a; job 3, behind it, starts on b at once, also without backfilling."""
    workload = jobs_of([(0, 100, 4), (5, 50, 4), (10, 30, 4)], 8)
    rows = [[True, False], [False, True]]
    nodes = nodes_of([4, 4], [4, 4, 4], rows, [0, 0, 1])
    site = site_of(rows, [1, 1], [[(0, 0)], [(0, 1)], [(1, 2)]])
    assert starts(workload, nodes, site, "fcfs") == [0, 100, 10]
    assert starts(workload, nodes, site, "fcfs+easy") == [0, 100, 10]
    assert starts(workload, nodes, None, "fcfs") == [0, 100, 100]


def test_a_blocked_partition_keeps_the_nodes_that_it_shares():
    """Partition p has a and b, q has b and c, 4 cores each.

    Job 1 runs on a until 100, job 2 on c until 60. Job 3 (p) needs 4 cores on... both a and b are in p, b is free: so
    it takes b. Job 4 (p) is blocked then, and closes a and b. Job 5 (q) may use c only, at 60. At 80 job 3 leaves b to
    job 4.
    """
    workload = jobs_of([(0, 100, 4), (0, 60, 4), (0, 80, 4), (5, 50, 4), (10, 30, 4)], 12)
    p, q = [True, True, False], [False, True, True]
    nodes = nodes_of([4, 4, 4], [4] * 5, [p, q, [False, False, True]], [0, 2, 0, 0, 1])
    site = site_of([p, q], [1, 1], [[(0, 0)], [(1, 1)], [(0, 2)], [(0, 3)], [(1, 4)]])
    assert starts(workload, nodes, site, "fcfs") == [0, 0, 0, 80, 60]


def test_the_higher_tier_goes_first_and_a_job_tries_its_partitions_in_order():
    """Both partitions have both nodes; q has the higher tier. At 100 the job of q passes one that came before."""
    workload = jobs_of([(0, 100, 4), (0, 100, 4), (5, 50, 4), (10, 50, 4), (20, 50, 4)], 8)
    both = [True, True]
    nodes = nodes_of([4, 4], [4] * 5, [both], [0] * 5)
    site = site_of([both, both], [1, 5], [[(0, 0)], [(0, 1)], [(0, 2)], [(0, 3)], [(1, 4)]])
    assert starts(workload, nodes, site, "fcfs") == [0, 0, 100, 150, 100]


def test_every_partition_has_a_reservation_under_easy():
    """Nodes a (p) and b (q) of 4 cores. Job 1 has 3 of a until 100, job 2 has 3 of b until 60.

    Jobs 3 (p) and 4 (q) need whole nodes: a at 100, b at 60. One core is free on each. Job 5 may run on both, 80 s: on
    b it would be in the way of job 4 at 60, on a it ends at 90, before job 3: a. Job 6, 60 s at 20: the core of b is
    needed at 60, a has none. At 60 job 4 has b until 110. At 90 job 5 ends; job 6 would be in the way of job 3 at 100.
    So at 110 on b. Without backfilling jobs 5 and 6 find both nodes closed until jobs 3 and 4 have started, at 100;
    a and b are full then: b is free at 110.
    """
    workload = jobs_of([(0, 100, 3), (0, 60, 3), (5, 50, 4), (5, 50, 4), (10, 80, 1), (20, 60, 1)], 8)
    p, q, both = [True, False], [False, True], [True, True]
    nodes = nodes_of([4, 4], [3, 3, 4, 4, 1, 1], [p, q, both], [0, 1, 0, 1, 2, 2])
    options = [[(0, 0)], [(1, 1)], [(0, 2)], [(1, 3)], [(2, 4)], [(2, 5)]]
    site = site_of([p, q, both], [1, 1, 1], options)
    assert starts(workload, nodes, site, "fcfs+easy") == [0, 0, 100, 60, 10, 110]
    assert starts(workload, nodes, site, "fcfs") == [0, 0, 100, 60, 110, 110]


def test_a_limit_of_jobs_lets_others_pass():
    """One job of the account at a time. Job 2 is passed over, job 3 of somebody else starts; both say why they wait."""
    workload = jobs_of([(0, 100, 1), (5, 50, 1), (10, 30, 1), (20, 10, 4)], 4)
    nodes = nodes_of([4], [1, 1, 1, 4], [[True]], [0] * 4)
    limits = [(1, False, "AssocGrpJobsLimit")]
    site = site_of([[True]], [1], [[(0, job)] for job in range(4)], limits, [[(0, 1)], [(0, 1)], [], []])
    assert starts(workload, nodes, site, "fcfs") == [0, 100, 10, 150]
    prepared = on_nodes(workload, nodes, "fcfs")._replace(limits=site)
    clock = play(prepared)
    assert [job.start for job in clock.jobs] == [0, 100, 10, 150]
    assert clock.limits.waited[clock.jobs[1]] == {"AssocGrpJobsLimit": 95}
    assert clock.limits.waited[clock.jobs[3]] == {"Resources": 130}


def test_a_job_that_comes_to_a_limit_keeps_no_others_waiting_any_more():
    """Nodes a (p) and b (q) of 4 cores. Job 1 has 3 of a until 100. At 5 come jobs 2 (4 of p), 3 (1 of p) and 4 (q).

    Jobs 2 and 4 are of an account that may run one job. Job 2 waits for a, and keeps job 3 waiting; then job 4 starts.
    Job 2 is at the limit now, is passed over, and so job 3 starts, too.
    """
    workload = jobs_of([(0, 100, 3), (5, 50, 4), (5, 30, 1), (5, 50, 4)], 8)
    rows = [[True, False], [False, True]]
    nodes = nodes_of([4, 4], [3, 4, 1, 4], rows, [0, 0, 0, 1])
    options = [[(0, 0)], [(0, 1)], [(0, 2)], [(1, 3)]]
    site = site_of(rows, [1, 1], options, [(1, False, "AssocGrpJobsLimit")], [[], [(0, 1)], [], [(0, 1)]])
    assert starts(workload, nodes, site, "fcfs") == [0, 100, 5, 5]
    assert starts(workload, nodes, site, "lqf") == [0, 100, 5, 5]


def test_a_limit_of_cores_and_one_of_core_seconds():
    """The group may have 4 cores: jobs 1 (3) and 2 (1), so job 3 (1) waits until 60; job 4 is of another group.

    With 400 core-seconds to come: job 1 has 3 × 100, job 2 60: together 360. Job 3 (1 × 50) would make it 410 at 0; at
    4, when 16 of them are used up, it fits: 394. But only an event asks again: the submission of job 4, at 10.
    """
    workload = jobs_of([(0, 100, 3), (0, 60, 1), (0, 50, 1), (10, 10, 1)], 8)
    nodes = nodes_of([8], [3, 1, 1, 1], [[True]], [0] * 4)
    uses = [[(0, 3)], [(0, 1)], [(0, 1)], []]
    options = [[(0, job)] for job in range(4)]
    cores = site_of([[True]], [1], options, [(4, False, "AssocGrpCpuLimit")], uses)
    seconds = site_of([[True]], [1], options, [(400, True, "AssocGrpCPURunMinutesLimit")], uses)
    assert starts(workload, nodes, cores, "fcfs+easy") == [0, 0, 60, 10]
    assert starts(workload, nodes, seconds, "fcfs+easy") == [0, 0, 10, 10]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(case=node_workloads(), seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_no_limit_is_ever_exceeded_and_every_second_of_waiting_has_a_reason(scheduler, case, seed):
    workload, nodes = case
    random = Random(seed)
    rows = [[True] * len(nodes.cores)] * 2
    widths = workload.job_processors.tolist()
    limits = [(max(widths), False, "cores"), (2, False, "jobs"), (60 * max(widths), True, "seconds")]
    options = [[(random.randrange(2), shape)] for shape in nodes.shape.tolist()]
    uses = [
        [*([(0, width)] if random.random() < 0.5 else []), *([(1, 1)] if random.random() < 0.5 else []), (2, width)]
        for width in widths
    ]
    site = site_of(rows, [1, random.randint(1, 2)], options, limits, uses)
    clock = play(on_nodes(workload, nodes, scheduler)._replace(limits=site))
    for second in {job.start for job in clock.jobs}:
        running = [job for job in clock.jobs if job.start <= second < job.completion[0]]
        for number, most in ((0, max(widths)), (1, 2)):
            assert sum(dict(uses[job.number]).get(number, 0) for job in running) <= most
    for job in clock.jobs:
        assert sum(clock.limits.waited.get(job, {}).values()) == job.start - workload.submit_time[job.number]
