"""Nodes in the engine against its reference: every feature under every rule of placement, starts and nodes.

The engine runs as plain Python: the same code without compilation.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest
from features import GROUPS, outcome, random_simulation, setting
from node_cases import on_nodes, random_nodes, rows_of
from plain_process import number_printed
from random_seeds import one_in, seeds

from schedlab.engine.assembly import assemble
from schedlab.engine.driver import Driver
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.machine.numbers import PLACEMENTS
from schedlab.engine.machine.state import order_of
from schedlab.engine.reference.simulate import replay_on_nodes
from schedlab.engine.simulation import schedule_of
from schedlab.errors import InputError

SEEDS = {"none": 2, "easy": 2, "easy:ORDER": 2, "conservative": 1, "fixed": 1, "slurm": 1, "slurm, every event": 1}
"""How many workloads, by backfilling."""

PLANNED = {"weight": ("conservative", "slurm, every event"), "spread": ("fixed", "slurm")}
"""Which of those that plan for everybody are compared under which rule: the reference takes long for them."""
FEATURES = [(), *((feature,) for group in GROUPS for feature in group if feature != "pyss")]


def simulate(prepared, until=NEVER):
    """Run the engine on a prepared simulation; return also what each job held last: node, tasks, GPUs as bits.

    Return None twice if it has not ended by a second.
    """
    driver = Driver(prepared, assemble(prepared))
    first_estimate = prepared.jobs["estimate"].copy()
    if not driver.run(until):
        return None, None
    nodes, number = driver.world.nodes, order_of(prepared.nodes)
    held = []
    for run in nodes.run[: len(prepared.jobs)].tolist():
        places = nodes.places[nodes.offsets[run] : nodes.offsets[run + 1]]
        held.append(sorted((int(number[one["node"]]), int(one["tasks"]), int(one["bits"])) for one in places))
    return schedule_of(prepared, driver.world, first_estimate), held


def replayed(prepared):
    """Replay a prepared simulation with the plain engine; return the same of it."""
    schedule, places = replay_on_nodes(prepared)
    first = prepared.nodes.device_offset
    return schedule, [
        sorted((part.node, part.tasks, sum(1 << int(gpu - first[part.node]) for gpu, _ in part.gpus)) for part in parts)
        for parts in places
    ]


def check(backfilling, features, placement, seed):
    """Simulate a random workload on random nodes with the engine and its reference; return whether it can be done."""
    try:
        case = setting(backfilling, features)
    except InputError:
        return False
    if case.refused:
        return False
    workload, options = random_simulation(case, seed)
    nodes = random_nodes(rows_of(workload), Random(seed), placement, scheduler=case.scheduler)
    schedule, held = simulate(on_nodes(workload, nodes, case.scheduler, **options))
    plain, expected = replayed(on_nodes(workload, nodes, case.scheduler, **options))
    what = f"{case.scheduler}, {features}, placement={placement}, seed {seed}"
    assert outcome(schedule) == outcome(plain), what
    assert held == expected, what
    return True


@pytest.mark.parametrize("placement", one_in(3, PLACEMENTS))
def test_the_engine_on_nodes_equals_its_twin(placement):
    assert number_printed(__file__, placement) > 100


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    print(
        sum(
            check(backfilling, features, sys.argv[1], seed)
            for backfilling, count in SEEDS.items()
            if count > 1 or backfilling in PLANNED.get(sys.argv[1], ())
            for features in FEATURES
            for seed in seeds(count)
        )
    )
