"""No job starts that would bring the power above the cap, whichever pass starts it."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.energy.accounting import account
from schedlab.energy.capping import capped
from schedlab.energy.power import GroupPower, Power
from schedlab.energy.series import Series
from schedlab.engine.simulation import simulate
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

SCHEDULERS = ("fcfs", "fcfs+easy", "saf+easy", "fcfs+conservative", "fcfs+slurm", "multifactor(age=1000)+slurm")
NODES = Cluster.of_nodes([NodeGroup.of("n[1-3]", cores=4), NodeGroup.of("g1", cores=2, gpus=2)])
OF_NODES = (GroupPower.of(idle=100, busy=300, nodes="n[1-3]"), GroupPower(200, 260, gpu=250))


def jobs_of(**columns) -> Workload:
    given = {"requested_time": columns["run_time"], "requested_processors": [1] * len(columns["run_time"])}
    return Workload.from_columns(given | columns)


def drawn(rng: np.random.Generator, widest: int) -> Workload:
    return jobs_of(
        submit_time=np.sort(rng.integers(0, 60, 15)).tolist(),
        run_time=rng.integers(1, 30, 15).tolist(),
        requested_processors=rng.integers(1, widest + 1, 15).tolist(),
    )


def test_a_job_waits_for_power_while_others_that_draw_less_start():
    # Idle: 200 W of 450. Job 0 adds 200 W, so that job 1, with 150 W, waits until 10; job 2, with 50 W, does not.
    jobs = jobs_of(submit_time=[0, 1, 2], run_time=[10, 10, 3], requested_processors=[4, 3, 1])
    tamed, machine = capped(jobs, Power((GroupPower(100, 300, cores=4),), cap=450), processors=8)
    schedule = simulate(tamed, "fcfs+easy", cluster=machine)
    assert schedule.start_time.tolist() == [0, 10, 2]
    assert schedule.waited_for is not None
    assert schedule.waited_for["PowerCap"].tolist() == [0, 9, 0]


def test_cooling_and_what_is_always_on_count():
    # 450 W of the site are 300 W of the machine, of which 50 are always there: 50 W are left above the idle nodes.
    model = Power((GroupPower(100, 300, cores=4),), cap=450, pue=1.5, base=50)
    assert capped(jobs_of(submit_time=[0], run_time=[9]), model, processors=8)[1].licenses == (("power_watts", 50),)


def test_what_jobs_were_measured_to_draw_counts():
    # The core of each draws 25 W idle; the first adds 75 W, the second, which draws less than that, nothing.
    jobs = jobs_of(submit_time=[0, 0], run_time=[9, 9]).with_columns(watts=[100.0, 20.0])
    tamed, _ = capped(jobs, Power((GroupPower(100, 300, cores=4),), cap=450), processors=8)
    assert tamed.resources is not None
    assert tamed.resources.licenses.texts() == ["power_watts:75", ""]


def test_jobs_keep_their_other_licences():
    site = Cluster.of_nodes([NodeGroup.of("n1", cores=2)], licenses={"matlab": 1})
    jobs = jobs_of(submit_time=[0, 0], run_time=[9, 9]).replace(
        resources=Resources.of(2, licenses=["matlab", "matlab"])
    )
    tamed, machine = capped(jobs, Power((GroupPower(0, 100),), cap=200), cluster=site)
    assert machine.licenses == (("matlab", 1), ("power_watts", 200))
    assert simulate(tamed, "fcfs+easy", cluster=machine).start_time.tolist() == [0, 9]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_no_pass_brings_the_power_above_the_cap(scheduler):
    rng = np.random.default_rng(3)
    for _ in range(4):
        jobs, model = drawn(rng, 6), Power((GroupPower(80, 200, cores=4),), cap=900)
        tamed, machine = capped(jobs, model, processors=24)
        assert account(simulate(tamed, scheduler, cluster=machine), model).above_cap == 0
        assert account(simulate(jobs, scheduler, processors=24), model).above_cap > 0


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_no_pass_brings_the_power_of_nodes_above_the_cap(scheduler):
    rng = np.random.default_rng(4)
    for _ in range(3):
        jobs, model = drawn(rng, 4), Power(OF_NODES, cap=950)
        gpus = rng.integers(0, 2, 15) * (jobs.requested_processors <= 2)
        jobs = jobs.replace(resources=Resources.of(15, gpus=gpus.tolist()))
        tamed, machine = capped(jobs, model, cluster=NODES)
        assert account(simulate(tamed, scheduler, cluster=machine), model).above_cap == 0


def test_a_capped_simulation_is_saved_and_forked(tmp_path):
    jobs = jobs_of(submit_time=[0, 1, 2], run_time=[10, 10, 3], requested_processors=[4, 3, 1])
    tamed, machine = capped(jobs, Power((GroupPower(100, 300, cores=4),), cap=450), processors=8)
    simulation = Simulation(tamed, "fcfs+easy", cluster=machine)
    simulation.run(until=5)
    simulation.save(tmp_path / "half.sim")
    for one in (simulation.fork(), Simulation.load(tmp_path / "half.sim")):
        one.run()
        assert one.schedule().start_time.tolist() == [0, 10, 2]


@pytest.mark.parametrize(
    ("cap", "told"),
    [
        (None, "the power model has no cap"),
        (
            Series.from_csv("second,watts\n0,900\n5,150\n", "caps.csv"),
            "the cap of 150 W is below what the idle machine",
        ),
        (Series.from_csv("second,watts\n3,900\n5,950\n", "caps.csv"), "caps.csv: its values are for seconds 3 to 7"),
        (150, "the cap of 150 W is below what the idle machine draws (200 W before cooling and losses)"),
        (300, "job 2 draws 200 W more than the idle machine, and the cap of 300 W leaves 100 W: 1 of 2 jobs"),
    ],
)
def test_a_cap_under_which_jobs_could_never_start_is_refused(cap, told):
    jobs = jobs_of(submit_time=[0, 0], run_time=[9, 9], requested_processors=[1, 4])
    with pytest.raises(InputError) as error:
        capped(jobs, Power((GroupPower(100, 300, cores=4),), cap=cap), processors=8)
    assert told in str(error.value)
