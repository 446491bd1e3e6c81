"""What a page is told of schedules: the same as the schedules say, in the order of submission."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from schedlab.engine.simulation import simulate
from schedlab.report.container import Container
from schedlab.report.contents import BACKFILLED, FAILED, INTERRUPTED, KILLED, contents, index_json
from schedlab.schedule.allocation import allocate
from schedlab.schedule.placement import CLOSURE, FOREVER, OUT, RESERVED, Placement
from schedlab.schedule.recorded import recorded
from schedlab.schedule.runs import BY_ITSELF, NODE_FAILED, PREEMPTED, RUN
from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload


def shuffled(workload: Workload) -> Workload:
    return workload[np.random.default_rng(1).permutation(len(workload))]


def test_jobs_and_decisions_stand_in_the_order_of_submission(workload: Workload) -> None:
    schedule = simulate(shuffled(workload), "fcfs+easy")
    container = Container()
    index = contents({"easy": schedule}, container)
    order = np.argsort(schedule.workload.submit_time, kind="stable")
    origin = schedule.workload.submit_time.min()
    decided = index["schedules"][0]
    read = container.read
    assert read(index["columns"]["id"]).tolist() == schedule.workload.job_id[order].tolist()
    assert (read(index["columns"]["submit"]) + origin).tolist() == schedule.workload.submit_time[order].tolist()
    assert read(decided["wait"]).tolist() == schedule.wait_time[order].tolist()
    assert read(decided["run"]).tolist() == schedule.run_time[order].tolist()
    flags = read(decided["flags"]).astype(int)
    assert ((flags & BACKFILLED) > 0).tolist() == schedule.backfilled[order].tolist()
    assert ((flags & KILLED) > 0).tolist() == schedule.killed[order].tolist()


def test_pieces_are_those_of_the_allocation(workload: Workload) -> None:
    schedule = simulate(shuffled(workload), "fcfs+easy")
    container = Container()
    pieces = contents({"easy": schedule}, container)["schedules"][0]["pieces"]
    count, first, width = (container.read(pieces[name]).astype(int) for name in ("count", "first", "width"))
    ends = np.cumsum(count)
    allocation = allocate(schedule)
    for place, row in enumerate(np.argsort(schedule.workload.submit_time, kind="stable").tolist()):
        mine = slice(ends[place] - count[place], ends[place])
        assert width[ends[place] - 1] == 0, "the last one has what is left"
        width[ends[place] - 1] = schedule.workload.job_processors[row] - width[mine].sum()
        held = [
            f"{low}-{low + wide - 1}" if wide > 1 else f"{low}"
            for low, wide in zip(first[mine], width[mine], strict=True)
        ]
        assert " ".join(held) == allocation.text(row)


def test_a_job_that_a_scheduler_gave_another_size_has_the_widths_of_its_own(workload: Workload) -> None:
    ones = np.ones(len(workload), dtype=np.int64)
    schedules = {
        "as asked": simulate(workload, "fcfs+easy"),
        "on one": simulate(workload.replace(requested_processors=ones, allocated_processors=ones), "fcfs+easy"),
    }
    container = Container()
    small = contents(schedules, container)["schedules"][1]["pieces"]
    asked, width = (
        workload.job_processors[np.argsort(workload.submit_time, kind="stable")],
        container.read(small["width"]),
    )
    assert width.tolist() == np.where(asked == 1, 0, 1).tolist()


def test_names_of_header_lines_become_labels(workload: Workload) -> None:
    named = workload.replace(
        partition_id=np.arange(len(workload)) % 2 + 1,
        header=(" User: 3 Ada <b>", " Partition:  1  batch", " MaxJobs: 300", " User: x no number"),
    )
    index = contents({"easy": simulate(named, "fcfs+easy")}, Container())
    assert index["labels"] == {"user": {"3": "Ada <b>"}, "partition": {"1": "batch"}}
    assert index["groups"] == {"user": "User", "partition": "Partition"}


def test_the_index_stays_data_inside_html() -> None:
    hostile = {"name": "</script><!-- & \u2028 عمر 🦊"}
    text = index_json(hostile)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == hostile


def test_runs_that_fail_and_come_back_are_rectangles_of_their_own(schedules: dict[str, Schedule]) -> None:
    schedule = schedules["scheduler 0"]
    rows = [
        (job, start, end, end - start, False, True, BY_ITSELF, 0, 0)
        for job, (start, end) in enumerate(zip(schedule.start_time.tolist(), schedule.end_time.tolist(), strict=True))
    ]
    # Once more before all others: half of the first job, in vain.
    early = int(schedule.workload.submit_time.min()) - 100
    runs = np.array([(0, early, early + 50, 50, True, False, BY_ITSELF, 0, 0), *rows], dtype=RUN)
    container = Container()
    decided = contents({"again": replace(schedule, runs=runs)}, container)["schedules"][0]
    assert container.read(decided["runs"]["job"]).tolist() == runs["job"].tolist()
    assert len(container.read(decided["pieces"]["count"])) == len(runs)


def test_what_was_interrupted_and_when_nodes_were_closed_is_told() -> None:
    """Job 1 is interrupted and comes back, job 2 is lost, job 3 ends at its requested time."""
    jobs = Workload.from_columns(
        {
            "submit_time": [0, 0, 0],
            "run_time": [50, 50, 50],
            "requested_time": [50, 50, 30],
            "requested_processors": [1, 1, 1],
        },
        processors=4,
    )
    rows = [(0, 0, 10, 50, False, False, NODE_FAILED, 0, 0), (1, 0, 20, 50, False, False, PREEMPTED, 0, 0)]
    rows += [(2, 0, 30, 30, False, False, BY_ITSELF, 0, 0), (0, 40, 90, 50, False, True, BY_ITSELF, 0, 0)]
    runs = np.array(rows, dtype=RUN)
    closures = np.array([(0, OUT, 10, 40), (1, RESERVED, -5, FOREVER)], dtype=CLOSURE)
    two, four = np.array([2, 2]), np.zeros(4, np.int64)
    placement = Placement(
        ("n1", "n2"), two, 0 * two, np.arange(5), np.array([0, 1, 1, 0]), four + 1, four, closures=closures
    )
    schedule = Schedule(
        jobs,
        start_time=np.array([40, 0, 0]),
        end_time=np.array([90, 20, 30]),
        backfilled=np.zeros(3, bool),
        killed=np.array([False, True, True]),
        predicted_run_time=np.array([50, 50, 30]),
        corrections=np.zeros(3, int),
        scheduler="fcfs+easy",
        processors=4,
        runs=runs,
        placement=placement,
    )
    container = Container()
    decided = contents({"one": schedule}, container)["schedules"][0]
    assert container.read(decided["flags"]).tolist() == [0, KILLED + INTERRUPTED, KILLED]
    assert container.read(decided["runs"]["flags"]).tolist() == [FAILED + INTERRUPTED] * 2 + [FAILED, 0]
    told = {name: container.read(column).tolist() for name, column in decided["closures"].items()}
    assert told == {"node": [0, 1], "kind": [OUT, RESERVED], "begin": [10, 0], "end": [40, FOREVER - 1]}


def test_a_recorded_schedule_that_uses_more_than_there_is_is_shown(workload: Workload) -> None:
    schedule = simulate(workload, "fcfs+easy")
    index = contents({"recorded": replace(schedule, processors=20)}, Container())
    assert index["machine"]["size"] == 20
    assert 20 < index["machine"]["lanes"] <= schedule.processors


def test_a_wide_job_of_no_seconds_does_not_make_the_machine_higher() -> None:
    jobs = Workload.from_columns(
        {"submit_time": [0, 1], "run_time": [9, 0], "requested_processors": [3, 4], "wait_time": [0, 0]}, processors=4
    )
    index = contents({"recorded": replace(recorded(jobs), processors=4)}, Container())
    assert index["machine"]["lanes"] == 4
