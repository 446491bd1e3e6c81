"""Why jobs wait where scores change with time, by hand. Both engines, the compiled one as plain Python."""

from __future__ import annotations

import sys

import pytest
from node_cases import Shape, node_inputs, on_nodes
from plain_process import number_printed
from site_cases import site_of
from test_nodes_against_twin import simulate

from schedlab.engine.assembly import assemble
from schedlab.engine.driver import Driver
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.loop import ASK
from schedlab.engine.machine.numbers import UNLIMITED
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import schedule_of
from schedlab.workload.workload import Workload

JOBS = [(0, 100), (1, 100), (10, 10), (30, 100)]
"""Submit time and run time; each needs the only core.

WFP3 is (w/p)^3 here. At 10, job 1 has waited 9 s, job 2 has just come: job 1 is the first. At 30, when job 3 comes,
they have 29/100 and 20/10: job 2 is the first. It runs from 100 to 110. Then job 1 has 109/100, job 3 80/100.
"""

STARTS, RESOURCES, PRIORITY = [0, 110, 100, 210], [0, 29 + 10, 70, 100], [0, 70, 20, 80]

PLANNED = [0, 100, 200, 210], [0, 29, 170, 10], [0, 70, 20, 170]
"""The same under conservative backfilling, where job 1 keeps the reservation that it got first."""


def observed(prepared):
    """Run a simulation whose loop returns before each pass, as for observers and agents."""
    driver = Driver(prepared, assemble(prepared, observed=True))
    first_estimate = prepared.jobs["estimate"].copy()
    while driver.advance(NEVER) == ASK:
        pass
    return schedule_of(prepared, driver.world, first_estimate)


def check(scheduler: str) -> None:
    """The first to wait is told by the scores of each event, though no core is free, so that nobody can start."""
    submit, run = zip(*JOBS, strict=True)
    columns = {"submit_time": submit, "run_time": run, "requested_time": run, "requested_processors": [1] * 4}
    workload = Workload.from_columns(columns, processors=1)
    cluster = {"cores": [1], "memory": [UNLIMITED], "weight": [1], "gpus": [0], "types": [], "allowed": [[True]]}
    nodes = node_inputs(cluster, [Shape(0, 1)], [0] * 4, 0)
    site = site_of([[True]], [1], [[(0, 0)]] * 4)

    def prepared():
        return on_nodes(workload, nodes, scheduler)._replace(limits=site)

    starts, resources, priority = PLANNED if "conservative" in scheduler else (STARTS, RESOURCES, PRIORITY)
    for schedule in (replay(prepared()), simulate(prepared())[0], observed(prepared())):
        assert schedule.start_time.tolist() == starts
        assert schedule.waited_for["Resources"].tolist() == resources
        assert schedule.waited_for["Priority"].tolist() == priority


@pytest.mark.parametrize(
    "scheduler", ["wfp3", "wfp3+easy", "wfp3+easy:sqf", "-w/p+easy", "wfp3+conservative", "wfp3+slurm(interval=200)"]
)
def test_on_a_full_machine_the_first_to_wait_is_told_by_the_scores_of_each_event(scheduler):
    assert number_printed(__file__, scheduler) == 1


if __name__ == "__main__":
    check(sys.argv[1])
    print(1)
