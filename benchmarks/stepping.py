"""A decision by hand in `Simulation`: on to the next one, who could start, and one of them starts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from result import Result

import schedlab as sl

LOGS = {"KTH-SP2": "KTH-SP2-1996-2.1-cln.swf.gz", "CEA-Curie": "CEA-Curie-2011-2.1-cln.swf.gz"}
MOST = 20_000


def stepping(traces: Path) -> Iterator[Result]:
    """Start the first job that fits, 20,000 times; that by hand what FCFS does gives its schedule, on 3,000 jobs."""
    for name, file in LOGS.items():
        if not (traces / file).is_file():
            print(f"stepping: skipped {name}, there is no {traces / file}")
            continue
        jobs = sl.clean(sl.read_swf(traces / file))
        start_the_first(sl.Simulation(jobs[:100], scheduler=None))  # compiled from now on
        simulation = sl.Simulation(jobs, scheduler=None)
        begin = time.process_time()
        decisions = start_the_first(simulation)
        each = (time.process_time() - begin) / decisions
        yield Result(
            f"a decision by hand on {name} ({len(jobs):,} jobs)",
            f"{each * 1e6:.0f} us",
            "20 us",
            each <= 20e-6,
            "who starts the head whenever it fits has the schedule of FCFS",
            starts_of_heads(jobs[:3_000]) == sl.simulate(jobs[:3_000], "fcfs").start_time.tolist(),
        )


def start_the_first(simulation: sl.Simulation) -> int:
    """Start the first job that fits at each decision; return how many have been started."""
    decisions = 0
    while decisions < MOST and simulation.next_decision():
        simulation.start(simulation.startable[0])
        decisions += 1
    return decisions


def starts_of_heads(jobs: sl.Workload) -> list[int]:
    """Start the head of the queue by hand whenever it fits; return all starts."""
    simulation = sl.Simulation(jobs, scheduler=None)
    while simulation.next_decision():
        if (head := simulation.waiting[0]) in simulation.startable:
            simulation.start(head)
    return simulation.schedule().start_time.tolist()
