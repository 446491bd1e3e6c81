"""Jobs that fail at their requests and come back: by hand, and the compiled engine against its reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.engine import simulate
from schedlab.engine.reference.simulate import simulate_plain
from schedlab.errors import InputError
from schedlab.report.gantt import plot_gantt
from schedlab.report.style import styled_axes
from schedlab.schedule.minutes import minutes_of
from schedlab.schedule.timeline import busy_processors, utilisation_over_time
from schedlab.schedule.window import measured_window
from schedlab.schedule.workflows import work_in_window
from schedlab.scheduler import Scheduler
from schedlab.speculate.requests import DistributionTables, Requests, no_distributions
from schedlab.workload.sections import Sections
from schedlab.workload.workload import Workload

FOREVER = 2**40
UNIFORM = DistributionTables(
    begin=np.zeros(1),
    step=np.full(1, 4.0),
    below=np.linspace(0, 1, 11)[None],
    part=(np.linspace(0, 40, 11) ** 2 / 80)[None],
)
"""A distribution: uniform from 0 to 40 seconds, of which E[X; X <= t] = t^2 / 80."""


def jobs_of(submit: list[int], need: list[int], width: list[int], processors: int = 4) -> Workload:
    columns = {"submit_time": submit, "run_time": need, "requested_time": need, "requested_processors": width}
    return Workload.from_columns(columns, processors=processors)


def asking(*sequences: list[int], growth: float = 0.0, distribution: list[int] | None = None, **fields) -> Requests:
    n = len(sequences)
    values = {
        "offsets": np.concatenate([[0], np.cumsum([len(one) for one in sequences])]),
        "lengths": np.concatenate(sequences).astype(np.int64),
        "most": np.full(n, FOREVER),
        "growth": np.full(n, growth),
        "distribution": np.array(distribution or [-1] * n),
        "application": np.full(n, -1),
        "history": 0,
        "distributions": no_distributions() if distribution is None else UNIFORM,
    }
    return Requests(**(values | fields))


def runs(schedule) -> list[tuple[int, int, int]]:
    return [(int(run["job"]), int(run["start"]), int(run["end"])) for run in schedule.runs]


def test_a_job_comes_back_with_its_next_request_until_it_is_done():
    schedule = simulate(jobs_of([0], [25], [4]), "fcfs", requests=asking([10, 20, 30]))
    assert runs(schedule) == [(0, 0, 10), (0, 10, 30), (0, 30, 55)]
    assert schedule.attempts.tolist() == [3]
    assert schedule.lost_time.tolist() == [30]
    assert schedule.turnaround_time.tolist() == [55]
    assert not schedule.killed[0]


def test_what_failed_runs_take_is_seen_in_use_and_charts_and_is_not_useful():
    schedule = simulate(jobs_of([0, 10], [25, 10], [4, 2]), "fcfs", requests=asking([10, 20, 30], [10]))
    assert runs(schedule) == [(0, 0, 10), (0, 10, 30), (1, 30, 40), (0, 40, 65)]
    assert busy_processors(schedule).values.tolist() == [4, 4, 2, 4, 0]
    assert utilisation_over_time(schedule).values.tolist() == [0, 0, 0.5, 1, 0]
    work = work_in_window(schedule, measured_window(schedule))
    assert work == {"reserved": 4 * 55 + 2 * 10, "useful": 4 * 25 + 2 * 10, "idle": 0}
    minutes = minutes_of(schedule, Sections(0, 0, 120, 120))
    assert minutes.reserved[0] * 60 * 4 == pytest.approx(4 * 50 + 2 * 10)
    assert minutes.useful[0] * 60 * 4 == pytest.approx(4 * 20 + 2 * 10)
    with styled_axes(None, (4.0, 3.0)) as ax:
        plot_gantt(schedule, ax)
        boxes = [path.get_extents() for path in ax.collections[0].get_paths()]
    spans = [(round(60 * box.x0), round(60 * box.x1)) for box in boxes]
    assert spans == [(0, 10), (10, 30), (30, 40), (40, 65)]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["started in order", "killed at its request"]


def test_a_request_that_is_just_long_enough_is_enough():
    assert runs(simulate(jobs_of([0], [20], [4]), "fcfs", requests=asking([10, 20, 30])))[-1] == (0, 10, 30)


def test_beyond_the_sequence_a_job_asks_for_more_each_time_or_is_given_up():
    jobs = jobs_of([0], [50], [4])
    grown = simulate(jobs, "fcfs", requests=asking([10, 20], growth=1.5))
    assert [int(run["request"]) for run in grown.runs] == [10, 20, 30, 45, 67]
    capped = simulate(jobs, "fcfs", requests=asking([10, 20], growth=1.5, most=np.array([50])))
    assert [int(run["request"]) for run in capped.runs] == [10, 20, 30, 45, 50]
    given_up = simulate(jobs, "fcfs", requests=asking([10, 20]))
    assert runs(given_up) == [(0, 0, 10), (0, 10, 30)]
    assert given_up.killed.tolist() == [True]


def test_a_failed_job_goes_to_the_end_of_the_queue():
    jobs = jobs_of([0, 1], [20, 5], [4, 4])
    assert runs(simulate(jobs, "fcfs", requests=asking([10, 20], [5]))) == [(0, 0, 10), (1, 10, 15), (0, 15, 35)]


def test_only_work_that_is_not_lost_counts_as_utilisation():
    metrics = simulate(jobs_of([0], [25], [4]), "fcfs", requests=asking([10, 20, 30])).metrics()
    assert metrics["utilisation"] == pytest.approx(25 / 55)
    assert metrics["lost_share"] == pytest.approx(30 / 55)
    assert metrics["failed_runs"] == 2


def test_a_run_that_its_request_ends_is_lost_also_that_of_a_job_without_a_distribution():
    schedule = simulate(jobs_of([0, 0], [20, 8], [4, 4]), "fcfs", requests=asking([20], [5]))
    metrics = schedule.metrics()
    assert metrics["utilisation"] == pytest.approx(20 / 25)
    assert metrics["lost_share"] == pytest.approx(5 / 25)
    assert (metrics["killed_jobs"], metrics["given_up_jobs"]) == (1, 0)


def test_jobs_with_a_distribution_that_were_never_done_are_counted():
    jobs = jobs_of([0, 0], [20, 8], [4, 4]).replace(distribution=np.array([0, -1]), distributions=("uniform(0s,40s)",))
    metrics = simulate(jobs, "fcfs", requests=asking([5, 10], [6])).metrics()
    assert (metrics["killed_jobs"], metrics["given_up_jobs"], metrics["failed_runs"]) == (2, 1, 3)


def test_jobs_may_ask_for_the_longest_of_their_applications_last_run_times():
    jobs = jobs_of([0, 100, 200, 300], [30, 10, 20, 5], [1] * 4)
    requests = asking([40], [40], [40], [40], growth=1.5, application=np.zeros(4, dtype=np.int64), history=2)
    asked = [int(run["request"]) for run in simulate(jobs, "fcfs", requests=requests).runs]
    assert asked == [40, 30, 30, 20]


def test_fixed_reservations_stand_when_a_job_ends_early_and_others_move_forward():
    """ScheduleFlow's own example: three jobs for the whole machine ask for 10 and run 4."""
    jobs, requests = jobs_of([0, 0, 0], [4, 4, 4], [4, 4, 4]), asking([10], [10], [10])
    fixed = simulate(jobs, "laf+conservative,reservations=fixed", requests=requests)
    moving = simulate(jobs, "laf+conservative", requests=requests)
    assert sorted(fixed.start_time.tolist()) == [0, 10, 20]
    assert sorted(moving.start_time.tolist()) == [0, 4, 8]


def test_a_round_ends_before_failed_jobs_get_a_reservation_unless_they_fit_a_gap():
    jobs = jobs_of([0, 0, 0], [30, 30, 2], [4, 4, 1])
    requests = asking([20, 30], [30], [2])
    schedule = simulate(jobs, "laf+conservative,reservations=fixed", requests=requests)
    # Round 1: job 1 until 30, job 0 until 50, where it fails, job 2 until 52; it is over when job 2 is.
    assert runs(schedule) == [(1, 0, 30), (0, 30, 50), (2, 50, 52), (0, 52, 82)]


def test_a_gap_before_the_heads_reservation_is_used_speculatively():
    # Job 0 holds 3 processors until 30; the head needs all 4. Job 2 asks for 40 on the last one: too long, but it may
    # be done by then, with uniform run times from 0 to 40.
    jobs = jobs_of([0, 1, 2], [30, 10, 12], [3, 4, 1])
    requests = asking([30], [10], [40], distribution=[-1, -1, 0])
    plain = simulate(jobs, "fcfs+easy", requests=requests)
    bold = simulate(jobs, "fcfs+easy,speculation=0", requests=requests)
    assert plain.start_time.tolist() == [0, 30, 40]
    assert bold.start_time.tolist() == [0, 30, 2]
    assert bold.runs["speculative"].tolist() == [False, True, False]


def test_a_job_that_fails_speculatively_goes_to_the_head_of_the_queue_and_delays_no_reservation():
    jobs = jobs_of([0, 1, 2], [30, 10, 35], [3, 4, 1])
    requests = asking([30], [10], [40], distribution=[-1, -1, 0])
    schedule = simulate(jobs, "fcfs+easy,speculation=0", requests=requests)
    # At 30 job 2 is the head and starts at once; job 1 waits for it. Its reservation had been for 30.
    assert runs(schedule) == [(0, 0, 30), (2, 2, 30), (2, 30, 65), (1, 65, 75)]
    planned = simulate(jobs, "fcfs+conservative,speculation=0", requests=requests)
    assert (1, 30, 40) in runs(planned)


def test_the_threshold_keeps_poor_gaps_empty():
    # 28 seconds of one processor: E[X; X <= 28] / 28 = 28^2 / 80 / 28 = 0.35.
    jobs, requests = jobs_of([0, 1, 2], [30, 10, 12], [3, 4, 1]), asking([30], [10], [40], distribution=[-1, -1, 0])
    for threshold, tried in (("0.34", True), ("0.36", False)):
        schedule = simulate(jobs, f"fcfs+easy,speculation={threshold}", requests=requests)
        assert bool(schedule.runs["speculative"].any()) is tried


SCHEDULERS = [
    "fcfs",
    "spf",
    "fcfs+easy",
    "saf+easy,speculation=0",
    "fcfs+easy:sjf,speculation=0",
    "wfp3+easy,speculation=0.1",
    "spf+easy,window=3,speculation=0",
    "fcfs+easy,starvation=20,speculation=0",
    "fcfs+conservative",
    "laf+conservative,speculation=0",
    "spf+conservative,speculation=0",
    "laf+conservative,reservations=fixed",
    "wfp3+conservative,reservations=fixed,speculation=0",
]


@st.composite
def stochastic_workloads(draw: st.DrawFn) -> tuple[Workload, Requests]:
    """Draw up to 14 jobs on up to 8 processors with sequences that may be too short."""
    processors = draw(st.integers(1, 8))
    period = draw(st.sampled_from([0, 10, 60]))
    job = st.tuples(
        st.integers(0, period),
        st.integers(1, 39),
        st.integers(1, processors),
        st.lists(st.integers(1, 39), min_size=1, max_size=3, unique=True).map(sorted),
        st.sampled_from([0.0, 1.5]),
        st.integers(-1, 0),
        st.integers(-1, 1),
    )
    jobs = draw(st.lists(job, min_size=1, max_size=14))
    submit, need, width, sequences, growth, distribution, application = (
        list(column) for column in zip(*jobs, strict=True)
    )
    requests = asking(
        *sequences,
        distribution=distribution,
        most=np.full(len(jobs), 60),
        growth=np.array(growth),
        application=np.array(application),
        history=draw(st.sampled_from([0, 0, 1, 3])),
    )
    return jobs_of(submit, need, width, processors), requests


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(drawn=stochastic_workloads())
@settings(max_examples=60, deadline=None)
def test_the_engine_equals_its_twin_where_jobs_fail_and_come_back(scheduler, drawn):
    workload, requests = drawn
    ours, plain = (engine(workload, scheduler, requests=requests) for engine in (simulate, simulate_plain))
    assert sorted(ours.runs.tolist()) == sorted(plain.runs.tolist())
    for column in ("start_time", "end_time", "backfilled", "killed"):
        np.testing.assert_array_equal(getattr(ours, column), getattr(plain, column))


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(drawn=stochastic_workloads())
@settings(max_examples=20, deadline=None)
def test_there_are_never_more_processors_in_use_than_there_are_and_each_job_runs_alone(scheduler, drawn):
    workload, requests = drawn
    schedule = simulate(workload, scheduler, requests=requests)
    width = workload.job_processors
    for second in schedule.runs["start"]:
        at_work = schedule.runs[(schedule.runs["start"] <= second) & (schedule.runs["end"] > second)]
        assert width[at_work["job"]].sum() <= workload.processors
        assert len(np.unique(at_work["job"])) == len(at_work)


@given(drawn=stochastic_workloads())
@settings(max_examples=30, deadline=None)
def test_successful_and_lost_work_are_all_that_is_busy(drawn):
    workload, requests = drawn
    schedule = simulate(workload, "fcfs+easy,speculation=0", requests=requests)
    metrics, runs = schedule.metrics(), schedule.runs
    busy = ((runs["end"] - runs["start"]) * workload.job_processors[runs["job"]]).sum()
    of_machine = busy / (workload.processors * metrics["makespan"])
    assert metrics["utilisation"] + metrics["lost_share"] == pytest.approx(of_machine)


@given(drawn=stochastic_workloads())
@settings(max_examples=30, deadline=None)
def test_with_sufficient_requests_nothing_differs_from_the_ordinary_engine(drawn):
    workload, _ = drawn
    enough = asking(*([int(need)] for need in workload.run_time))
    for scheduler in ("fcfs", "saf+easy", "spf+conservative"):
        ours, ordinary = simulate(workload, scheduler, requests=enough), simulate(workload, scheduler)
        np.testing.assert_array_equal(ours.start_time, ordinary.start_time)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fcfs+easy,reservations=fixed", "only conservative backfilling keeps a reservation"),
        ("fcfs+conservative,reservations=loose", "the only value is fixed"),
        ("fcfs,speculation=0", "add .easy or .conservative"),
        ("fcfs+easy,speculation=2", "at least 0 and below 1"),
        ("fcfs+easy,requests=magic", "unknown method requests=magic; known are classic"),
        ("fcfs+easy,requests=atoptimal(zeta=1)", "at least 0 and below 1"),
        ("fcfs+easy,requests=neuroscience(0)", "at least 1"),
        ("fcfs+easy,exhausted=2", r"needs a method of requests"),
        ("fcfs+easy,requests=toptimal,exhausted=1", "exhausted=1.0: must be give-up, or a factor above 1"),
        ("fcfs+easy,requests=toptimal,exhausted=0", "write give-up, or a factor"),
        ("fcfs+easy,requests=toptimal,exhausted=often", "write give-up, or a factor"),
        ("fcfs+easy,requests=toptimal,exhausted=1001", "at most 1,000"),
    ],
)
def test_options_that_do_not_fit_are_refused(text, message):
    with pytest.raises(InputError, match=message):
        Scheduler.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "fcfs+easy,requests=toptimal,speculation=0",
        "laf+conservative,reservations=fixed",
        "fcfs,requests=given,exhausted=give-up",
        "fcfs+easy,requests=classic,exhausted=1.25,speculation=0.5",
        "fcfs,requests=atoptimal(zeta=0.001)",
    ],
)
def test_the_text_is_read_back(text):
    assert Scheduler.parse(text).text == text


def test_defaults_and_other_spellings_are_not_in_the_canonical_text():
    assert Scheduler.parse("fcfs,requests=toptimal,exhausted=1.5").text == "fcfs,requests=toptimal"
    assert Scheduler.parse("fcfs,requests=atoptimal(zeta=1e-3)").text == "fcfs,requests=atoptimal(zeta=0.001)"
    tiny = Scheduler.parse("fcfs,requests=atoptimal(0.00001)")
    assert Scheduler.parse(tiny.text) == tiny


def test_speculation_without_distributions_is_refused():
    with pytest.raises(InputError, match="speculation= is for jobs whose run times follow a distribution"):
        simulate(jobs_of([0], [5], [1]), "fcfs+easy,speculation=0")


def test_requests_that_are_not_enforced_are_refused():
    advisory = jobs_of([0, 0], [9, 5], [1, 1]).replace(requested_time=[5, 5], requests_enforced=False)
    with pytest.raises(InputError, match="1 jobs run longer than they request; where runs may fail"):
        simulate(advisory, "fcfs+conservative,reservations=fixed")


def test_a_method_without_distributions_is_refused():
    with pytest.raises(InputError, match="no job has one; give distributions"):
        simulate(jobs_of([0], [5], [1]), "fcfs,requests=toptimal")
