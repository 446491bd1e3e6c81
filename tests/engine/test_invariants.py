"""What must hold for every schedule, whatever the scheduler."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_workloads import SCHEDULERS, workloads

from schedlab.engine import simulate
from schedlab.workload.workload import Workload

schedulers = st.sampled_from(SCHEDULERS)
orders = st.sampled_from(["batched", "pyss"])


def simulate_any(workload, scheduler, events):
    return simulate(workload, scheduler, events=events if workload.requests_enforced else "batched")


@given(workload=workloads(), scheduler=schedulers, events=orders)
@settings(max_examples=300, deadline=None)
def test_there_are_never_more_processors_in_use_than_there_are(workload, scheduler, events):
    schedule = simulate_any(workload, scheduler, events)
    for second in set(schedule.start_time.tolist()):
        running = (schedule.start_time <= second) & (second < schedule.end_time)
        assert workload.requested_processors[running].sum() <= workload.processors


@given(workload=workloads(), scheduler=schedulers, events=orders)
@settings(max_examples=300, deadline=None)
def test_no_job_starts_before_its_submission_and_each_does_all_its_work(workload, scheduler, events):
    schedule = simulate_any(workload, scheduler, events)
    assert (schedule.start_time >= workload.submit_time).all()
    allowed = np.minimum(workload.run_time, workload.requested_time)
    expected = allowed if workload.requests_enforced else workload.run_time
    assert (schedule.run_time == expected).all()
    assert (schedule.killed == (expected < workload.run_time)).all()


@given(workload=workloads(), scheduler=schedulers, shift=st.integers(1, 10**9))
@settings(max_examples=150, deadline=None)
def test_the_zero_of_the_clock_does_not_matter(workload, scheduler, shift):
    later = workload.replace(submit_time=workload.submit_time + shift)
    assert (simulate(later, scheduler).start_time == simulate(workload, scheduler).start_time + shift).all()


@given(workload=workloads(), scheduler=schedulers, random=st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_renumbering_and_reordering_the_jobs_changes_nothing(workload, scheduler, random):
    """Jobs of the same second keep their order in the trace, for that is the tie-break."""
    distinct = workload.replace(submit_time=workload.submit_time * len(workload) + np.arange(len(workload)))
    rows = list(range(len(workload)))
    random.shuffle(rows)
    shuffled = distinct[np.array(rows)].replace(job_id=np.arange(1000, 1000 + len(rows)))
    before = simulate(distinct, scheduler).start_time
    assert (simulate(shuffled, scheduler).start_time == before[rows]).all()


@pytest.mark.parametrize("scheduler", ["fcfs+easy", "saf+easy", "spf+easy:lqf", "fcfs+conservative", "lpf"])
@given(workload=workloads(), factor=st.integers(2, 1000))
@settings(max_examples=40, deadline=None)
def test_larger_processors_on_a_larger_machine_change_nothing(scheduler, workload, factor):
    larger = workload.replace(
        requested_processors=workload.requested_processors * factor, processors=workload.processors * factor
    )
    assert (simulate(larger, scheduler).start_time == simulate(workload, scheduler).start_time).all()


@given(workload=workloads(), scheduler=schedulers, events=orders)
@settings(max_examples=60, deadline=None)
def test_the_same_input_gives_the_same_bits(workload, scheduler, events):
    first, second = (simulate_any(workload, scheduler, events) for _ in range(2))
    assert first.start_time.tobytes() == second.start_time.tobytes()
    assert first.backfilled.tobytes() == second.backfilled.tobytes()


def reserved_start(workload: Workload, start: np.ndarray, job: int) -> int:
    """Return when a job would fit, once it heads the queue, if nobody submitted after it were started any more."""
    submit, run, width = workload.submit_time, workload.run_time, workload.requested_processors
    heads_from = max(submit[job], start[:job].max(initial=0))
    before = (start < heads_from) | ((start == heads_from) & (np.arange(len(start)) < job))
    before[job] = False
    moments = sorted({int(heads_from), *(start[before] + run[before]).tolist()})
    for second in moments:
        in_use = before & (start + run > second)
        if second >= heads_from and width[in_use].sum() + width[job] <= workload.processors:
            return second
    raise AssertionError("the machine never empties")


@given(workload=workloads(shortest=1, enforced=False))
@settings(max_examples=300, deadline=None)
def test_easy_never_delays_the_head_when_run_times_are_exact(workload):
    """The promise of EASY (Mu'alem & Feitelson, TPDS 2001): backfilling does not move the head's reservation."""
    workload = workload.sorted_by_submit()
    for text in ("fcfs+easy@actual", "fcfs+easy:sjf@actual"):
        start = simulate(workload, text).start_time
        for job in range(len(workload)):
            assert start[job] <= reserved_start(workload, start, job)


@given(workload=workloads(shortest=1, enforced=False))
@settings(max_examples=200, deadline=None)
def test_conservative_backfilling_delays_nobody_when_run_times_are_exact(workload):
    """By induction over submissions: with exact run times nobody starts later than under strict FCFS."""
    conservative = simulate(workload, "fcfs+conservative@actual").start_time
    assert (conservative <= simulate(workload, "fcfs@actual").start_time).all()


@given(workload=workloads())
@settings(max_examples=200, deadline=None)
def test_with_fewest_processors_first_easy_never_backfills(workload):
    """Proposition of Carastan-Santos' thesis, chapter 4: whoever stands behind the head needs no fewer processors."""
    schedule = simulate(workload, "sqf+easy")
    assert not schedule.backfilled.any()
    assert (schedule.start_time == simulate(workload, "sqf").start_time).all()


@given(workload=workloads())
@settings(max_examples=100, deadline=None)
def test_a_window_over_the_whole_queue_and_endless_patience_are_no_options_at_all(workload):
    plain = simulate(workload, "saf+easy").start_time
    assert (simulate(workload, "saf+easy,window=1000").start_time == plain).all()
    assert (simulate(workload, "saf+easy,starvation=1000000").start_time == plain).all()


@given(workload=workloads(), threshold=st.integers(0, 60))
@settings(max_examples=150, deadline=None)
def test_in_order_of_arrival_a_starvation_threshold_changes_nothing(workload, threshold):
    plain, limited = (simulate(workload, f"fcfs+easy{option}") for option in ("", f",starvation={threshold}"))
    assert (limited.start_time == plain.start_time).all()
    assert (limited.backfilled == plain.backfilled).all()


@given(workload=workloads(), text=st.sampled_from(["p", "-q", "p*q", "sqrt(p)*q + 3*log10(r+1)"]))
@settings(max_examples=100, deadline=None)
def test_a_score_that_does_not_use_the_waiting_time_is_the_same_in_both_event_loops(workload, text):
    """`0*w` sends the same order through the loop that scores anew at every pass."""
    fixed = simulate(workload, f'"{text}"+easy').start_time
    assert (simulate(workload, f'"{text} + 0*w"+easy').start_time == fixed).all()
