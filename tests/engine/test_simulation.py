"""simulate(): its results in simple cases, and what it refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from schedlab.engine import simulate
from schedlab.engine.reference.simulate import simulate_plain
from schedlab.errors import InputError
from schedlab.scheduler import FunctionPolicy, Scheduler
from schedlab.workload.workload import Workload


def workload(processors=4, **columns):
    columns = {"submit_time": [0, 1, 2], "run_time": [10, 10, 5], "requested_processors": [3, 4, 1]} | columns
    columns.setdefault("requested_time", columns["run_time"])
    return Workload.from_columns(columns, processors=processors)


def test_the_schedule_says_who_was_backfilled_and_who_was_killed():
    schedule = simulate(workload(requested_time=[10, 7, 5]), "fcfs+easy")
    assert schedule.start_time.tolist() == [0, 10, 2]
    assert schedule.end_time.tolist() == [10, 17, 7]
    assert schedule.backfilled.tolist() == [False, False, True]
    assert schedule.killed.tolist() == [False, True, False]
    assert schedule.predicted_run_time.tolist() == [10, 7, 5]


def test_advisory_requests_kill_nobody():
    jobs = workload(requested_time=[10, 7, 5]).replace(requests_enforced=False)
    schedule = simulate(jobs, "fcfs+easy")
    assert schedule.end_time.tolist() == [10, 20, 7]
    assert not schedule.killed.any()


def test_a_job_without_a_request_can_be_scheduled_by_its_actual_run_time():
    jobs = workload(requested_time=[-1, -1, -1])
    assert simulate(jobs, "fcfs+easy@actual").start_time.tolist() == [0, 10, 2]


def test_the_rows_of_the_trace_keep_their_places():
    rows = np.array([2, 0, 1])
    assert simulate(workload()[rows], "fcfs").start_time.tolist() == [20, 0, 10]


def test_the_machine_can_be_another_than_the_traces():
    assert simulate(workload(), "fcfs", processors=8).start_time.tolist() == [0, 1, 2]


def test_the_first_jobs_can_be_started_in_order_of_submission_whatever_the_policy():
    """As SC'17 does with its first 16: the third job would go first, and may overtake only once two have started."""
    jobs = workload(processors=4, submit_time=[0, 0, 0], run_time=[9, 9, 1], requested_processors=[3, 2, 1])
    assert simulate(jobs, "spf").start_time.tolist() == [0, 9, 0]
    assert simulate(jobs, "spf", in_order=2).start_time.tolist() == [0, 9, 9]
    assert simulate(jobs, "spf+easy", in_order=2).start_time.tolist() == [0, 9, 9]


def test_a_schedule_survives_pickling():
    schedule = pickle.loads(pickle.dumps(simulate(workload(), "saf+easy")))
    assert schedule.start_time.tolist() == [0, 10, 2]


@pytest.mark.parametrize(
    ("changes", "scheduler", "reason"),
    [
        ({"requested_processors": [3, 5, 1]}, "fcfs", "job 2 needs 5 processors but the machine has 4"),
        ({"requested_processors": [3, 0, 1]}, "fcfs", "job 2 has no number of processors"),
        ({"run_time": [10, -1, 5]}, "fcfs", "job 2 has no run time"),
        ({"submit_time": [0, -7, 2]}, "fcfs", "job 2 has a negative submit time"),
        ({"requested_time": [10, -1, 5]}, "fcfs+easy", "job 2 has no requested time"),
        ({"run_time": [10, 2**62, 5]}, "fcfs", "job 2 is the largest of those whose run times add up to more than"),
        (
            {"requested_time": [10, 2**61, 5]},
            "fcfs+conservative",
            "job 2 is the largest of those whose requested times",
        ),
        ({}, "fcfs+magic", "unknown backfilling"),
        ({}, '"ln(p-10)"', "score is not a number for the job submitted at 2 s"),
        ({}, '"ln(w-1)"', "score is not a number for the job submitted at"),
        ({}, 'fcfs+easy:"ln(w-5)"', "score is not a number for the job submitted at"),
        ({}, '"ln(w-9.5)"+conservative', "score is not a number for the job submitted at"),
        ({}, Scheduler(FunctionPolicy(lambda w: w * np.nan), "easy"), "second 0: the score of job 1 is not a number"),
        ({}, Scheduler(FunctionPolicy(lambda p: p * np.nan), "easy"), "second 0: the score of job 1 is not a number"),
    ],
)
def test_what_cannot_be_simulated_is_refused_in_one_sentence(changes, scheduler, reason):
    with pytest.raises(InputError, match=reason) as caught:
        simulate(workload(**changes), scheduler)
    assert "\n" not in str(caught.value)


def test_the_blamed_job_is_named_by_its_row():
    with pytest.raises(InputError) as caught:
        simulate(workload(run_time=[10, -1, 5]), "fcfs")
    assert caught.value.row == 1


def test_there_must_be_jobs_and_a_machine_and_a_known_event_order():
    jobs = workload()
    with pytest.raises(InputError, match="no job"):
        simulate(jobs[:0])
    with pytest.raises(InputError, match="the number of processors of the machine is unknown"):
        simulate(jobs.replace(processors=None))
    with pytest.raises(InputError, match="at least 1 processor"):
        simulate(jobs, processors=0)
    with pytest.raises(InputError, match="unknown event order 'random'; known are batched pyss"):
        simulate(jobs, events="random")
    with pytest.raises(InputError, match="too large"):
        simulate(jobs, processors=2**40)
    with pytest.raises(InputError, match="in_order"):
        simulate(jobs, "fcfs+conservative", in_order=-3)


def test_one_event_at_a_time_needs_run_times_within_the_requests():
    jobs = workload(requested_time=[10, 7, 5]).replace(requests_enforced=False)
    with pytest.raises(InputError, match="needs run times within the requests"):
        simulate(jobs, "fcfs+easy", events="pyss")


def test_a_job_that_outlives_its_request_holds_up_a_conservative_plan_only_as_long_as_it_runs():
    """Requests are advisory: the first job asks for 4 s and runs 100 s; the second waits for all of it."""
    jobs = Workload.from_columns(
        {
            "submit_time": [0, 1, 1],
            "run_time": [100, 5, 3],
            "requested_time": [4, 5, 3],
            "requested_processors": [3, 4, 1],
        },
        processors=4,
        requests_enforced=False,
    )
    assert simulate(jobs, "fcfs+conservative").start_time.tolist() == [0, 100, 1]
    assert simulate(jobs, "fcfs+conservative").corrections[0] > 0


@pytest.mark.parametrize("engine", [simulate, simulate_plain])
def test_a_job_that_becomes_overdue_lets_an_old_candidate_start_at_the_next_submission(engine):
    """Worked by hand; requests are advisory. Jobs 1 and 2 hold one processor each until 100, expected until 10 and 50.

    Job 3 needs 3 of 4 processors and is promised second 10, with none to spare; so job 4, 40 s on one processor, may
    not start at 2. When job 5 is submitted at 60, both running jobs are overdue and expected to end at any moment:
    all 4 processors count as free at once, one of them beside job 3, and job 4 takes it.
    """
    jobs = Workload.from_columns(
        {
            "submit_time": [0, 0, 1, 2, 60],
            "run_time": [100, 100, 10, 40, 10],
            "requested_time": [10, 50, 10, 40, 10],
            "requested_processors": [1, 1, 3, 1, 4],
        },
        processors=4,
        requests_enforced=False,
    )
    assert engine(jobs, "fcfs+easy").start_time.tolist() == [0, 0, 100, 60, 110]


def test_what_a_users_function_does_to_its_arguments_stays_with_it():
    def meddling(p):
        p[:] = 1
        return np.arange(len(p))

    jobs = workload(submit_time=[0, 0, 0], run_time=[10, 10, 20])
    assert simulate(jobs, Scheduler(FunctionPolicy(meddling), "easy")).start_time.tolist() == [0, 10, 20]


@pytest.mark.parametrize(
    ("arguments", "options", "reason"),
    [
        (("trace.swf",), {}, "a str is not a workload"),
        ((workload(), None), {}, "None is not a scheduler"),
        ((workload(), min), {}, r"min is not a scheduler: write Scheduler\(min\) for a policy"),
        ((workload(),), {"processors": 4.5}, "processors=4.5 is not a whole number"),
        ((workload(),), {"in_order": "2"}, "in_order='2' is not a whole number"),
    ],
)
def test_arguments_of_the_wrong_kind_are_refused_in_one_sentence(arguments, options, reason):
    with pytest.raises(InputError, match=reason):
        simulate(*arguments, **options)
