"""Passes in Python: they decide as compiled passes do where they have the same rules, and their errors are told."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from own_passes import Everything, Reserving
from random_workloads import workloads

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine import simulate
from schedlab.engine.assembly import assemble
from schedlab.engine.decisions import own_pass
from schedlab.engine.driver import Driver
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay, simulate_plain
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.scheduler import Pass, Scheduler
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

pytestmark = pytest.mark.both


def jobs_of(*rows, processors=4, **columns):
    submit, run, request, wide = zip(*rows, strict=True)
    given = {"submit_time": submit, "run_time": run, "requested_time": request, "requested_processors": wide}
    return Workload.from_columns({**given, **columns}, processors=processors)


THREE = jobs_of((0, 10, 10, 3), (1, 10, 10, 4), (2, 5, 5, 1), (3, 20, 20, 1))


def starts(workload, decider, policy="fcfs", **options):
    return simulate(workload, Scheduler(policy, decider), **options).start_time.tolist()


@pytest.mark.parametrize("policy", ["fcfs", "saf", "wfp3"])
@given(workload=workloads(enforced=True))
@settings(max_examples=40)
def test_easy_in_python_is_easy(policy, workload):
    ours, easy = (simulate(workload, Scheduler(policy, backfill)) for backfill in (Reserving(1), "easy"))
    np.testing.assert_array_equal(ours.start_time, easy.start_time)
    np.testing.assert_array_equal(ours.backfilled, easy.backfilled)


@given(workload=workloads(enforced=True))
@settings(max_examples=40)
def test_reserving_for_everybody_is_slurms_pass_after_every_event(workload):
    text = "fcfs+slurm(interval=0,resolution=1,depth=all,window=all,queue_depth=all,partition_queue_depth=all)"
    plan = simulate(workload, Scheduler("fcfs", Reserving(len(workload))))
    np.testing.assert_array_equal(plan.start_time, simulate(workload, text).start_time)


@pytest.mark.parametrize("decider", [Reserving(0), Reserving(2), Everything(2, 1)], ids=["none", "two", "everything"])
@pytest.mark.parametrize("policy", ["fcfs", "saf", "wfp3"])
@given(workload=workloads())
@settings(max_examples=25)
def test_the_engine_asks_a_pass_what_its_reference_asks(policy, decider, workload):
    scheduler = Scheduler(policy, decider)
    ours, plain = simulate(workload, scheduler), simulate_plain(workload, scheduler)
    np.testing.assert_array_equal(ours.start_time, plain.start_time)
    np.testing.assert_array_equal(ours.backfilled, plain.backfilled)


def test_a_pass_sees_the_queue_in_the_order_of_the_policy_and_arrays_that_it_cannot_change():
    seen = []

    def look(view):
        seen.append((view.now, view.free, view.size, view.waiting.tolist(), view.running.tolist()))
        for values in (view.submit, view.processors, view.request, view.predicted, view.user, view.start_time):
            with pytest.raises(ValueError, match="read-only"):
                values[0] = 1
        for job in view.waiting:
            if view.fits(job):
                view.start(job)

    assert starts(THREE, look, "sqf") == [0, 27, 2, 7]
    assert seen[:4] == [(0, 4, 4, [0], []), (1, 1, 4, [1], [0]), (2, 1, 4, [2, 1], [0]), (3, 0, 4, [3, 1], [2, 0])]


def test_columns_of_ones_own_and_of_unsorted_logs_are_in_order_of_submission():
    workload = jobs_of((5, 1, 1, 1), (0, 1, 1, 1), job_id=[7, 8]).with_columns(team=[70, 80])
    seen = []

    def look(view):
        seen.append((int(view.column("job_id")[view.waiting[0]]), int(view.column("team")[view.waiting[0]])))
        view.start(view.waiting[0])

    starts(workload, look)
    assert seen == [(8, 80), (7, 70)]


def test_a_pass_hears_once_of_every_job_that_has_ended_and_how_long_it_ran():
    heard = []

    def listen(view):
        heard.extend(zip(*(values.tolist() for values in view.ended()), strict=True))
        Reserving(0).decide(view)

    starts(jobs_of((0, 3, 9, 4), (1, 2, 9, 4), (2, 4, 2, 4), (9, 1, 1, 1)), listen)
    assert heard == [(0, 3), (1, 2), (2, 2)]  # the last ends when nobody waits, and job 2 is killed at its request


def in_both(workload, decider, policy="fcfs", **options):
    """The schedules of the engine and of the reference."""
    scheduler = Scheduler(policy, decider)
    yield simulate(workload, scheduler, **options)
    yield replay(prepare(workload, scheduler, **options))


@pytest.mark.parametrize(
    ("interrupted", "told"),
    [({"interrupted": "lost"}, [(12, 0, 5)]), ({}, [(28, 0, 20)]), ({"requeue_delay": 6}, [(31, 0, 20)])],
    ids=["lost", "requeued", "requeued later"],
)
def test_a_run_that_a_node_breaks_off_is_told_as_long_as_it_was_and_only_if_its_job_is_over(interrupted, told):
    # The node is down from 5 to 8: job 0, of 20 s, ends there after 5 s, or comes back at 8 or at 5 + 6 = 11.
    workload = jobs_of((0, 20, 20, 4), (12, 10, 10, 4))
    cluster = Cluster.of_nodes(NodeGroup.of("n1", cores=4))
    events = NodeEvents((NodeEvent(5, "down", ("n1",)), NodeEvent(8, "up", ("n1",))), **interrupted)
    heard = []

    def listen(view):
        heard.extend((view.now, int(job), int(ran)) for job, ran in zip(*view.ended(), strict=True))
        Reserving(0).decide(view)

    for schedule in in_both(workload, listen, cluster=cluster, node_events=events):
        assert heard == told
        assert schedule.start_time[1] == told[0][0]
        heard.clear()


def test_a_run_is_expected_to_last_longer_only_if_somebody_waits_for_its_end():
    # Job 1 outlives its request at 11. When job 0 ends at 20, nobody waits, or a job of the whole machine does.
    alone = jobs_of((0, 20, 10, 1), (1, 30, 10, 1)).replace(requests_enforced=False)
    waited_for = jobs_of((0, 20, 10, 1), (1, 30, 10, 1), (2, 5, 5, 4)).replace(requests_enforced=False)
    assert [one.corrections.tolist() for one in in_both(alone, Reserving(0))] == [[0, 0]] * 2
    assert [one.corrections.tolist() for one in in_both(waited_for, Reserving(0))] == [[0, 1, 0]] * 2


def test_how_often_a_run_was_expected_to_last_longer_is_that_of_the_last_run():
    # Job 0 outlives its request when job 1 comes at 12. Its node is down from 15 to 16, and nobody waits after that.
    workload = jobs_of((0, 30, 10, 4), (12, 5, 5, 4))
    cluster = Cluster.of_nodes(NodeGroup.of("n1", cores=4), partitions=[Partition("p", default=True, overtime=60)])
    events = NodeEvents((NodeEvent(15, "down", ("n1",)), NodeEvent(16, "up", ("n1",))))
    for schedule in in_both(workload, Reserving(0), cluster=cluster, node_events=events):
        assert schedule.start_time.tolist() == [21, 16]
        assert schedule.corrections.tolist() == [0, 0]


def test_who_waits_first_is_told_at_each_event_also_of_one_at_which_no_pass_is_asked():
    # By the score, the least first, job 1 is the first at 2 (both 0, and it came first), job 2 at 40 (18, job 1: 76).
    # At 40, a job is submitted that waits for another one: no pass, but the order is a new one.
    workload = jobs_of((0, 100, 100, 4), (1, 10, 10, 4), (2, 10, 10, 1), (40, 10, 10, 1))
    licences = Resources.of(4, licenses=["L", "", "", ""])  # the cluster has a limit, so that reasons are told
    workload = workload.replace(dependencies=Dependencies.from_pairs([3], [0], jobs=4), resources=licences)
    cluster = Cluster.of_nodes(NodeGroup.of("n1", cores=4), licenses={"L": 1})
    for backfill in (Reserving(1), "easy"):
        for schedule in in_both(workload, backfill, '"max(w-20,0)*p"', cluster=cluster):
            assert schedule.start_time.tolist() == [0, 110, 100, 100]
            assert schedule.waited_for is not None
            assert schedule.waited_for["Resources"].tolist() == [0, 39 + 10, 60, 0]
            assert schedule.waited_for["Priority"].tolist() == [0, 60, 38, 0]


def test_reservations_stand_beside_each_other_and_can_be_cancelled():
    told = []

    def plan(view):
        if view.now == 3:
            told.extend([view.earliest(1), view.reserve(1), view.earliest(1), view.fits(3), view.earliest(3)])
            view.cancel(1)
            told.append(view.earliest(3))
        Reserving(1).decide(view)

    starts(jobs_of((0, 10, 10, 2), (1, 10, 10, 4), (2, 5, 5, 1), (3, 20, 20, 1)), plan)
    assert told == [10, 10, 10, False, 20, 3]


def test_a_pass_is_woken_when_it_asks_to_be():
    called = []

    def later(view):
        called.append(view.now)
        if view.now < 100:
            view.wake_at(100)
        else:
            view.start(view.waiting[0])

    assert starts(jobs_of((0, 5, 5, 1), (7, 5, 5, 1)), later) == [100, 105]
    assert called == [0, 7, 100, 105]


def test_state_on_a_pass_is_that_of_one_simulation():
    class Once(Pass):
        def __init__(self):
            self.calls = 0

        def decide(self, view):
            self.calls += 1
            assert self.calls <= 2
            view.start(view.waiting[0])

    decider = Once()
    assert starts(jobs_of((0, 5, 5, 1), (7, 5, 5, 1)), decider) == starts(jobs_of((0, 5, 5, 1), (7, 5, 5, 1)), decider)
    assert decider.calls == 0


def test_the_jobs_of_the_warm_up_start_in_order_before_a_pass_is_asked():
    assert starts(THREE, Reserving(1), in_order=2) == [0, 10, 20, 20]


def test_a_simulation_in_steps_forks_and_grows_with_its_pass():
    workload = jobs_of(*[(second, 20, 30, 2) for second in range(12)], user_id=[1, 2] * 6)
    scheduler = Scheduler("fcfs", Everything(1, 1))
    whole = simulate(workload, scheduler).start_time.tolist()
    simulation = Simulation(workload[:8], scheduler)
    simulation.run(7)
    simulation.submit(workload[8:])
    fork = simulation.fork()
    assert simulation.run()
    assert fork.run()
    assert simulation.schedule().start_time.tolist() == fork.schedule().start_time.tolist() == whole


def test_a_pass_cannot_be_saved(tmp_path):
    with pytest.raises(InputError, match=r"^\+<Reserving\(most=1\)> is a pass in Python: its state cannot be saved$"):
        Simulation(THREE, Scheduler("fcfs", Reserving(1))).save(tmp_path / "one.sim")


@pytest.mark.parametrize(
    ("decide", "told"),
    [
        (lambda view: view.start(9), "there is no job 9: jobs are numbered from 0 to 3"),
        (lambda view: view.start("first"), "'first' is not the number of a job: take one of view.waiting"),
        (lambda view: view.start(3), "job 4 (number 3) does not wait: take one of view.waiting"),
        (lambda view: [view.start(0), view.start(0)], "job 1 (number 0) does not wait: take one of view.waiting"),
        (lambda view: view.wake_at(0), "wake_at(0): must be after second 0"),
        (lambda view: view.column("colour"), "unknown column 'colour'"),
        (lambda view: 1 / 0, "ZeroDivisionError: division by zero"),
    ],
)
def test_what_a_pass_does_wrong_is_told_with_its_name_and_the_second(decide, told):
    with pytest.raises(InputError) as error:
        starts(THREE, decide)
    assert str(error.value).startswith("pass <lambda>, second 0: ")
    assert told in str(error.value)


def test_a_job_that_does_not_fit_is_told_with_the_reason():
    def all_at_once(view):
        for job in view.waiting:
            view.start(job)

    with pytest.raises(InputError, match=r"second 1: job 2 \(number 1\) needs 4 processors, but 1 are free$"):
        starts(THREE, all_at_once)

    def beside(view):
        if view.now == 3:
            view.reserve(1)
            view.start(3)
        Reserving(1).decide(view)

    with pytest.raises(InputError, match=r"second 3: job 4 \(number 3\) does not fit before second 20, beside what"):
        starts(jobs_of((0, 10, 10, 2), (1, 10, 10, 4), (2, 5, 5, 1), (3, 20, 20, 1)), beside)


def test_a_pass_that_lets_jobs_wait_for_ever_is_told(monkeypatch):
    with pytest.raises(InputError, match=r"^4 jobs never started, .*: the pass <lambda> waited until nothing could"):
        starts(THREE, lambda view: None)
    monkeypatch.setattr(own_pass, "MOST_WAKES", 50)
    with pytest.raises(InputError, match=r"called 50 times in a row, and nothing has started or ended; 4 jobs wait$"):
        starts(THREE, lambda view: view.wake_at(view.now + 1))


def test_what_a_pass_cannot_be_combined_with_is_refused_with_the_reason():
    with pytest.raises(InputError, match=r"=1\)> does not go with starvation=60: the pass sees how"):
        Scheduler("fcfs", Reserving(1), starvation=60)
    with pytest.raises(InputError, match=r"=1\)> does not go with events=pyss: a pass of one's own"):
        starts(THREE, Reserving(1), events="pyss")


def test_a_pass_cannot_begin_in_the_middle():
    with pytest.raises(InputError, match=r"^a pass in Python that schedules cannot begin in the middle"):
        Simulation.from_state(THREE, [0, -1, -1, -1], 5, scheduler=Scheduler("fcfs", Reserving(1)))


@pytest.mark.parametrize(
    ("decide", "told"),
    [
        (lambda view: view.column("run_time"), "column 'run_time' is not known before a job has ended"),
        (lambda view: sys.exit(0), "SystemExit: 0"),
        (lambda view: [0, 1], "decide(view) returned [0, 1]: it starts jobs by view.start(job)"),
        (lambda view: (yield), "decide(view) returned"),
        (Pass(), "NotImplementedError: a pass needs a method decide(self, view)"),
    ],
)
def test_what_cannot_be_a_decision_is_told(decide, told):
    for simulation in (simulate, simulate_plain):
        with pytest.raises(InputError) as error:
            simulation(THREE, Scheduler("fcfs", decide))
        assert told in str(error.value)


def test_a_pass_that_cannot_be_copied_is_told():
    class Locked(Pass):
        def __init__(self):
            self.lock = threading.Lock()

    with pytest.raises(InputError, match=r"^pass <Locked> cannot be copied: TypeError: cannot pickle"):
        simulate(THREE, Scheduler("fcfs", Locked()))


def test_on_nodes_a_pass_sees_idle_nodes_and_free_gpus_by_group():
    # One task holds a GPU of g1; two nodes of n are taken, one of them whole; and g2 is down from second 5 on.
    workload = jobs_of((0, 100, 100, 1), (1, 100, 100, 2), (2, 100, 100, 1), (6, 1, 1, 1), processors=16)
    asked = Resources.of(4, tasks=[1, 2, 1, 1], gpus_per_task=[1, 0, 0, 0], exclusive=[0, 1, 0, 0])
    groups = (NodeGroup.of("n[1-4]", cores=2, weight=1), NodeGroup.of("g[1-2]", cores=4, gpus=3, weight=2))
    cluster, seen = Cluster.of_nodes(groups), []

    def look(view):
        seen.append((view.now, view.free_nodes.tolist(), view.free_gpus.tolist()))
        Reserving(1).decide(view)

    scheduler, down = Scheduler("fcfs", look), NodeEvents((NodeEvent(5, "down", ("g2",)),))
    prepared = prepare(workload.replace(resources=asked), scheduler, cluster=cluster, node_events=down)
    for run in (lambda: Driver(prepared, assemble(prepared)).run(), lambda: replay(prepared)):
        seen.clear()
        run()
        assert seen == [(0, [4, 2], [0, 6]), (1, [4, 1], [0, 5]), (2, [3, 1], [0, 5]), (6, [2, 0], [0, 2])]


def test_a_job_beyond_a_limit_is_not_allowed_and_easy_in_python_passes_it_over():
    # There is one licence: the second job waits for the first, and the third for neither.
    workload = jobs_of((0, 100, 100, 4), (1, 50, 50, 4), (2, 20, 20, 4), processors=8)
    workload = workload.replace(resources=Resources.of(3, tasks=[4, 4, 4], licenses=["L", "L", ""]))
    cluster = Cluster.of_nodes(NodeGroup.of("n1", cores=8), licenses={"L": 1})
    seen = []

    def look(view):
        seen.append((view.now, [view.allowed(job) for job in view.waiting]))
        Reserving(1).decide(view)

    scheduler = Scheduler("fcfs", look)
    assert starts(workload, look, cluster=cluster) == [0, 100, 2]
    assert replay(prepare(workload, scheduler, cluster=cluster)).start_time.tolist() == [0, 100, 2]
    assert (1, [False]) in seen
    assert (2, [False, True]) in seen
    # Whoever waits for a licence is no head: as under the built-in EASY, nobody is ahead of it.
    for built in (look, "easy"):
        assert simulate(workload, Scheduler("fcfs", built), cluster=cluster).backfilled.tolist() == [False] * 3
    assert not replay(prepare(workload, scheduler, cluster=cluster)).backfilled.any()
