"""A power cap that changes with time: no job starts that would be above it while it is expected to run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_capping import NODES, OF_NODES, SCHEDULERS, drawn, jobs_of

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.files import read_cluster, write_cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.cluster.power_saving import PowerSaving
from schedlab.energy.accounting import account
from schedlab.energy.capping import capped
from schedlab.energy.power import GroupPower, Power
from schedlab.energy.series import Series
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError

EVENING = Series.from_csv("second,watts\n0,450\n12,300\n30,450\n900,\n", "evening.csv")
MODEL = Power((GroupPower(100, 300, cores=4),), cap=EVENING)
JOBS = jobs_of(submit_time=[0, 1, 2, 3], run_time=[10, 10, 5, 20], requested_processors=[4, 4, 1, 2])
PASSES = ("fcfs+easy", "saf+easy", "fcfs+conservative", "fcfs+slurm(interval=0,delay=0)")


@pytest.mark.parametrize("scheduler", PASSES)
def test_a_job_waits_until_the_cap_is_high_for_as_long_as_it_runs(scheduler):
    # Idle, two nodes draw 200 W: 250 W are left until 12, 100 W until 30. Job 0 adds 200 W, job 2 50 W beside it.
    # Job 3, with 100 W, would run into the lower cap beside job 0, so that it begins at 10. Job 1, with 200 W, would
    # run into it by itself, and begins at 30.
    tamed, machine = capped(JOBS, MODEL, processors=8)
    schedule = simulate(tamed, scheduler, cluster=machine)
    assert schedule.start_time.tolist() == [0, 30, 2, 10]
    assert schedule.waited_for is not None
    assert schedule.waited_for["PowerCap"].tolist() == [0, 29, 0, 7]


def test_the_energy_under_a_cap_that_changes_is_counted_to_the_joule():
    # 75 W a held core: 4 x 10 s, twice, 5 s, 2 x 20 s; idle, 200 W x 40 s less 25 W of each held core.
    tamed, machine = capped(JOBS, MODEL, processors=8)
    found = account(simulate(tamed, "fcfs+easy", cluster=machine), MODEL)
    assert found.joules["jobs"] == 75 * (40 + 40 + 5 + 40)
    assert found.joules["idle"] == 200 * 40 - 25 * 125
    assert found.above_cap == 0
    assert account(simulate(JOBS, "fcfs+easy", processors=8), MODEL).above_cap == 13  # jobs 1 and 3 from 10 on


def test_a_job_that_would_end_when_the_cap_falls_begins_before_it():
    jobs = jobs_of(submit_time=[0, 2, 3], run_time=[1, 10, 10], requested_processors=[1, 4, 4])
    tamed, machine = capped(jobs, MODEL, processors=8)
    assert simulate(tamed, "fcfs+easy", cluster=machine).start_time.tolist() == [0, 2, 30]


def test_a_cap_of_the_hours_of_the_day_repeats():
    # From 12 on, 300 W, and 450 W again from 30, 60, 90 ... on: job 1 of 12 s waits for each whole time.
    daily = Series.from_csv("second,watts\n0,450\n12,300\n30,\n", repeats=True)
    jobs = jobs_of(submit_time=[0, 1, 1], run_time=[12, 12, 12], requested_processors=[4, 4, 4])
    tamed, machine = capped(jobs, replace(MODEL, cap=daily), processors=8)
    assert simulate(tamed, "fcfs+easy", cluster=machine).start_time.tolist() == [0, 30, 60]


def test_a_cap_with_dates_needs_a_log_with_dates():
    dated = Series.from_csv("time,watts\n1970-01-01T00:00,450\n1970-01-01T00:01,300\n1970-01-02T00:00,\n", "dates.csv")
    with pytest.raises(InputError, match="the log does not say at which date it begins"):
        capped(JOBS, replace(MODEL, cap=dated), processors=8)


def drawn_cap(rng: np.random.Generator, low: int, high: int) -> Series:
    """Return a cap that changes every few seconds, and is high at the end."""
    seconds = np.append(0, np.cumsum(rng.integers(5, 25, 12)))
    watts = np.append(rng.integers(low, high, 12), high)
    return Series(seconds, watts.astype(np.float64), 100_000, name="drawn")


@pytest.mark.parametrize("scheduler", [*SCHEDULERS, "fcfs+slurm(interval=0,delay=0)", "saf+easy@ave2"])
def test_engine_and_reference_agree_under_caps_that_change(scheduler):
    rng, changed = np.random.default_rng(6), 0
    for _ in range(5):
        jobs, model = drawn(rng, 6), Power((GroupPower(80, 200, cores=4),), cap=drawn_cap(rng, 620, 1100))
        jobs = jobs.replace(requested_time=jobs.run_time + rng.integers(0, 20, len(jobs)))
        tamed, machine = capped(jobs, model, processors=24)
        found, plain = (run(tamed, scheduler, machine) for run in (simulated, replayed))
        assert found.start_time.tolist() == plain.start_time.tolist()
        assert found.end_time.tolist() == plain.end_time.tolist()
        assert {name: times.tolist() for name, times in found.waited_for.items()} == {
            name: times.tolist() for name, times in plain.waited_for.items() if times.any()
        }
        flat, flat_machine = capped(jobs, replace(model, cap=1100), processors=24)
        changed += simulate(flat, scheduler, cluster=flat_machine).start_time.tolist() != found.start_time.tolist()
    assert changed >= 4


def simulated(jobs, scheduler, machine):
    return simulate(jobs, scheduler, cluster=machine)


def replayed(jobs, scheduler, machine):
    return replay(prepare(jobs, scheduler, cluster=machine))


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_no_pass_brings_the_power_above_a_cap_that_changes(scheduler):
    rng = np.random.default_rng(7)
    for _ in range(3):
        jobs, cap = drawn(rng, 6), drawn_cap(rng, 620, 1100)
        jobs = jobs.replace(requested_time=jobs.run_time + rng.integers(0, 20, len(jobs)))
        model = Power((GroupPower(80, 200, cores=4),), cap=cap)
        tamed, machine = capped(jobs, model, processors=24)
        assert account(simulate(tamed, scheduler, cluster=machine), model).above_cap == 0
        assert account(simulate(jobs, scheduler, processors=24), model).above_cap > 0


def test_on_nodes_of_several_kinds_a_cap_that_changes_is_kept():
    rng = np.random.default_rng(8)
    jobs, model = drawn(rng, 4), Power(OF_NODES, cap=drawn_cap(rng, 800, 1300))
    tamed, machine = capped(jobs, model, cluster=NODES)
    assert account(simulate(tamed, "fcfs+easy", cluster=machine), model).above_cap == 0


def test_a_simulation_under_a_cap_that_changes_is_saved_forked_and_added_to(tmp_path):
    tamed, machine = capped(JOBS, MODEL, processors=8)
    simulation = Simulation(tamed[:2], "fcfs+easy", cluster=machine)
    simulation.run(until=1)
    simulation.submit(tamed[2:])
    simulation.save(tmp_path / "half.sim")
    for one in (simulation.fork(), Simulation.load(tmp_path / "half.sim")):
        one.run()
        assert one.schedule().start_time.tolist() == [0, 30, 2, 10]


def test_a_job_for_which_the_cap_is_never_high_for_long_enough_is_told():
    jobs = jobs_of(submit_time=[0], run_time=[13], requested_processors=[4])
    short = Series.from_csv("second,watts\n0,450\n12,300\n900,\n")
    tamed, machine = capped(jobs, replace(MODEL, cap=short), processors=8)
    for run in (simulated, replayed):
        with pytest.raises(InputError, match="the power cap is never high enough for as long as job 1 is expected"):
            run(tamed, "fcfs+easy", machine)


def test_nodes_are_not_switched_off_under_a_cap_that_changes():
    site = Cluster.of_nodes([NodeGroup.of("n[1-2]", cores=4)])
    with pytest.raises(InputError, match=r"evening\.csv: under a cap that changes, nodes cannot be switched off"):
        capped(JOBS, MODEL, cluster=replace(site, power_saving=PowerSaving(10, 10)))


def test_cluster_files_have_steps(tmp_path):
    machine = Cluster(8, licenses=(("power_watts", 250),), power_steps=((0, 250), (12, 100)))
    write_cluster(machine, tmp_path / "capped.toml")
    assert read_cluster(tmp_path / "capped.toml") == machine


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        (((5, 1), (5, 2)), "power_steps: the seconds do not ascend"),
        (((0, 1),), "power_steps: the cluster has no licences power_watts that could change"),
    ],
)
def test_steps_that_make_no_sense_are_refused(steps, told):
    with pytest.raises(InputError, match=told):
        Cluster(8, licenses=(("power_watts", 1),) if len(steps) > 1 else (), power_steps=steps)
