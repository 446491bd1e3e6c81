"""Partitions and limits in the engine against its plain twin: every feature under every backfilling on nodes.

The engine runs as plain Python: the same code without compilation.
"""

from __future__ import annotations

import sys
from random import Random

import pytest
from features import GROUPS, outcome, random_simulation, setting
from node_cases import on_nodes, random_nodes, rows_of
from plain_process import number_printed
from site_cases import random_associations, random_site
from test_nodes_against_twin import replayed, simulate

from schedlab.errors import InputError

SEEDS = {"none": 3, "easy": 3, "easy:ORDER": 2, "conservative": 1, "fixed": 1, "slurm": 1, "slurm, every event": 1}
"""How many workloads, by backfilling."""

SLOW = ("fixed", "slurm", "slurm, every event")
"""Where plain Python takes long: every third feature."""

FEATURES = [(), *((feature,) for group in GROUPS for feature in group if feature != "pyss")]


def check(backfilling, features, seed):
    """Simulate a random workload on random partitions with the engine and its twin; return whether it can be done."""
    try:
        case = setting(backfilling, features)
    except InputError:
        return False
    if case.refused:
        return False
    workload, options = random_simulation(case, seed)
    random = Random(seed)
    rows = rows_of(workload)
    nodes, site = random_site(rows, random_nodes(rows, random), random)

    def prepared():
        made = on_nodes(workload, nodes, case.scheduler, **options)._replace(site=site)
        return made if made.associations is None else made._replace(associations=tree)

    tree = random_associations(random, on_nodes(workload, nodes, case.scheduler, **options).jobs["processors"])
    schedule, held = simulate(prepared())
    plain, expected = replayed(prepared())
    what = f"{case.scheduler}, {features}, seed {seed}"
    assert outcome(schedule) == outcome(plain), what
    assert held == expected, what
    assert reasons_of(schedule) == reasons_of(plain), what
    return True


def reasons_of(schedule):
    return {reason: seconds.tolist() for reason, seconds in schedule.waited_for.items()}


@pytest.mark.parametrize("backfilling", SEEDS)
def test_the_engine_with_partitions_and_limits_equals_its_twin(backfilling):
    assert number_printed(__file__, backfilling) >= 6 * SEEDS[backfilling], "hardly anything was compared"


if __name__ == "__main__":
    compared, seeds = FEATURES[:: 3 if sys.argv[1] in SLOW else 1], range(SEEDS[sys.argv[1]])
    print(sum(check(sys.argv[1], features, seed) for features in compared for seed in seeds))
