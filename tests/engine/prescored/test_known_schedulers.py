"""Which simulations are for the kernel that knows all scores beforehand: only such as have none of the parts."""

from __future__ import annotations

from random import Random

import pytest
from cluster_cases import random_cluster, random_jobs
from features import OPTIONS, OTHERS, POLICIES, RUN_TIMES, random_simulation, setting

from schedlab.engine.part import Part
from schedlab.engine.prepared import Prepared, prepare
from schedlab.engine.prescored import simulation
from schedlab.engine.prescored.simulation import ABSENT, known_scheduler
from schedlab.engine.world import PARTS
from schedlab.workload.workload import Workload

FEATURES = [*POLICIES, *RUN_TIMES, *OPTIONS, *OTHERS]


def parts_of(prepared: Prepared) -> list[str]:
    return [part.name for part in PARTS if part.new(prepared) is not None]


def plain() -> Prepared:
    columns = {"submit_time": [0, 1], "run_time": [9, 9], "requested_time": [9, 9], "requested_processors": [1, 1]}
    return prepare(Workload.from_columns(columns, processors=2), "fcfs+easy")


@pytest.mark.parametrize("backfilling", ["easy", "easy:ORDER", "conservative"])
def test_a_simulation_for_the_kernel_has_no_part(backfilling: str) -> None:
    known = 0
    for seed, feature in enumerate(FEATURES):
        case = setting(backfilling, [feature])
        if case.refused:
            continue
        workload, others = random_simulation(case, seed)
        prepared = prepare(workload, case.scheduler, **others)
        if known_scheduler(prepared) is not None:
            known += 1
            assert parts_of(prepared) == [], feature
    assert (known > 0) == (backfilling != "conservative")


def test_nor_has_one_on_nodes() -> None:
    random = Random(7)
    for _ in range(20):
        cluster = random_cluster(random)
        prepared = prepare(random_jobs(random, cluster), "fcfs+easy", cluster=cluster)
        assert "nodes" in parts_of(prepared)
        assert known_scheduler(prepared) is None


def test_a_part_that_the_kernel_has_not_heard_of_is_asked_whether_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part whose feature was forgotten would be ignored in silence."""
    assert known_scheduler(plain()) is not None
    for there in (False, True):
        part = Part("deadlines", tuple, lambda prepared, there=there: () if there else None)
        monkeypatch.setattr(simulation, "OTHERS", simulation.unknown((*PARTS, part)))
        assert (known_scheduler(plain()) is None) == there


def test_it_has_heard_only_of_parts_that_there_are() -> None:
    assert {part.name for part in PARTS} >= ABSENT
