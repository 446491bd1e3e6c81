"""Time windows, load scaling and resampling, by hand and against the sequences of the SC'17 study."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.durations import WEEK
from schedlab.errors import InputError
from schedlab.workload.sampling import (
    offered_load,
    rebase,
    resample_users,
    scale_load,
    time_window,
    windows,
)
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload


def jobs_at(submit_times, **attributes) -> Workload:
    """Jobs of 10 s on one processor, but for what is given."""
    count = len(submit_times)
    columns = {"submit_time": submit_times, "run_time": [10] * count, "requested_processors": [1] * count}
    return Workload.from_columns({**columns, **attributes}, name="jobs", processors=4, start_time=1000)


submits = st.lists(st.integers(0, 10**6), min_size=1, max_size=60)


def test_the_offered_load_is_the_work_over_what_the_machine_can_do():
    jobs = jobs_at([0, 50, 100], run_time=[10, 20, -1], requested_processors=[3, 4, 4])
    assert offered_load(jobs) == pytest.approx((30 + 80) / (4 * 100))
    assert offered_load(jobs, processors=2) == pytest.approx((30 + 80) / (2 * 100))


def test_the_load_of_jobs_in_one_second_or_of_no_machine_is_refused():
    with pytest.raises(InputError, match="submitted at different times"):
        offered_load(jobs_at([5, 5]))
    with pytest.raises(InputError, match="give processors="):
        offered_load(jobs_at([0, 5]).replace(processors=None))


@given(submits, st.floats(0.1, 10))
def test_scaling_divides_every_gap_up_to_rounding(submit_times, factor):
    jobs = jobs_at(submit_times)
    scaled = scale_load(jobs, factor=factor)
    assert scaled.submit_time.min() == jobs.submit_time.min()
    exact = (jobs.submit_time - jobs.submit_time.min()) / factor
    assert np.abs(scaled.submit_time - scaled.submit_time.min() - exact).max() <= 0.5
    assert np.array_equal(scaled.run_time, jobs.run_time)


@pytest.mark.parametrize("load", [0.1, 0.9, 3.0])
def test_scaling_reaches_the_load_asked_for(load):
    jobs = jobs_at(np.arange(0, 10**6, 1000), run_time=[3000] * 1000)
    assert offered_load(scale_load(jobs, load=load)) == pytest.approx(load, rel=1e-5)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ({}, "give one of factor= and load="),
        ({"factor": 2, "load": 0.5}, "give one of factor= and load="),
        ({"factor": 0.0}, "positive"),
        ({"factor": float("nan")}, "positive"),
        ({"load": -0.5}, "load=-0.5 is not a number above 0"),
    ],
)
def test_a_load_that_makes_no_sense_is_refused(target, message):
    with pytest.raises(InputError, match=message):
        scale_load(jobs_at([0, 9]), **target)


def test_jobs_without_work_cannot_reach_a_load():
    with pytest.raises(InputError, match="the factor of the load must be positive"):
        scale_load(jobs_at([0, 9], run_time=[0, 0]), load=0.5)


def test_a_time_window_includes_its_start_and_excludes_its_end():
    assert time_window(jobs_at([4, 5, 6, 7]), 5, 7).submit_time.tolist() == [5, 6]


def test_rebasing_keeps_the_date_of_every_job():
    jobs = rebase(jobs_at([40, 30, 60]))
    assert jobs.submit_time.tolist() == [10, 0, 30]
    assert jobs.start_time == 1030


@pytest.mark.parametrize(
    ("processors", "lengths"),
    [
        (256, [753, 1398, 1459, 1483, 972, 1718, 1753, 939, 1193, 1407]),
        (1024, [1520, 1660, 1415, 1565, 1439, 1365, 1674, 1675, 1116, 1213]),
    ],
)
def test_sequences_of_the_model_traces_have_the_lengths_of_the_study(traces: Path, processors, lengths):
    jobs = read_swf(traces / f"synthetic/gen-sched-policies-2017/lublin_{processors}.swf.gz")
    assert [len(sequence) for sequence in islice(windows(jobs), 10)] == lengths


def test_a_sequence_starts_at_zero_and_includes_its_last_second():
    parts = list(windows(jobs_at([100, 110, 200, 201, 300]), length=100, skip_state=1))
    assert [part.submit_time.tolist() for part in parts] == [[0, 10, 100], [0, 99]]
    assert [part.job_id.tolist() for part in parts] == [[1, 2, 3], [4, 5]]


def test_the_jobs_that_fill_the_machine_may_last_longer_than_the_sequence():
    parts = list(windows(jobs_at([0, 500, 501, 502, 503]), length=10, skip_state=2))
    assert [part.submit_time.tolist() for part in parts] == [[0, 1, 2]]


def test_jobs_that_did_not_run_are_in_no_sequence():
    jobs = jobs_at([0, 1, 2, 3], run_time=[10, 0, -1, 10], requested_processors=[1, 1, 1, 0])
    assert [part.job_id.tolist() for part in windows(jobs, skip_state=0)] == [[1]]


@given(submits, st.integers(0, 10**5), st.integers(0, 5))
def test_sequences_never_overlap_and_leave_out_only_what_nothing_counts_in(submit_times, length, skip_state):
    jobs = jobs_at(submit_times)
    found = [job for part in windows(jobs, length=length, skip_state=skip_state) for job in part.job_id]
    order = jobs.sorted_by_submit().job_id.tolist()
    assert found == [job for job in order if job in set(found)]
    assert len(set(found)) == len(found)
    if skip_state == 0:
        assert len(found) == len(jobs)


def profile_weeks(jobs: Workload, first: int, weeks: int) -> dict[tuple[int, int], Counter[tuple[int, int]]]:
    """Return, by user and week, what was submitted when in the week."""
    found = {(user, week): Counter() for user in set(jobs.user_id.tolist()) for week in range(weeks)}
    for submit, user, run_time in zip(jobs.submit_time, jobs.user_id, jobs.run_time, strict=True):
        week, offset = divmod(int(submit - first), WEEK)
        found[int(user), week][offset, int(run_time)] += 1
    return found


@given(
    st.lists(st.tuples(st.integers(0, 5 * WEEK), st.integers(-1, 3)), min_size=1, max_size=40),
    st.integers(1, 6),
    st.sampled_from(["trace", "span"]),
    st.integers(0, 2**32),
)
def test_every_new_week_of_a_user_is_one_of_their_old_weeks(submissions, weeks, profile, seed):
    times, users = zip(*submissions, strict=True)
    jobs = jobs_at(times, user_id=users, run_time=range(1, len(times) + 1))
    sample = resample_users(jobs, weeks, rng=np.random.default_rng(seed), profile=profile)
    first = min(times)
    old = profile_weeks(jobs, first, (max(times) - first) // WEEK + 1)
    for (user, _), content in profile_weeks(sample, first, weeks).items():
        own = {week: jobs for (owner, week), jobs in old.items() if owner == user}
        busy = [week for week, jobs in own.items() if jobs]
        if profile == "span":
            own = {week: jobs for week, jobs in own.items() if busy[0] <= week <= busy[-1]}
        assert content in own.values()
    assert sample.job_id.tolist() == list(range(1, len(sample) + 1))
    assert (np.diff(sample.submit_time) >= 0).all()


def test_whole_trace_profiles_keep_the_number_of_jobs_on_average():
    rng = np.random.default_rng(3)
    # User 1 submits ten jobs in one of four weeks: in four drawn, ten in the mean, variance 4 * 3/16 * 100.
    jobs = jobs_at([*range(10), 3 * WEEK + 5], user_id=[1] * 10 + [2])
    samples = [resample_users(jobs, rng=rng) for _ in range(400)]
    counts = [np.count_nonzero(sample.user_id == 1) for sample in samples]
    assert abs(np.mean(counts) - 10) < 4 * np.sqrt(4 * 3 / 16 * 100 / 400)


def test_span_profiles_of_a_user_of_one_week_repeat_that_week():
    jobs = jobs_at([0, WEEK + 7, 3 * WEEK], user_id=[1, 2, 1])
    sample = resample_users(jobs, rng=np.random.default_rng(1), profile="span")
    assert sample[sample.user_id == 2].submit_time.tolist() == [week * WEEK + 7 for week in range(4)]


def test_resampling_with_the_same_seed_gives_the_same_jobs():
    jobs = jobs_at(np.arange(0, 9 * WEEK, 5000), user_id=np.arange(0, 9 * WEEK, 5000) % 7)
    first, second = (resample_users(jobs, rng=np.random.default_rng(2)) for _ in range(2))
    assert np.array_equal(first.submit_time, second.submit_time)
    assert np.array_equal(first.user_id, second.user_id)


def test_resampling_to_no_week_is_refused():
    with pytest.raises(InputError, match="at least 1 week"):
        resample_users(jobs_at([0]), 0, rng=np.random.default_rng(1))


def test_windows_without_length_and_unknown_profiles_are_refused():
    jobs = Workload.from_columns({"submit_time": [0]})
    with pytest.raises(InputError, match="windows must be 0 s or more"):
        next(windows(jobs, length=-1))
    with pytest.raises(InputError, match="unknown profile 'all'"):
        resample_users(jobs, rng=np.random.default_rng(1), profile="all")
