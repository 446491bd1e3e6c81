from __future__ import annotations

import numpy as np
import pytest

from schedlab.errors import InputError
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.workload import Workload


def four_jobs(after: Dependencies) -> Workload:
    return Workload.from_columns({"submit_time": [0, 0, 0, 0], "run_time": [1, 2, 3, 4]}, dependencies=after)


def test_parents_are_listed_by_child_and_doubled_pairs_count_once_with_the_longer_delay():
    after = Dependencies.from_pairs([3, 1, 3, 3], [1, 0, 0, 1], [5, 0, 0, 7], jobs=4)
    assert [after.parents_of(row).tolist() for row in range(4)] == [[], [0], [], [0, 1]]
    assert after.delay.tolist() == [0, 0, 7]
    assert after.children.tolist() == [1, 3, 3]


def test_selecting_rows_keeps_the_dependencies_among_them():
    workload = four_jobs(Dependencies.from_pairs([1, 2, 3], [0, 1, 2], jobs=4))
    backwards = workload[np.array([3, 2, 0])]
    assert [backwards.dependencies.parents_of(row).tolist() for row in range(3)] == [[1], [], []]
    assert workload[1:].dependencies.parents.tolist() == [0, 1]
    assert workload[workload.run_time > 2].dependencies.parents.tolist() == [0]


def test_sorting_by_submission_takes_the_dependencies_along():
    workload = Workload.from_columns(
        {"submit_time": [5, 0], "run_time": [1, 1]}, dependencies=Dependencies.from_pairs([0], [1], jobs=2)
    )
    assert workload.sorted_by_submit().dependencies.parents_of(1).tolist() == [0]


@pytest.mark.parametrize(
    ("children", "parents", "words"),
    [
        ([0, 1, 2], [2, 0, 1], "cycle"),
        ([1], [1], "depends on itself"),
        ([1], [4], "row 4"),
        ([-1], [0], "row -1"),
        ([1, 2], [0], "one parent"),
    ],
)
def test_impossible_dependencies_are_refused(children: list[int], parents: list[int], words: str):
    with pytest.raises(InputError, match=words):
        Dependencies.from_pairs(children, parents, jobs=4)


def test_a_job_cannot_start_before_its_parent_has_ended():
    with pytest.raises(InputError, match="before its parent has ended"):
        Dependencies.from_pairs([1], [0], [-1], jobs=2)


def test_jobs_that_depend_on_others_are_drawn_once():
    with pytest.raises(InputError, match="more than once"):
        four_jobs(Dependencies.from_pairs([1], [0], jobs=4))[np.array([0, 1, 1])]


def test_dependencies_of_another_number_of_jobs_are_refused():
    with pytest.raises(InputError, match="dependencies has 3 jobs, expected 4"):
        four_jobs(Dependencies.from_pairs([1], [0], jobs=3))
