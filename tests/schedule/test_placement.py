"""On which nodes jobs ran: rows of cores and GPUs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.schedule.exports import read_schedule
from schedlab.schedule.placement import Placement, shared_gpus
from schedlab.workload.workload import Workload


def placement(cores: list[int], runs: list[dict[int, int]], gpus: list[int] | None = None) -> Placement:
    """Return a placement of runs that hold cores by node."""
    parts = [(node, held) for run in runs for node, held in run.items()]
    return Placement(
        tuple(f"n{number}" for number in range(len(cores))),
        np.array(cores),
        np.array(gpus or [0] * len(cores)),
        offsets=np.cumsum([0, *map(len, runs)]),
        node=np.array([node for node, _ in parts], dtype=np.int64),
        held_cores=np.array([held for _, held in parts], dtype=np.int64),
        held_gpus=np.array([held if gpus else 0 for _, held in parts], dtype=np.int64),
    )


def test_runs_stand_on_their_own_nodes_and_on_free_rows():
    placed = placement([4, 2], [{0: 2}, {0: 1, 1: 2}, {0: 2}])
    start, end = np.array([0, 5, 10]), np.array([10, 20, 30])
    assert placed.rows(start, end, "cores").texts() == ["0-1", "2 4-5", "0-1"]


def test_gpus_have_rows_of_their_own_and_runs_without_have_none():
    placed = placement([4, 4], [{0: 1}, {1: 2}], gpus=[2, 2])
    assert placed.rows(np.array([0, 0]), np.array([9, 9]), "gpus").texts() == ["0", "2-3"]
    none = placement([4, 4], [{0: 1}, {1: 2}])
    assert none.rows(np.array([0, 0]), np.array([9, 9]), "gpus").texts() == ["", ""]


def test_runs_that_share_cores_are_drawn_over_each_other_on_their_node():
    placed = placement([2, 2], [{1: 2}, {1: 2}])
    rows = placed.rows(np.array([0, 1]), np.array([9, 9]), "cores")
    assert (rows.first >= 2).all()
    assert (rows.last <= 3).all()


def test_jobs_that_share_a_gpu_lie_beside_each_other_on_it():
    # Three halves and a whole one on a node of two GPUs; the third half takes the room of the first.
    where = placement([4], [{0: 1}] * 4, gpus=[2])
    where = replace(where, held_gpus=np.array([1, 1, 1, 1]))
    start, end = np.array([0, 0, 5, 10]), np.array([10, 20, 20, 20])
    rows = shared_gpus(where, start, end, np.array([500, 500, 1000, 500]))
    assert [pieces(rows, run) for run in range(4)] == [[(0, 499)], [(500, 999)], [(1000, 1999)], [(0, 499)]]


@given(data=st.data())
def test_gpus_that_are_shared_are_never_held_beyond_themselves(data: st.DataObject):
    share = np.array(data.draw(st.lists(st.sampled_from([200, 500, 1000]), min_size=1, max_size=12)))
    jobs = len(share)
    start = np.array(data.draw(st.lists(st.integers(0, 20), min_size=jobs, max_size=jobs)))
    where = replace(placement([99], [{0: 1}] * jobs, gpus=[jobs]), held_gpus=np.ones(jobs, dtype=np.int64))
    rows = shared_gpus(where, start, start + 7, share)
    held = [piece for run in range(jobs) for piece in pieces(rows, run)]
    assert [last - first + 1 for first, last in held] == share.tolist()
    assert all(first // 1000 == last // 1000 for first, last in held)
    for run, (first, last) in enumerate(held):
        for other in range(run):
            apart = last < held[other][0] or held[other][1] < first
            assert apart or abs(start[run] - start[other]) >= 7


def test_columns_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="one value for each node"):
        placement([4], [{1: 2}])


@given(st.data())
def test_no_row_is_held_twice_and_every_core_is_shown(data: st.DataObject):
    cores = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    # One run after the other on each node is never too much.
    runs = data.draw(
        st.lists(
            st.dictionaries(st.integers(0, len(cores) - 1), st.just(1), min_size=1).map(
                lambda nodes: {node: cores[node] for node in nodes}
            ),
            min_size=1,
            max_size=6,
        )
    )
    start = np.arange(len(runs)) * 10
    rows = placement(cores, runs).rows(start, start + 10, "cores")
    begins = np.cumsum(cores) - cores
    for run, held in enumerate(runs):
        shown = [row for first, last in pieces(rows, run) for row in range(first, last + 1)]
        expected = [begins[node] + core for node in sorted(held) for core in range(held[node])]
        assert sorted(shown) == expected


def pieces(rows, run: int) -> list[tuple[int, int]]:
    mine = slice(rows.offsets[run], rows.offsets[run + 1])
    return list(zip(rows.first[mine].tolist(), rows.last[mine].tolist(), strict=True))


def test_a_saved_schedule_keeps_its_nodes(tmp_path: Path):
    jobs = Workload.from_columns(
        {
            "submit_time": [0, 0, 3],
            "run_time": [9, 9, 9],
            "requested_time": [9, 9, 9],
            "requested_processors": [4, 1, 2],
        },
        processors=6,
    )
    placed = placement([4, 2], [{0: 4}, {1: 1}, {0: 1, 1: 1}])
    placed = replace(placed, memory=np.array([64, 0]), held_memory=np.array([50, 0, 14, 0]))
    saved = replace(simulate(jobs, "fcfs"), placement=placed)
    saved.save(tmp_path / "placed.parquet")
    read = read_schedule(tmp_path / "placed.parquet").placement
    assert read is not None
    assert read.nodes == placed.nodes
    for name in ("cores", "gpus", "offsets", "node", "held_cores", "held_gpus", "memory", "held_memory"):
        assert getattr(read, name).tolist() == getattr(placed, name).tolist()
