"""Malleable jobs by hand: what a pass sees and may do, what a schedule tells, and what is refused.

The first cases with a pencil are 63 to 65 in `conformance/`; all numbers here are worked out in the same way.
"""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine import simulate
from schedlab.engine.reference.simulate import simulate_plain
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.scheduler import Pass, Scheduler
from schedlab.speculate.requests import Requests, no_distributions
from schedlab.workload.alternatives import Alternatives
from schedlab.workload.workload import Workload

pytestmark = pytest.mark.both

ENGINES = pytest.mark.parametrize("engine", [simulate, simulate_plain], ids=["engine", "reference"])


def jobs_of(*rows, sizes, processors=4, **columns):
    """Return jobs of (submit, run time, request, processors), and their other sizes as texts."""
    submit, run, request, wide = zip(*rows, strict=True)
    given = {"submit_time": submit, "run_time": run, "requested_time": request, "requested_processors": wide}
    jobs = Workload.from_columns({**given, **columns}, processors=processors)
    return jobs.replace(alternatives=Alternatives.from_texts(sizes))


LONE = jobs_of((0, 100, 120, 2), sizes=["1x200 4x60 malleable"])


class Scripted(Pass):
    """Starts all that fits, and resizes at seconds that are written down: {second: [(job, processors), ...]}."""

    def __init__(self, script):
        self.script = script

    def decide(self, view):
        for job in view.waiting:
            if view.fits(job):
                view.start(job)
        for job, processors in self.script.get(view.now, ()):
            view.resize(job, processors)
        for second in sorted(self.script):
            if second > view.now:
                view.wake_at(second)


@ENGINES
def test_what_is_left_takes_as_long_as_with_the_new_size_in_proportion(engine):
    # 40 of 100 s are done at second 40: 60 left, 120 with one processor. 50 of these later 70: 70 x 60 / 200 = 21.
    schedule = engine(LONE, Scheduler("fcfs", Scripted({40: [(0, 1)], 90: [(0, 4)]})))
    assert schedule.sizes.tolist() == [(0, 0, 40, 2), (0, 40, 90, 1), (0, 90, 111, 4)]
    assert (schedule.start_time.tolist(), schedule.end_time.tolist()) == ([0], [111])
    assert schedule.work.tolist() == [40 * 2 + 50 + 21 * 4]
    assert schedule.metrics()["utilisation"] == pytest.approx(214 / (4 * 111))


@ENGINES
def test_changes_of_one_second_are_one_change_and_back_again_is_none(engine):
    script = {10: [(0, 4), (0, 1), (0, 2)], 20: [(0, 1), (0, 4)]}
    schedule = engine(LONE, Scheduler("fcfs", Scripted(script)))
    # 80 left at 20, with 4: 80 x 60 / 100 = 48.
    assert schedule.sizes.tolist() == [(0, 0, 20, 2), (0, 20, 68, 4)]


@ENGINES
def test_a_run_may_change_more_often_than_there_was_room_to_note(engine):
    """Two seconds with 2 processors, two with 1 and so on: 15 of 100 s are done after 20, and 85 are left with two."""
    script = {second: [(0, 1 if second % 4 == 2 else 2)] for second in range(2, 21, 2)}
    schedule = engine(LONE, Scheduler("fcfs", Scripted(script)))
    assert len(schedule.sizes) == 11
    assert schedule.end_time.tolist() == [20 + 85]


@ENGINES
def test_a_run_that_changes_in_the_second_of_its_start_has_had_that_size_all_along(engine):
    schedule = engine(LONE, Scheduler("fcfs", Scripted({0: [(0, 4)]})))
    assert schedule.sizes.tolist() == [(0, 0, 60, 4)]


@ENGINES
def test_a_job_that_is_ended_at_its_request_is_so_with_each_size(engine):
    jobs = jobs_of((0, 100, 80, 2), sizes=["1x200 malleable"])  # 160 s with one processor, in proportion
    schedule = engine(jobs, Scheduler("fcfs", Scripted({20: [(0, 1)]})))
    assert schedule.killed.tolist() == [True]
    assert schedule.end_time.tolist() == [20 + 60 * 2]


@ENGINES
def test_expected_ends_are_scaled_by_requests_and_reservations_see_them(engine):
    """Job 0 is expected to end at 120, with one processor from 20 on at 20 + 100 x 240 / 120 = 220."""
    jobs = jobs_of((0, 100, 120, 2), (0, 50, 50, 4), sizes=["1x200 malleable", ""])
    seen = []

    def look(view):
        for job in view.waiting.tolist():
            if view.fits(job):
                view.start(job)
        if view.now == 0:
            seen.append(view.earliest(1))
            view.wake_at(20)
        if view.now == 20:
            view.resize(0, 1)
            seen.append((view.earliest(1), int(view.predicted[0]), int(view.processors[0]), view.free))

    engine(jobs, Scheduler("fcfs", look))
    assert seen == [120, (220, 220, 1, 3)]


@ENGINES
def test_a_run_may_not_grow_into_what_is_reserved_nor_shrink_behind_the_begin_of_a_reservation(engine):
    """Four processors: job 0 has two until 120, job 1 waits for three of them, from 120 on for 50 s."""
    jobs = jobs_of((0, 100, 120, 2), (0, 50, 50, 3), sizes=["1x200 3x80 4x60 malleable", ""])
    answers = []

    def look(view):
        for job in view.waiting.tolist():
            if view.fits(job):
                view.start(job)
        if view.now == 0:
            assert view.reserve(1) == 120
            # With one processor until 240, beside three from 120 on; with three or four it ends before 120.
            answers.extend(view.can_resize(0, size) for size in (1, 2, 3, 4, 5))

    engine(jobs, Scheduler("fcfs", look))
    assert answers == [True, True, True, True, False]

    wide = jobs_of((0, 100, 120, 2), (0, 50, 50, 4), sizes=["1x200 malleable", ""])
    answers.clear()

    def ask(view):
        for job in view.waiting.tolist():
            if view.fits(job):
                view.start(job)
        if view.now == 0:
            view.reserve(1)
            answers.append(view.can_resize(0, 1))  # it would run until 240, and the reservation begins at 120
            view.cancel(1)
            answers.append(view.can_resize(0, 1))

    engine(wide, Scheduler("fcfs", ask))
    assert answers == [False, True]


@ENGINES
def test_a_waiting_job_starts_with_the_size_that_it_was_given_last(engine):
    def choose(view):
        for job in view.waiting.tolist():
            assert view.sizes(job).tolist() == [1, 2, 4]
            view.reserve(job)
            view.resize(job, 4)
            view.start(job)

    schedule = engine(LONE, Scheduler("fcfs", choose))
    assert schedule.sizes.tolist() == [(0, 0, 60, 4)]
    assert schedule.workload.job_processors.tolist() == [2]


@ENGINES
def test_a_pass_is_asked_when_no_job_waits_as_long_as_any_runs(engine):
    seen = []

    def look(view):
        seen.append((view.now, view.waiting.tolist(), view.running.tolist()))
        for job in view.waiting:
            view.start(job)

    jobs = jobs_of((0, 50, 50, 1), (0, 100, 120, 2), sizes=["", "1x200 malleable"])
    engine(jobs, Scheduler("fcfs", look))
    assert seen == [(0, [0, 1], []), (50, [], [1])]


def elastic(view):
    """Start what fits with as many processors as there are, and let runs grow: ElastiSim's published example."""
    for job in sorted([*view.waiting.tolist(), *view.running.tolist()]):
        most = [size for size in view.sizes(job).tolist() if view.can_resize(job, size)]
        if job in view.waiting:
            fits = [size for size in most if size <= view.free]
            if fits:
                view.resize(job, fits[-1])
                view.start(job)
        elif most[-1] > view.processors[job]:
            view.resize(job, most[-1])


@ENGINES
def test_elastisims_example_of_a_scheduler_differs_by_its_scheduling_points(engine):
    """Two nodes are taken until 50; a job of 400 node-seconds has the other two, and grows to four.

    Here it grows at once: 100 node-seconds are done, 300 / 4 = 75 s are left, and it ends at 125. In ElastiSim, a
    change waits for the next scheduling point. With ten phases of 40 node-seconds, these are at 20, 40 and 60: 120 are
    done then, and it ends at 60 + 280 / 4 = 130. By its documentation, worked out by hand; it was not run.
    """
    jobs = jobs_of((0, 50, 50, 2), (0, 200, 200, 2), sizes=["", "1x400 3x134 4x100 malleable"])
    assert engine(jobs, Scheduler("fcfs", elastic)).end_time.tolist() == [50, 125]

    def at_points(view):
        elastic_at(view, lambda now: -(-now // 20) * 20)

    def elastic_at(view, point):
        if view.now == point(view.now):
            elastic(view)
        else:
            view.wake_at(point(view.now))

    assert engine(jobs, Scheduler("fcfs", at_points)).end_time.tolist() == [50, 130]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ({0: [(0, 3)]}, r"job 1 \(number 0\) cannot have 3 processors, only 1 2 4"),
        ({0: [(1, 2)]}, r"job 2 \(number 1\) cannot have 2 processors, only 1"),
        ({0: [(0, 4)]}, r"job 1 \(number 0\) needs 2 processors more, but 1 are free"),
        ({0: [(2, 4)]}, "there is no job 2"),
        ({0: [(0, 2.5)]}, "processors=2.5 is not a whole number"),
        ({10: [(1, 1)]}, r"job 2 \(number 1\) neither waits nor runs"),
    ],
)
def test_what_a_pass_may_not_do_is_one_sentence(script, message):
    jobs = jobs_of((0, 100, 120, 2), (0, 5, 5, 1), sizes=["1x200 4x60 malleable", ""])
    with pytest.raises(InputError, match=f"pass .*second {min(script)}: {message}"):
        simulate(jobs, Scheduler("fcfs", Scripted(script)))


def test_a_job_that_is_not_malleable_has_one_size():
    rigid = LONE.replace(alternatives=None)
    assert simulate(rigid, Scheduler("fcfs", Scripted({0: [(0, 2)]}))).sizes is None
    with pytest.raises(InputError, match="is not malleable: it has one size"):
        simulate(rigid, Scheduler("fcfs", Scripted({0: [(0, 4)]})))


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("4x60 4x70 malleable", "job 1 is malleable, and has two run times for 4 processors"),
        ("2x60 malleable", "two run times for 2 processors"),
        ("4x0 malleable", "needs a run time of a second at least with 4 processors"),
        ("4x60/0 malleable", "has no requested time with 4 processors"),
        ("4x60/50 malleable", "reaches its requested time or not, depending on its size"),
        ("4x9999999999 malleable", "runs or asks for 2147483648 s or longer with 4 processors"),
    ],
)
def test_sizes_that_cannot_be_simulated_are_refused(sizes, message):
    with pytest.raises(InputError, match=message):
        simulate(jobs_of((0, 100, 120, 2), sizes=[sizes]), "fcfs+malleable")


def test_sizes_that_the_machine_is_too_small_for_are_left_out_and_counted():
    schedule = simulate(jobs_of((0, 100, 120, 2), sizes=["4x60 8x40 malleable"]), "fcfs+malleable")
    assert schedule.sizes.tolist() == [(0, 0, 60, 4)]
    assert schedule.specification["dropped_alternatives"] == 1


def test_under_passes_that_choose_once_a_malleable_job_is_a_moldable_one():
    schedule = simulate(LONE, "fcfs+easy")
    assert schedule.sizes is None
    assert schedule.alternative.tolist() == [0]


def test_without_malleable_jobs_the_pass_is_easy():
    rng = np.random.default_rng(3)
    jobs = Workload.from_columns(
        {
            "submit_time": np.sort(rng.integers(0, 500, 60)),
            "run_time": rng.integers(1, 90, 60),
            "requested_time": np.full(60, 100),
            "requested_processors": rng.integers(1, 9, 60),
        },
        processors=8,
    )
    for policy in ("fcfs", "saf"):
        ours, easy = simulate(jobs, f"{policy}+malleable"), simulate(jobs, f"{policy}+easy")
        assert ours.start_time.tolist() == easy.start_time.tolist()


class Compiled(Pass):
    compiled = True

    def decide(self, view):
        for job in view.waiting:
            view.start(job)


@pytest.mark.parametrize(
    ("scheduler", "options", "message"),
    [
        ("fcfs+malleable@ave2", {}, "run times of jobs that were resized would be learned"),
        ("fcfs@actual+malleable", {}, "the order of the queue sees jobs with their own sizes"),
        ("multifactor(age=1)+malleable", {}, "the use of a job is counted by its last size"),
        ("fcfs+malleable", {"cluster": Cluster.of_nodes(NodeGroup.of("n[1-4]", cores=1))}, "which nodes a job gets"),
        (Scheduler("fcfs", Compiled()), {}, "compiled passes cannot resize jobs"),
        ("fcfs+malleable", {"events": "pyss"}, "comes once for all that a second brings"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_sentence(scheduler, options, message):
    with pytest.raises(InputError, match=message):
        simulate(LONE, scheduler, **options)


def test_malleable_jobs_run_once():
    one, none = np.array([0, 2]), np.array([-1])
    asked = Requests(one, np.array([50, 120]), np.array([500]), np.zeros(1), none, none, 0, no_distributions())
    with pytest.raises(InputError, match="malleable jobs run once; drop requests= and run-time distributions"):
        simulate(LONE, "fcfs+malleable", requests=asked)


def test_jobs_that_are_moldable_and_not_malleable_do_not_go_with_a_pass_of_ones_own():
    jobs = jobs_of((0, 9, 9, 2), (0, 9, 9, 2), sizes=["1x18 malleable", "1x18"])
    with pytest.raises(InputError, match="it would have to choose among the alternatives of a job"):
        simulate(jobs, "fcfs+malleable")


def test_a_simulation_in_steps_is_forked_and_gets_more_jobs_while_runs_have_other_sizes():
    jobs = jobs_of((0, 100, 100, 4), (20, 40, 40, 2), sizes=["2x200 malleable", ""])
    whole = simulate(jobs, "fcfs+malleable").sizes.tolist()
    one = Simulation(jobs[:1], "fcfs+malleable", processors=4)
    one.run(until=10)
    one.submit(jobs[1:])
    one.run(until=30)
    fork = one.fork()
    with pytest.raises(InputError, match="run times of malleable jobs are those of their sizes"):
        one.set_run_times([0], [200])
    for simulation in (one, fork):
        simulation.run()
        assert simulation.schedule().sizes.tolist() == whole
