"""Nodes that are switched off when they are idle: cases worked out by hand, and random ones against the reference."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.files import read_cluster, write_cluster
from schedlab.cluster.limits import Account, Accounting, Limits
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import NodeGroup, Switch
from schedlab.cluster.power_saving import PowerSaving
from schedlab.energy.accounting import account
from schedlab.energy.power import GroupPower, Power
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.schedule.exports import read_schedule
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

PASSES = ("fcfs", "fcfs+easy", "fcfs+slurm(interval=0,delay=0)")
NODES = NodeGroup.of("n[1-2]", cores=1)


def machine(*times: int, always_on: tuple[str, ...] = (), group: NodeGroup = NODES) -> Cluster:
    return replace(Cluster.of_nodes([group]), power_saving=PowerSaving(*times, always_on=always_on))


def jobs_of(submit: list[int], run: list[int], processors: list[int], **more) -> Workload:
    columns = {"submit_time": submit, "run_time": run, "requested_time": run, "requested_processors": processors}
    return Workload.from_columns(columns | more)


# Two nodes of one core, off after 20 s, 5 s to switch off, 15 s to boot. Job 0 has n1 from 0 to 10 and job 1 from 10 to
# 15, so that it is off from 40 on; n2, never used, is off from 25 on. Job 2 wants both at 60: they boot until 75.
WAKES = jobs_of([0, 10, 60, 61], [10, 5, 10, 4], [1, 1, 2, 1])


@pytest.mark.parametrize("scheduler", PASSES)
def test_a_job_on_nodes_that_are_off_waits_for_their_boot(scheduler):
    schedule = simulate(WAKES, scheduler, cluster=machine(20, 15, 5))
    assert schedule.start_time.tolist() == [0, 10, 75, 85]
    assert schedule.end_time.tolist() == [10, 15, 85, 89]
    assert schedule.boot_wait is not None
    assert schedule.boot_wait.tolist() == [0, 0, 15, 0]
    assert schedule.wait_time.tolist() == [0, 0, 15, 24]
    assert schedule.placement is not None
    assert schedule.placement.sleeps.tolist() == [(0, 0, 40, 60), (0, 1, 60, 75), (1, 0, 25, 60), (1, 1, 60, 75)]


def test_the_energy_of_nodes_that_are_off_is_counted_to_the_joule():
    # 100 W idle, 300 W busy, 10 W off, 200 W booting, from 0 to 89. n1: 15 s busy, 25 s idle, 20 s off, 15 s boot, 14 s
    # busy; n2: 25 s idle, 35 s off, 15 s boot, 10 s busy, 4 s idle.
    schedule = simulate(WAKES, "fcfs", cluster=machine(20, 15, 5))
    found = account(schedule, Power((GroupPower(100, 300, off=10, boot=200),)))
    assert found.joules["jobs"] == 300 * (15 + 14 + 10)
    assert found.joules["idle"] == 100 * (25 + 25 + 4)
    assert found.joules["off"] == 10 * (20 + 35)
    assert found.joules["boot"] == 200 * (15 + 15)
    assert found.power.integral() == sum(found.joules.values())
    assert found.power.values[found.power.times.tolist().index(40)] == 20


def test_a_node_is_switched_off_only_when_it_has_been_idle_for_longer_than_that():
    starts = [simulate(jobs_of([0, at], [10, 5], [2, 2]), "fcfs", cluster=machine(20, 15)) for at in (30, 31)]
    assert [schedule.start_time.tolist() for schedule in starts] == [[0, 30], [0, 46]]


def test_a_node_that_is_being_switched_off_has_to_be_off_before_it_boots():
    # Idle from 10 on, it is switched off at 30, which takes until 50; the job comes at 35.
    schedule = simulate(jobs_of([0, 35], [10, 5], [2, 2]), "fcfs", cluster=machine(20, 15, 20))
    assert schedule.start_time.tolist() == [0, 65]


def test_a_job_waits_for_the_last_of_its_nodes_and_holds_the_others_meanwhile():
    # n1 is in use until 50; at 55, the second job gets it and n2, which is off. Nobody else gets n1 before.
    jobs = jobs_of([0, 55, 56], [50, 5, 5], [1, 2, 1])
    schedule = simulate(jobs, "fcfs+easy", cluster=machine(20, 15))
    assert schedule.start_time.tolist() == [0, 70, 75]


def test_jobs_that_share_a_node_wait_for_the_same_boot():
    group = NodeGroup.of("n1", cores=2)
    schedule = simulate(jobs_of([50, 55], [9, 9], [1, 1]), "fcfs", cluster=machine(20, 15, group=group))
    assert schedule.start_time.tolist() == [50, 55]  # idle from the first submission on: nothing is off yet
    later = simulate(jobs_of([0, 50, 55, 70], [9, 9, 9, 9], [1, 1, 1, 1]), "fcfs", cluster=machine(20, 15, group=group))
    assert later.start_time.tolist() == [0, 65, 65, 74]


def test_some_nodes_are_never_switched_off():
    jobs = jobs_of([0, 100], [10, 5], [2, 1])
    assert simulate(jobs, "fcfs", cluster=machine(20, 15, always_on=("n1",))).start_time.tolist() == [0, 100]
    assert simulate(jobs, "fcfs", cluster=machine(20, 15)).start_time.tolist() == [0, 115]


@pytest.mark.parametrize("placement", ["first", "weight", "best", "spread", "fgd", "consecutive", "switches"])
@pytest.mark.parametrize("scheduler", PASSES)
def test_nodes_that_are_on_go_first_whatever_their_weight(scheduler, placement):
    # n1 and n2, of the least weight, are off from 21 on; n3, n4 stay on. At 50, a job of one core gets n3; one of two
    # cores gets n4 and, of those that are off, n1; the last one gets n2.
    light, heavy = (NodeGroup.of(names, cores=1, weight=weight) for names, weight in (("n[1-2]", 1), ("n[3-4]", 9)))
    light, heavy = (replace(group, switch="s") for group in (light, heavy))
    cluster = Cluster.of_nodes([light, heavy], switches=[Switch("s")])
    cluster = replace(cluster, power_saving=PowerSaving(20, 15, always_on=("n3", "n4")))
    jobs = jobs_of([0, 50, 51, 52], [1, 90, 90, 90], [1, 1, 2, 1])
    prepared = prepare(jobs, f"{scheduler},placement={placement}", cluster=cluster)
    for schedule in (simulate(jobs, f"{scheduler},placement={placement}", cluster=cluster), replay(prepared)):
        assert schedule.start_time.tolist() == [0, 50, 66, 67]
    place = simulate(jobs, f"{scheduler},placement={placement}", cluster=cluster).placement
    assert place is not None
    assert [place.node[one:other].tolist() for one, other in pairwise(place.offsets)][1:] == [[2], [3, 0], [1]]


def test_a_limit_of_run_minutes_counts_what_a_job_asks_for_and_not_its_boot():
    # At 100, the first job gets n1, which boots until 115. It has its 100 s to go until then, so that 19 s are left of
    # what Slurm takes for a minute, 119 s: one of 19 s gets n2 at once, one of 20 s after the first.
    lab = Accounting(accounts=(Account("root", ""), Account("lab", limits=Limits(grp_tres_run_mins=(("cpu", 1),)))))
    for run_time, start in ((19, 116), (20, 215)):
        jobs = jobs_of([0, 100, 101], [1, 100, run_time], [1, 1, 1])
        jobs = jobs.replace(resources=Resources.of(3, account=[None, "lab", "lab"]))
        for scheduler in PASSES[1:]:
            schedule = simulate(jobs, scheduler, cluster=replace(machine(20, 15), accounting=lab))
            assert schedule.start_time.tolist() == [0, 115, start], scheduler


@pytest.mark.parametrize("scheduler", ["fcfs+easy", "fcfs+slurm", "fcfs+slurm(interval=0,delay=0)"])
def test_a_pass_plans_jobs_that_it_starts_as_if_their_nodes_were_on(scheduler):
    # n1 is in use until 130, n2 is off. The second job wants both: 130. The third would be over by then, and gets n2;
    # as that has to boot until 116, it is not, and the second waits until 145.
    jobs = jobs_of([0, 100, 101, 101], [130, 10, 29, 40], [1, 2, 1, 1], requested_time=[130, 10, 29, 40])
    found = simulate(jobs, scheduler, cluster=machine(20, 15))
    plain = replay(prepare(jobs, scheduler, cluster=machine(20, 15)))
    assert found.start_time.tolist() == plain.start_time.tolist()
    if scheduler == "fcfs+easy":
        assert found.start_time[:3].tolist() == [0, 145, 116]


def drawn(seed: int) -> tuple[Workload, Cluster]:
    rng = np.random.default_rng(seed)
    count = 14
    run = rng.integers(1, 25, count)
    jobs = jobs_of(
        np.sort(rng.integers(0, 200, count)).tolist(),
        run.tolist(),
        rng.integers(1, 6, count).tolist(),
        requested_time=(run + rng.integers(0, 12, count)).tolist(),
    ).replace(resources=Resources.of(count, exclusive=(rng.random(count) < 0.3).tolist()))
    groups = [NodeGroup.of("b[1-3]", cores=2, weight=3), NodeGroup.of("a[1-2]", cores=3)]
    saving = PowerSaving(*rng.integers(0, [15, 20, 8]).tolist(), always_on=("b2",) if seed % 2 else ())
    return jobs, replace(Cluster.of_nodes(groups), power_saving=saving)


@pytest.mark.parametrize("scheduler", [*PASSES, "saf+easy", "saf+easy@ave2", "multifactor(age=10)+slurm(interval=3)"])
def test_engine_and_reference_agree_on_random_jobs(scheduler):
    for seed in range(12):
        jobs, cluster = drawn(seed)
        found, plain = simulate(jobs, scheduler, cluster=cluster), replay(prepare(jobs, scheduler, cluster=cluster))
        assert found.start_time.tolist() == plain.start_time.tolist(), seed
        assert found.end_time.tolist() == plain.end_time.tolist(), seed


def test_nodes_are_in_one_state_at_a_time_and_no_job_runs_on_one_that_is_off():
    for seed in range(12):
        jobs, cluster = drawn(seed)
        schedule = simulate(jobs, "fcfs+easy", cluster=cluster)
        place = schedule.placement
        assert place is not None
        spans = place.sleeps
        for job in range(len(jobs)):
            for node in place.node[place.offsets[job] : place.offsets[job + 1]]:
                mine = spans[spans["node"] == node]
                apart = (mine["end"] <= schedule.start_time[job]) | (mine["begin"] >= schedule.end_time[job])
                assert apart.all(), (seed, job)
        for node in range(len(place.nodes)):
            mine = spans[spans["node"] == node]
            assert (mine["end"][:-1] <= mine["begin"][1:]).all()


def test_a_simulation_with_nodes_that_are_off_is_saved_forked_and_added_to(tmp_path):
    jobs, cluster = drawn(3)
    whole = simulate(jobs, "fcfs+easy", cluster=cluster).start_time.tolist()
    simulation = Simulation(jobs[:10], "fcfs+easy", cluster=cluster)
    simulation.run(until=int(jobs.submit_time[8]))
    simulation.submit(jobs[10:])
    simulation.save(tmp_path / "half.sim")
    for one in (simulation.fork(), Simulation.load(tmp_path / "half.sim")):
        one.run()
        assert one.schedule().start_time.tolist() == whole


def test_a_schedule_that_is_read_back_still_knows_when_nodes_were_off(tmp_path):
    schedule = simulate(WAKES, "fcfs", cluster=machine(20, 15, 5))
    schedule.save(tmp_path / "out.parquet")
    again = read_schedule(tmp_path / "out.parquet")
    assert schedule.placement is not None
    assert again.placement is not None
    assert again.placement.sleeps.tolist() == schedule.placement.sleeps.tolist()
    assert again.boot_wait is not None
    assert again.boot_wait.tolist() == [0, 0, 15, 0]


def test_cluster_files_have_it(tmp_path):
    cluster = machine(600, 180, 30, always_on=("n2",))
    write_cluster(cluster, tmp_path / "site.toml")
    assert '"suspend_time" = "10m"' in (tmp_path / "site.toml").read_text()
    assert read_cluster(tmp_path / "site.toml") == cluster


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: machine(-1, 15), "suspend_time must be a number of seconds of 0 or more, not -1"),
        (lambda: replace(Cluster(4), power_saving=PowerSaving(1, 1)), "power_saving is about nodes"),
        (lambda: simulate(WAKES, "fcfs", cluster=machine(1, 1, always_on=("n9",))), "always_on names node n9"),
        (
            lambda: simulate(WAKES, "fcfs+conservative", cluster=machine(1, 1)),
            "do not go with conservative",
        ),
        (
            lambda: simulate(
                WAKES, "fcfs", cluster=machine(1, 1), node_events=NodeEvents((NodeEvent(1, "drain", ("n1",)),))
            ),
            "do not go with node events",
        ),
    ],
)
def test_what_does_not_go_together_is_told_in_a_sentence(make, told):
    with pytest.raises(InputError) as error:
        make()
    assert told in str(error.value)


@pytest.mark.compiled
def test_compiled_kernels_agree_with_the_case_by_hand():
    assert simulate(WAKES, "fcfs+easy", cluster=machine(20, 15, 5)).start_time.tolist() == [0, 10, 75, 85]


def test_predictors_do_not_count_jobs_whose_nodes_boot_as_running():
    # One user on three nodes that sleep soon: jobs of two nodes boot while a later job already runs on one that is on.
    rng = np.random.default_rng(5)
    processors = rng.integers(1, 3, 60)
    jobs = jobs_of(np.sort(rng.integers(0, 900, 60)).tolist(), rng.integers(1, 40, 60).tolist(), processors.tolist())
    jobs = jobs.replace(requested_time=jobs.run_time * 2, user_id=np.ones(60, dtype=np.int64))
    cluster = machine(3, 15, 2, group=NodeGroup.of("n[1-3]", cores=1))
    text = "fcfs+easy@nag(over=linear,under=square,weight=wide,step=5,penalty=0)"
    ours, plain = simulate(jobs, text, cluster=cluster), replay(prepare(jobs, text, cluster=cluster))
    assert ours.boot_wait is not None
    assert (ours.boot_wait > 0).sum() > 10
    assert ours.predicted_run_time.tolist() == plain.predicted_run_time.tolist()
