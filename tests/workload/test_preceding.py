"""Fields 17 and 18 of SWF: who waits for whom, and how long after."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.workload.preceding import preceding_jobs
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload


def jobs_after(preceding: list[int], think: list[int] | None = None, numbers: list[int] | None = None) -> Workload:
    columns = {
        "job_id": numbers or list(range(1, len(preceding) + 1)),
        "submit_time": list(range(len(preceding))),
        "preceding_job_id": preceding,
        "think_time": think or [-1] * len(preceding),
    }
    return Workload.from_columns(columns)


def test_the_last_two_fields_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "three.swf"
    jobs = {1: "-1 -1", 2: "1 30", 5: "2 -1"}
    path.write_text("".join(f"{number} 0 -1 60 4{11 * ' -1'} {last}\n" for number, last in jobs.items()))
    waits, dangling = preceding_jobs(read_swf(path))
    assert [waits.parents_of(row).tolist() for row in range(3)] == [[], [0], [1]]
    assert (waits.delay.tolist(), dangling) == ([30, 0], 0)


def test_jobs_that_are_not_there_are_counted_and_not_waited_for() -> None:
    waits, dangling = preceding_jobs(jobs_after([9, 1, 0, -1]))
    assert (waits.children.tolist(), waits.parents.tolist(), dangling) == ([1], [0], 1)


def test_the_last_job_of_a_number_precedes() -> None:
    waits, _ = preceding_jobs(jobs_after([-1, -1, 4], numbers=[4, 4, 5]))
    assert waits.parents_of(2).tolist() == [1]


@pytest.mark.parametrize(("preceding", "row"), [([-1, 2], 1), ([2, 1], 0), ([3, 1, 2, -1], 0)])
def test_circles_are_refused(preceding: list[int], row: int) -> None:
    with pytest.raises(InputError, match=r"depends? on") as caught:
        preceding_jobs(jobs_after(preceding))
    assert caught.value.row == row


def test_dependencies_that_are_there_already_are_not_mixed_with_others() -> None:
    jobs = jobs_after([-1, 1])
    with pytest.raises(InputError, match="already have dependencies"):
        preceding_jobs(jobs.replace(dependencies=preceding_jobs(jobs)[0]))


@given(st.data())
def test_each_job_waits_for_the_one_it_names(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 30))
    preceding = [data.draw(st.just(-1) | st.integers(1, max(row, 1))) if row else -1 for row in range(count)]
    waits, dangling = preceding_jobs(jobs_after(preceding))
    assert dangling == 0
    for row, number in enumerate(preceding):
        assert waits.parents_of(row).tolist() == ([number - 1] if number > 0 else [])
