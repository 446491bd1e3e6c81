"""Partitions and limits in the engine against its reference: every feature under every backfilling on nodes.

The engine runs as plain Python: the same code without compilation.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from cluster_cases import random_cluster, random_events, random_jobs
from features import GROUPS, outcome, random_simulation, setting
from laws import assert_laws_hold
from node_cases import on_nodes, random_nodes, rows_of
from plain_process import number_printed
from random_seeds import one_in, seeds
from site_cases import random_associations, random_site, with_whole_nodes
from test_nodes_against_twin import replayed, simulate

from schedlab.engine.parts.limits.machine_inputs import never_runs
from schedlab.engine.prepared import prepare
from schedlab.errors import InputError
from schedlab.workload.resources import Labels

SEEDS = {"none": 3, "easy": 3, "easy:ORDER": 2, "conservative": 1, "fixed": 1, "slurm": 1, "slurm, every event": 1}
"""How many workloads, by backfilling."""

SLOW = ("fixed", "slurm", "slurm, every event")
"""Where plain Python takes long: every third feature."""

ONCE = {
    "conservative": [(("starvation", "window", "multifactor"), 20450)],
    "slurm": [(("requests",), 10033)],
}
"""Workloads for which they once differed, which only many more would show."""

TOGETHER = (
    "fcfs",
    "saf",
    "multifactor(age=1000,size=1000)",
    "-w*p",
    "fcfs,starvation=30",
    "fcfs+easy",
    "fcfs+conservative",
    "fcfs+slurm",
)
"""Schedulers of jobs that are submitted many at once."""

CROWDS = 60
"""How many workloads of such jobs."""

FEATURES = [(), *((feature,) for group in GROUPS for feature in group if feature != "pyss")]


def check(backfilling, features, seed):
    """Simulate a random workload on random partitions with the engine and its reference; return if it can be done."""
    try:
        case = setting(backfilling, features)
    except InputError:
        return False
    if case.refused:
        return False
    workload, options = random_simulation(case, seed)
    random = Random(seed)
    rows = rows_of(workload)
    nodes, site = random_site(rows, random_nodes(rows, random, scheduler=case.scheduler), random)
    draw = Random(f"{backfilling}, {features}, {seed}")
    if draw.random() < 0.5:  # jobs for which Slurm's backfill pass reserves nothing
        site = site._replace(reserves=np.array([draw.random() < 0.7 for _ in rows]))

    def prepared():
        made = on_nodes(workload, nodes, case.scheduler, **options)._replace(limits=site)
        return made if made.associations is None else made._replace(associations=tree)

    tree = random_associations(random, on_nodes(workload, nodes, case.scheduler, **options).jobs["processors"])
    if draw.random() < 0.5:
        tree = tree._replace(rate=with_whole_nodes(tree.rate, draw, len(nodes.cores)))
    schedule, held = simulate(prepared())
    plain, expected = replayed(prepared())
    what = f"{case.scheduler}, {features}, seed {seed}"
    assert outcome(schedule) == outcome(plain), what
    assert held == expected, what
    assert reasons_of(schedule) == reasons_of(plain), what
    return True


def check_together(scheduler, seed):
    """Compare jobs of users under limits, of which many are submitted together, some with node events."""
    random = Random(seed)
    cluster = random_cluster(random)
    jobs = random_jobs(random, cluster)
    accounts = Labels.of([random.choice(["a", "a", ""]) for _ in range(len(jobs))])
    jobs = jobs.replace(submit_time=jobs.submit_time // 60 * 60, resources=replace(jobs.resources, account=accounts))
    if seed % 2 == 0:
        named = Labels.of([random.choice(["", "", "", "n1", "n[2-3]", "g1,n1"]) for _ in range(len(jobs))])
        jobs = jobs.replace(resources=replace(jobs.resources, nodelist=named))
    jobs = jobs[np.flatnonzero(never_runs(jobs, cluster).codes < 0)]
    events = random_events(random, cluster) if seed % 3 == 0 else None
    (schedule, held), (plain, expected) = (
        play(prepare(jobs, scheduler, cluster=cluster, node_events=events)) for play in (simulate, replayed)
    )
    what = f"{scheduler}, seed {seed}"
    assert outcome(schedule) == outcome(plain), what
    assert held == expected, what
    assert reasons_of(schedule) == reasons_of(plain), what
    assert_laws_hold(schedule, cluster, events)
    return True


def reasons_of(schedule):
    return {reason: seconds.tolist() for reason, seconds in schedule.waited_for.items()}


@pytest.mark.parametrize("backfilling", one_in(2, SEEDS))
def test_the_engine_with_partitions_and_limits_equals_its_twin(backfilling):
    assert number_printed(__file__, backfilling) >= 6 * SEEDS[backfilling], "hardly anything was compared"


@pytest.mark.parametrize("scheduler", one_in(3, TOGETHER))
def test_jobs_under_limits_that_come_together_are_scheduled_as_in_the_twin(scheduler):
    assert number_printed(__file__, f"together {scheduler}") == CROWDS


def number_of_cases(backfilling):
    """Compare every feature; return how many workloads could be simulated."""
    compared = FEATURES[:: 3 if backfilling in SLOW else 1]
    cases = [(features, seed) for features in compared for seed in seeds(SEEDS[backfilling])]
    return sum(check(backfilling, *case) for case in [*cases, *ONCE.get(backfilling, ())])


if __name__ == "__main__":
    _, together, scheduler = sys.argv[1].rpartition("together ")
    print(sum(check_together(scheduler, seed) for seed in seeds(CROWDS)) if together else number_of_cases(sys.argv[1]))
