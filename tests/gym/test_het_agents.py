"""Heterogeneous jobs that agents start, or a hand: whoever chooses a component chooses the whole job."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
from agent_samples import linear_network, random_network, saved

import schedlab as sl
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.simulation import simulate
from schedlab.engine.steps.stepwise import Simulation
from schedlab.workload.resources import Labels, Resources

FIRST = linear_network(is_waiting=-10, wait=1)
"""An agent that starts the job that was submitted first, of those that fit, and never waits for others."""


def jobs_of(rows, names, **more):
    """Return jobs given as submission, run time, processors."""
    submit, run_time, processors = zip(*rows, strict=True)
    columns = {"submit_time": submit, "run_time": run_time, "requested_time": run_time}
    resources = Resources.of(len(rows), tasks=processors, het_job=names)
    return sl.Workload.from_columns(columns | {"requested_processors": processors}, resources=resources, **more)


def random_jobs(random, **more):
    """Return jobs of which some are components, no job wider than six processors."""
    rows, names, second = [], [], 0
    for number in range(14):
        second += random.randint(0, 8)
        parts = random.choice([1, 1, 2, 3])
        rows += [(second, random.randint(1, 30), random.choice([1, 1, 2])) for _ in range(parts)]
        names += [None if parts == 1 else str(number)] * parts
    return jobs_of(rows, names, **more)


def first_that_fit(jobs):
    """Return when jobs start if in each second with an event the first that fit do; all of one together."""
    names = [name or row for row, name in enumerate(jobs.resources.het_job.texts())]
    groups = {name: [row for row, one in enumerate(names) if one == name] for name in names}
    width, length, submit = (getattr(jobs, name).tolist() for name in ("job_processors", "run_time", "submit_time"))
    start: dict[int, int] = {}
    for _ in range(10_000):
        moments = {*submit, *(second + length[row] for row, second in start.items())}
        for now in sorted(moments):
            used = sum(width[row] for row, second in start.items() if second <= now < second + length[row])
            begun = next(
                (
                    rows
                    for rows in groups.values()
                    if rows[0] not in start
                    and submit[rows[0]] <= now
                    and used + sum(width[row] for row in rows) <= jobs.processors
                ),
                None,
            )
            if begun is not None:
                start |= dict.fromkeys(begun, now)
                break
        else:
            return [start[row] for row in range(len(jobs))]
    raise AssertionError


def check_processors(agent, seed):
    """Compare an agent that starts the first that fit with a plain computation, on processors."""
    jobs = random_jobs(Random(seed), processors=6)
    assert simulate(jobs, agent).start_time.tolist() == first_that_fit(jobs), seed


def check_nodes(agent, seed):
    """Look at the schedule of an agent on nodes, with or without partitions: components start together and apart."""
    jobs = random_jobs(Random(seed))
    names = ("n1", "n2", "n3", "n4")
    partitions = [Partition("some", names, default=True), Partition("few", names[:2])] if seed % 3 else []
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-4]", cores=3)], partitions)
    if partitions:
        where = [("some", "some", "few,some")[row % 3] for row in range(len(jobs))]
        jobs = jobs.replace(resources=replace(jobs.resources, partition=Labels.of(where)))
    schedule = simulate(jobs, agent, cluster=cluster)
    place, codes = schedule.placement, jobs.resources.het_job.codes
    for code in range(codes.max() + 1):
        rows = np.flatnonzero(codes == code)
        assert len(set(schedule.start_time[rows].tolist())) == 1, seed
        nodes = [set(place.node[place.offsets[row] : place.offsets[row + 1]].tolist()) for row in rows]
        assert len(set.union(*nodes)) == sum(map(len, nodes)), seed
    for row, now in enumerate(schedule.start_time.tolist()):
        runs = np.flatnonzero((schedule.start_time <= now) & (schedule.end_time > now))
        held = np.zeros(4, dtype=np.int64)
        for one in runs.tolist():
            part = slice(place.offsets[one], place.offsets[one + 1])
            np.add.at(held, place.node[part], place.held_cores[part])
        assert held.max(initial=0) <= 3, (seed, row)


def compare():
    """Run many random workloads; print how many."""
    with tempfile.TemporaryDirectory() as name:
        first = f"@agent:{saved(Path(name), FIRST)}"
        other = f"@agent:{saved(Path(name), random_network(3), 'other.json')}"
        for seed in range(150):
            check_processors(first, seed)
            check_nodes(first if seed % 2 else other, seed)
    print(150)


def test_agents_start_all_components_of_a_job_together():
    from plain_process import number_printed  # not where this module runs as a program

    assert number_printed(__file__, "") == 150


def test_who_starts_a_component_by_hand_starts_the_whole_job():
    # The first job has n1 until 50, the second waits for all nodes; the two components fit on n2 and n3.
    jobs = jobs_of([(0, 50, 2), (1, 20, 6), (2, 70, 1), (2, 70, 1), (3, 9, 2)], [None, None, "h", "h", None])
    simulation = Simulation(jobs, "fcfs", cluster=Cluster.of_nodes([NodeGroup.of("n[1-3]", cores=2)]))
    while simulation.now < 2:
        assert simulation.next_decision()
    assert simulation.startable.tolist() == [2, 3]
    simulation.start(3)
    assert simulation.waiting.tolist() == [1]
    while simulation.next_decision():
        pass
    schedule = simulation.schedule()
    assert schedule.start_time.tolist() == [0, 72, 2, 2, 92]
    assert schedule.backfilled.tolist()[2:4] == [True, True]
    assert len(set(schedule.placement.node[-3:-1].tolist())) == 2


def test_a_component_is_refused_by_hand_where_the_others_do_not_fit():
    jobs = jobs_of([(0, 50, 2), (1, 20, 6), (2, 70, 1), (2, 70, 1), (2, 70, 1)], [None, None, "h", "h", "h"])
    simulation = Simulation(jobs, "fcfs", cluster=Cluster.of_nodes([NodeGroup.of("n[1-3]", cores=2)]))
    simulation.run(3)
    assert simulation.waiting.tolist() == [1, 2, 3, 4]
    assert simulation.startable.tolist() == []


if __name__ == "__main__":
    compare()
