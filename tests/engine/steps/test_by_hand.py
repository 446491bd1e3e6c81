"""What a decision by hand is told, and what follows from it, against other ways to know the same."""

from __future__ import annotations

import numpy as np
import pytest

import schedlab as sl
from schedlab.cluster import NodeGroup
from schedlab.errors import InputError
from schedlab.workload.resources import Resources


def rush(jobs: int = 120, seed: int = 3) -> sl.Workload:
    """Return jobs that come faster than they can run, so that most of them wait at once."""
    rng = np.random.default_rng(seed)
    request = rng.integers(1, 900, jobs)
    return sl.Workload.from_columns(
        {
            "submit_time": np.sort(rng.integers(0, 10 * jobs, jobs))[::-1],
            "run_time": rng.integers(0, request + 1),
            "requested_time": request,
            "requested_processors": rng.integers(1, 17, jobs),
            "user_id": rng.integers(1, 5, jobs),
        },
        processors=32,
    )


def on_nodes(jobs: sl.Workload) -> dict[str, object]:
    """Return the arguments of a simulation of these jobs on 32 cores; a third of them ask for whole nodes."""
    whole = np.arange(len(jobs)) % 3 == 0
    asked = Resources.of(len(jobs), tasks=np.asarray(jobs.requested_processors), exclusive=whole)
    return {
        "workload": jobs.replace(resources=asked),
        "cluster": sl.Cluster.of_nodes([NodeGroup.of("n[1-8]", cores=4)]),
    }


def assert_heads_by_hand_are_fcfs(given: dict[str, object]) -> None:
    simulation, most = sl.Simulation(scheduler=None, **given), 0
    while simulation.next_decision():
        most = max(most, len(simulation.waiting))
        if simulation.waiting[0] in simulation.startable:
            simulation.start(simulation.waiting[0])
    assert most > 32  # more than a short list holds
    expected = sl.simulate(scheduler="fcfs", **given)
    assert simulation.schedule().start_time.tolist() == expected.start_time.tolist()


def test_who_starts_the_head_whenever_it_fits_has_the_schedule_of_fcfs():
    assert_heads_by_hand_are_fcfs({"workload": rush(60)})
    assert_heads_by_hand_are_fcfs(on_nodes(rush(60)))


@pytest.mark.compiled
def test_compiled_too_the_heads_by_hand_are_fcfs():
    assert_heads_by_hand_are_fcfs({"workload": rush()})
    assert_heads_by_hand_are_fcfs(on_nodes(rush()))


def test_what_a_decision_is_told_is_what_one_finds_out_from_the_columns():
    """Widths, ends and the free processors are added up here from columns alone."""
    jobs = rush(60)
    simulation, rng = sl.Simulation(jobs, None), np.random.default_rng(7)
    width = jobs.requested_processors
    while simulation.next_decision():
        waiting, running, now = simulation.waiting, simulation.running, simulation.now
        free = 32 - int(width[running].sum())
        assert simulation.startable.tolist() == [row for row in waiting.tolist() if width[row] <= free]
        ends = np.maximum(simulation.start_time[running] + simulation.expected_run_time[running], now)
        for row in waiting.tolist():
            second = min(
                second for second in [now, *ends.tolist()] if free + width[running[ends <= second]].sum() >= width[row]
            )
            extra = free + int(width[running[ends <= second]].sum()) - int(width[row])
            assert simulation.reservation(row) == (second, extra)
        simulation.start(int(rng.choice(simulation.startable)))
    assert simulation.ended


def test_what_has_been_told_does_not_change_with_the_simulation():
    """Arrays that a decision has been given are its own, and those that are shared cannot be written to."""
    simulation = sl.Simulation(rush(60), None)
    assert simulation.next_decision()
    waiting, startable, told = simulation.waiting, simulation.startable, simulation.startable.tolist()
    startable[:] = -1
    assert simulation.startable.tolist() == told
    assert simulation.waiting.tolist() == waiting.tolist() == told
    simulation.start(told[0])
    assert (told[0] in waiting, told[0] in simulation.waiting, told[0] in simulation.startable) == (True, False, False)
    with pytest.raises(ValueError, match="read-only"):
        simulation.expected_run_time[0] = 5
    with pytest.raises(InputError, match="is not waiting"):
        simulation.start(told[0])
    with pytest.raises(InputError, match="is not waiting"):
        simulation.reservation(told[0])


def test_run_times_that_are_predicted_are_told_as_they_are_now():
    """The last job is expected to last as its user's last two on average; before, it is as requested."""
    columns = {"submit_time": [0, 50, 90], "run_time": [10, 20, 30]}
    columns |= {"requested_time": [40] * 3, "requested_processors": [1] * 3, "user_id": [1] * 3}
    simulation = sl.Simulation(sl.Workload.from_columns(columns, processors=1), "fcfs+easy@ave2")
    simulation.run(until=0)
    assert simulation.expected_run_time[2] == 40
    simulation.run(until=90)
    assert simulation.expected_run_time[2] == 15


def test_jobs_that_are_added_at_a_decision_are_told_of_at_the_next():
    simulation = sl.Simulation(rush(20), None)
    assert simulation.next_decision()
    before = simulation.startable.tolist()
    more = sl.Workload.from_columns(
        {"submit_time": [simulation.now], "run_time": [5], "requested_time": [5], "requested_processors": [1]}
    )
    (row,) = simulation.submit(more)
    assert simulation.startable.tolist() == before
    assert len(simulation.expected_run_time) == 21
    assert simulation.next_decision()
    assert row in simulation.startable
