"""The plan of a campaign: which tasks there are, what they are called, and how they are cut into batches."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from campaign_runs import MODEL, small, write_log
from hypothesis import given
from hypothesis import strategies as st

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.definition.inputs import find_inputs
from schedlab.campaign.definition.instances import seed_of
from schedlab.campaign.definition.plan import BATCH_JOBS, BATCH_TASKS, Plan
from schedlab.campaign.run.contents import plan_of
from schedlab.campaign.sources.input import Input
from schedlab.errors import InputError

TRACE = {"trace": "a.swf", "load": 0.8, "windows": {"length": "3h", "count": 2}, "resample": {"weeks": 3}}


def plan(campaign: Campaign, base: Path = Path()) -> Plan:
    return Plan(campaign, find_inputs(campaign, base))


def names(base: Path = Path(), **fields: Any) -> list[bytes]:
    return plan(small(**fields), base).names.tolist()


def model_names(**fields: Any) -> list[bytes]:
    return names(workloads=[{**MODEL, **fields}])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "a.swf")


# What a name depends on


@pytest.mark.parametrize(
    "fields",
    [
        {"seed": 2},
        {"events": "pyss"},
        {"metrics": {"warm_up": 0.1}},
        {"metrics": {"cool_down": 0.1}},
        {"metrics": {"tau": 60}},
        {"schedulers": ["saf", "spf"]},
        {"workloads": [{**MODEL, "name": "another"}]},
        {"workloads": [{**MODEL, "jobs": 21}]},
        {"workloads": [{**MODEL, "processors": 32}]},
        {"workloads": [{**MODEL, "estimates": "exact"}]},
        {"workloads": [{**MODEL, "load": 0.9}]},
        {"workloads": [{**MODEL, "windows": {"count": 1}}]},
    ],
)
def test_whatever_changes_the_result_changes_the_name(fields: dict[str, Any]) -> None:
    assert not set(names()) & set(names(**fields))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("load", 0.7),
        ("load", ()),
        ("windows", {"length": "2h", "count": 2}),
        ("windows", {"length": "3h", "count": 2, "state": 1}),
        ("windows", None),
        ("resample", {"weeks": 4}),
        ("resample", {"weeks": 3, "profile": "span"}),
        ("resample", None),
        ("clean", "none"),
        ("processors", 32),
        ("requests", "advisory"),
    ],
)
def test_whatever_changes_the_jobs_of_a_log_changes_the_name(log: Path, field: str, value: Any) -> None:
    before = names(log.parent, workloads=[TRACE])
    assert not set(before) & set(names(log.parent, workloads=[{**TRACE, field: value}]))


def test_a_log_with_another_content_has_other_names(log: Path) -> None:
    before = names(log.parent, workloads=[TRACE])
    write_log(log, jobs=61)
    assert not set(before) & set(names(log.parent, workloads=[TRACE]))


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "renamed"},
        {"description": "Why?"},
        {"baseline": "easy"},
        {"timeout": 60},
        {"schedules": True},
        {"metrics": {"main": "mean_wait"}},
        {"metrics": {"warm_up": 0, "cool_down": "0 s", "tau": 10}},
        {"schedulers": ["fcfs", "saf", "easy"]},
        {"schedulers": [{"policy": "fcfs", "backfill": ["easy", "none"]}]},
        {"repetitions": 5, "workloads": [MODEL]},
        {"workloads": [{**MODEL, "repetitions": 3}]},
        {"workloads": [{**MODEL, "name": "first"}, {**MODEL, "repetitions": 2}]},
    ],
)
def test_whatever_does_not_change_the_result_keeps_the_name(fields: dict[str, Any]) -> None:
    assert set(names()) <= set(names(**fields))


def test_a_longer_grid_has_the_names_of_the_shorter_one() -> None:
    shorter = model_names(load=[0.5], repetitions=2, windows={"length": "1h", "count": 2})
    longer = model_names(load=[0.9, 0.5], repetitions=4, windows={"length": "1h", "count": 5})
    assert set(shorter) < set(longer)
    assert len(longer) == len(set(longer)) == 2 * 4 * 5 * 2


def test_a_campaign_that_moves_with_its_logs_keeps_its_names(log: Path) -> None:
    before = names(log.parent, workloads=[TRACE])
    elsewhere = log.parent / "elsewhere"
    elsewhere.mkdir()
    shutil.move(log, elsewhere)
    assert names(elsewhere, workloads=[TRACE]) == before
    assert names(log.parent, workloads=[{**TRACE, "trace": "*/a.swf"}]) == before


def test_the_names_are_the_same_after_the_campaign_was_written_and_read(log: Path) -> None:
    campaign = small(workloads=[{**TRACE, "load": 1}, MODEL], metrics={"warm_up": 1})
    for one in (small(), campaign):
        again = Campaign.model_validate(one.model_dump(mode="json"))
        assert plan(again, log.parent).names.tolist() == plan(one, log.parent).names.tolist()


# Seeds


def test_each_repetition_of_each_workload_has_a_seed_of_its_own() -> None:
    triples = itertools.product(range(5), ["a", "b", "a/1"], range(20))
    assert len({seed_of(*triple) for triple in triples}) == 5 * 3 * 20


def test_a_repetition_has_the_same_seed_at_each_load_and_window() -> None:
    instances = plan(
        small(workloads=[{**MODEL, "load": [0.5, 0.9], "windows": {"count": 2}, "repetitions": 3}])
    ).instances
    seeds = {(instance.repetition, instance.seed) for instance in instances}
    assert len(seeds) == 3
    assert len(instances) == 12


def test_a_log_that_is_not_resampled_has_one_repetition_and_no_seed(log: Path) -> None:
    campaign = small(repetitions=4, workloads=[{"trace": "a.swf"}, {**TRACE, "name": "drawn", "windows": None}])
    found = [(one.workload, one.repetition, one.seed is None) for one in plan(campaign, log.parent).instances]
    assert found == [("a", 0, True), *[("drawn", n, False) for n in range(4)]]


# Order, positions, batches


def test_windows_that_are_skipped_keep_the_numbers_of_the_others(log: Path) -> None:
    windows = {"length": "3h", "count": 4, "skip": [0, 2]}
    cut = plan(small(workloads=[{"trace": "a.swf", "windows": windows}]), log.parent)
    assert [instance.window.number for instance in cut.instances if instance.window] == [1, 3]


def test_tasks_stand_in_the_order_of_instances_then_schedulers() -> None:
    small_plan = plan(small(workloads=[{**MODEL, "load": [0.9, 0.5], "repetitions": 2}]))
    found = [small_plan.task(position)[1] for position in range(len(small_plan))]
    expected = itertools.product(range(2), [0.9, 0.5], ["fcfs", "fcfs+easy"])
    assert [(task.instance.repetition, task.instance.load, task.scheduler) for task in found] == list(expected)


def test_positions_are_found_by_name_and_unknown_names_are_left_out() -> None:
    grid = plan(small(workloads=[{**MODEL, "repetitions": 30}]))
    wanted = np.array([7, 0, 59, 7])
    asked = np.concatenate([grid.names[wanted], [b"f" * 32, b"", b"0", b"\xff"]])
    assert grid.positions(asked).tolist() == wanted.tolist()
    assert grid.positions(np.array([], dtype="S")).tolist() == []


def test_a_task_is_found_by_the_beginning_of_its_name() -> None:
    grid = plan(small(workloads=[{**MODEL, "repetitions": 30}]))
    name = grid.names[17].decode()
    assert grid.find(name) == grid.find(name[:12]) == grid.task(17)[1]
    for prefix, how_many in (("", "60 tasks"), ("x", "no task"), (name + "0", "no task"), ("é", "no task")):
        with pytest.raises(InputError, match=f"the name of {how_many} begins with {prefix!r}"):
            grid.find(prefix)


def grid_of(jobs: list[int], schedulers: int) -> Plan:
    """Return the plan of workloads with so many jobs each, which need not exist."""
    campaign = small(
        schedulers=[f"fcfs,starvation={n}" for n in range(schedulers)],
        workloads=[{"trace": f"{number}.swf"} for number in range(len(jobs))],
    )
    return Plan(campaign, [Input(str(n), n, f"{n}.swf", "ab", size, 16, 0) for n, size in enumerate(jobs)])


@given(
    st.lists(st.integers(0, 4_000_000), min_size=1, max_size=8),
    st.integers(1, 4),
    st.integers(1, 40),
    st.booleans(),
    st.data(),
)
def test_batches_cover_each_pending_task_once_and_are_bounded(
    jobs: list[int], schedulers: int, workers: int, in_turn: bool, data: st.DataObject
) -> None:
    grid = grid_of(jobs, schedulers)
    pending = np.array(sorted(data.draw(st.sets(st.integers(0, len(grid) - 1)))), dtype=np.intp)
    parts = grid.cut(pending, workers, in_turn=in_turn)
    assert [position for part in parts for position in part.tolist()] == pending.tolist()
    assert all(len(part) for part in parts)
    for part in parts:
        sizes = [jobs[position // schedulers] for position in part.tolist()]
        assert sum(sizes[:-1]) <= BATCH_JOBS
        assert len(sizes) <= BATCH_TASKS
    # Whoever is done early finds more to do, until each task is a batch.
    assert len(parts) >= min(len(pending), 8 * workers) / 2


def test_many_small_tasks_come_in_batches_of_some_hundreds() -> None:
    grid = grid_of([50] * 10_000, 4)
    parts = grid.cut(np.arange(len(grid)), 2)
    assert 16 <= len(parts) <= 82
    assert max(map(len, parts)) <= BATCH_TASKS


def test_batches_that_are_taken_in_turn_become_single_tasks_towards_the_end() -> None:
    grid = grid_of([50] * 1_000, 1)
    sizes = [len(part) for part in grid.cut(np.arange(1_000), 4, in_turn=True)]
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sizes[-16:]) == (31, [1] * 16)


@given(st.sets(st.integers(0, 23), min_size=1), st.sets(st.integers(0, 23)))
def test_a_batch_has_the_tasks_at_its_positions_and_loses_those_it_goes_without(
    wanted: set[int], lost: set[int]
) -> None:
    grid = grid_of([10] * 8, 3)
    positions = np.array(sorted(wanted))
    batch = grid.batch(positions)
    assert list(batch.tasks()) == [grid.task(position) for position in positions.tolist()]
    lost_names = {grid.task(position)[0] for position in lost}
    rest, others = batch.without(lost_names), batch.only(lost_names)
    assert ([name for name, _ in rest.tasks()] if rest else []) == [grid.task(p)[0] for p in sorted(wanted - lost)]
    assert ([name for name, _ in others.tasks()] if others else []) == [grid.task(p)[0] for p in sorted(wanted & lost)]
    assert (rest is None) == (not wanted - lost)
    assert (others is None) == (not wanted & lost)


# Which Slurm


def on_slurm(text: str = "fcfs+slurm", **fields: Any) -> list[bytes]:
    return names(schedulers=[text], baseline=None, **fields)


def test_a_version_of_slurm_is_part_of_a_name_where_the_text_leaves_it_open() -> None:
    assert on_slurm() == on_slurm(slurm="26.05")
    assert len({on_slurm(slurm=version)[0] for version in ("22.05", "24.11", "26.05")}) == 3
    assert on_slurm("fcfs+slurm(version=24.11)") == on_slurm("fcfs+slurm(version=24.11)", slurm="22.05")
    assert names() == names(slurm="22.05")


def test_what_is_simulated_names_the_version_of_the_campaign_and_results_keep_the_text() -> None:
    for version, text in ((None, "fcfs+slurm(version=26.05)"), ("22.05", "fcfs+slurm(version=22.05)")):
        task = plan(small(schedulers=["fcfs+slurm", "saf+slurm(version=24.11)"], baseline=None, slurm=version)).task(0)[
            1
        ]
        assert (task.scheduler, task.text) == ("fcfs+slurm", text)
    assert (
        plan(small(schedulers=["saf+slurm(version=24.11)"], baseline=None)).task(0)[1].text
        == "saf+slurm(version=24.11)"
    )


def test_tasks_that_schedlab_01_named_keep_their_names_and_follow_slurm_2205(tmp_path: Path) -> None:
    # The hash of the specification as 0.1 wrote it, without a version.
    told = plan(small(schedulers=["fcfs+slurm"], baseline=None, slurm="22.05"))
    assert "slurm" not in told.task(0)[1].specification()
    definition = told.campaign.model_dump(mode="json")
    del definition["slurm"]
    facts = {"definition": definition, "inputs": [item.to_dict() for item in told.inputs], "code": {}}
    again = plan_of(facts, "campaign.json")
    assert again.names.tolist() == told.names.tolist()
    assert again.task(0)[1].text == "fcfs+slurm(version=22.05)"
