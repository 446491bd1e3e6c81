"""Which processors each job gets."""

from __future__ import annotations

import pytest
from hypothesis import given
from schedule_samples import build, feasible_schedules

from schedlab.errors import InputError
from schedlab.schedule.allocation import Allocation, allocate
from schedlab.schedule.schedule import Schedule


def processors_of(allocation: Allocation, row: int) -> list[int]:
    """Return the processors of a job, one by one."""
    pieces = slice(allocation.offsets[row], allocation.offsets[row + 1])
    intervals = zip(allocation.first[pieces], allocation.last[pieces], strict=True)
    return [processor for first, last in intervals for processor in range(first, last + 1)]


def test_the_lowest_free_processors_are_taken(five_jobs: Schedule) -> None:
    # Job 3 gets those of job 2, which ended in the same second; job 5 the lower of the two that job 3 left.
    assert allocate(five_jobs).texts() == ["0-1", "2-3", "2-3", "0-3", "2"]


def test_a_job_can_be_spread_over_several_intervals() -> None:
    rows = [(0, 0, 9, 2), (0, 0, 5, 1), (0, 0, 9, 1), (0, 0, 5, 3), (5, 5, 2, 4), (7, 7, 2, 1)]
    allocation = allocate(build(rows, machine=8))
    assert allocation.texts() == ["0-1", "2", "3", "4-6", "2 4-6", "2"]
    assert allocation.text(4) == "2 4-6"


def test_freed_intervals_grow_together() -> None:
    rows = [(0, 0, 1, 1), (0, 0, 3, 1), (0, 0, 2, 1), (0, 0, 3, 1), (3, 3, 1, 4)]
    assert allocate(build(rows, machine=4)).text(4) == "0-3"


def test_jobs_of_no_duration_share_processors_with_those_that_start_in_the_same_second() -> None:
    rows = [(0, 0, 5, 2), (5, 5, 0, 4), (5, 5, 0, 3), (5, 5, 5, 4)]
    assert allocate(build(rows, machine=4)).texts() == ["0-1", "0-3", "0-2", "0-3"]


def test_a_schedule_that_needs_more_than_the_machine_is_refused_with_its_job() -> None:
    with pytest.raises(InputError, match=r"job 2 starts at second 5 .* 3 processors of 4") as caught:
        allocate(build([(0, 0, 9, 2), (5, 5, 9, 3)], machine=4))
    assert caught.value.row == 1


def test_an_empty_schedule_has_an_empty_allocation() -> None:
    assert len(allocate(build([], machine=4))) == 0


def test_many_scattered_intervals_fit() -> None:
    # 64 jobs of one processor, of which every second one ends: the next job gets 32 intervals, and so on.
    rows = [(0, 0, 1 if job % 2 else 99, 1) for job in range(64)] + [(1 + k, 1 + k, 1, 32) for k in range(50)]
    allocation = allocate(build(rows, machine=64))
    assert processors_of(allocation, 64) == list(range(1, 64, 2))
    assert processors_of(allocation, 113) == list(range(1, 64, 2))


@given(feasible_schedules())
def test_no_processor_is_held_by_two_jobs_at_once(schedule: Schedule) -> None:
    allocation = allocate(schedule)
    holder: dict[tuple[int, int], int] = {}
    for row in range(len(schedule)):
        mine = processors_of(allocation, row)
        assert len(set(mine)) == len(mine) == schedule.workload.job_processors[row]
        assert mine == sorted(mine)
        assert mine[0] >= 0
        assert mine[-1] < schedule.processors
        for second in range(schedule.start_time[row], schedule.end_time[row]):
            for processor in mine:
                assert holder.setdefault((second, processor), row) == row


@given(feasible_schedules())
def test_a_job_leaves_no_lower_processor_free_that_it_could_have_had(schedule: Schedule) -> None:
    allocation = allocate(schedule)
    start, end = schedule.start_time, schedule.end_time
    lasting = [row for row in range(len(schedule)) if end[row] > start[row]]
    for row in lasting:
        others = {
            processor
            for other in lasting
            if start[other] < start[row] < end[other] or (start[other] == start[row] and other < row)
            for processor in processors_of(allocation, other)
        }
        free = [processor for processor in range(schedule.processors) if processor not in others]
        assert processors_of(allocation, row) == free[: schedule.workload.job_processors[row]]
