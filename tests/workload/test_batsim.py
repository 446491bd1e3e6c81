"""Batsim's JSON workloads of versions 4 and 5, in and out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.workload.batsim import read_batsim, write_batsim
from schedlab.workload.workload import Workload

PROFILES = {"nap": {"type": "delay", "delay": 20.25}, "sleep": {"type": "DelayProfile", "delay": 8}}


def job(**changes: Any) -> dict[str, Any]:
    return {"id": "1", "subtime": 10, "res": 2, "walltime": 60, "profile": "nap"} | changes


def batsim_file(directory: Path, jobs: Any, profiles: Any = None, **others: Any) -> Path:
    path = directory / "w.json"
    path.write_text(
        json.dumps({"nb_res": 8, "jobs": jobs, "profiles": PROFILES if profiles is None else profiles} | others)
    )
    return path


class TestReading:
    def test_delay_profiles_of_both_versions_become_run_times(self, tmp_path: Path) -> None:
        path = batsim_file(tmp_path, [job(), job(id="2", subtime=11, res=1, profile="sleep")])
        jobs = read_batsim(path)
        assert (jobs.name, jobs.processors) == ("w", 8)
        assert jobs.job_id.tolist() == [1, 2]
        assert jobs.submit_time.tolist() == [10, 11]
        assert jobs.requested_processors.tolist() == [2, 1]
        assert jobs.requested_time.tolist() == [60, 60]
        assert jobs.run_time.tolist() == [20, 8]
        assert jobs.rounded == 1

    def test_a_walltime_of_minus_one_or_none_at_all_is_unknown(self, tmp_path: Path) -> None:
        without = job()
        del without["walltime"]
        jobs = read_batsim(batsim_file(tmp_path, [job(walltime=-1), without, job(walltime=30.5)]))
        assert jobs.requested_time.tolist() == [-1, -1, 31]

    @pytest.mark.parametrize(
        ("identifiers", "numbers"),
        [([0, 7], [0, 7]), (["w0!5", "w0!6"], [5, 6]), (["a", "7"], [1, 2]), (["²", "7"], [1, 2])],
    )
    def test_identifiers_that_are_numbers_are_kept(
        self, tmp_path: Path, identifiers: list[Any], numbers: list[int]
    ) -> None:
        jobs = read_batsim(batsim_file(tmp_path, [job(id=identifier) for identifier in identifiers]))
        assert jobs.job_id.tolist() == numbers

    def test_profiles_that_no_job_has_may_be_of_any_type(self, tmp_path: Path) -> None:
        profiles = PROFILES | {"tasks": {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0}}
        assert len(read_batsim(batsim_file(tmp_path, [job()], profiles))) == 1


class TestRefusals:
    def test_a_profile_of_another_type_is_named_with_its_type(self, tmp_path: Path) -> None:
        profiles = PROFILES | {"tasks": {"type": "ParallelTaskProfile", "cpu": [1]}}
        path = batsim_file(tmp_path, [job(), job(profile="tasks")], profiles)
        with pytest.raises(InputError, match="job 2: its profile 'tasks' is of type 'ParallelTaskProfile'"):
            read_batsim(path)

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ({"profile": "none"}, "unknown profile 'none'"),
            ({"profile": ["nap"]}, r"unknown profile \['nap'\]"),
            ({"subtime": "now"}, "subtime is 'now', not a number"),
            ({"subtime": None}, "subtime is None, not a number"),
            ({"subtime": -3}, "subtime is -3, but must be at least 0"),
            ({"subtime": float("nan")}, "subtime is nan, but"),
            ({"res": 0}, "res is 0, but must be at least 1"),
            ({"res": True}, "res is True, not a number"),
            ({"walltime": -2}, "walltime is -2, but"),
        ],
    )
    def test_a_bad_job_is_named(self, tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
        with pytest.raises(InputError, match=rf"w\.json, job 2: {sentence}"):
            read_batsim(batsim_file(tmp_path, [job(), job(**changes)]))

    @pytest.mark.parametrize("text", ["", "[]", "{}", "{", "[" * 100_000, '{"jobs": {}, "profiles": {}}', "\udcff"])
    def test_what_is_not_a_batsim_workload_is_refused(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "w.json").write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(InputError, match="this is not"):
            read_batsim(tmp_path / "w.json")

    def test_a_workload_without_jobs_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="has no jobs"):
            read_batsim(batsim_file(tmp_path, []))

    def test_a_job_without_run_time_cannot_be_written(self, tmp_path: Path) -> None:
        columns = {"submit_time": [0, 1], "run_time": [5, -1], "requested_processors": [1, 1]}
        with pytest.raises(InputError, match="the run time of job 2") as caught:
            write_batsim(Workload.from_columns(columns), tmp_path / "w.json")
        assert caught.value.row == 1
        assert list(tmp_path.iterdir()) == []

    def test_an_unknown_version_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="Batsim 3"):
            write_batsim(Workload.from_columns({"submit_time": [0]}), tmp_path / "w.json", version=3)


@pytest.mark.parametrize(("version", "kind"), [(4, "delay"), (5, "DelayProfile")])
def test_each_version_gets_the_type_it_knows(tmp_path: Path, version: int, kind: str) -> None:
    columns = {"submit_time": [0, 1, 2], "run_time": [5, 5, 0], "allocated_processors": [1, 3, 2]}
    write_batsim(Workload.from_columns(columns), tmp_path / "w.json", version)
    assert json.loads((tmp_path / "w.json").read_text()) == {
        "nb_res": 3,
        "jobs": [
            {"id": "1", "subtime": 0, "res": 1, "profile": "delay5"},
            {"id": "2", "subtime": 1, "res": 3, "profile": "delay5"},
            {"id": "3", "subtime": 2, "res": 2, "profile": "delay0"},
        ],
        "profiles": {"delay0": {"type": kind, "delay": 0}, "delay5": {"type": kind, "delay": 5}},
    }


NUMBERS = st.integers(0, 10**12)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(NUMBERS, NUMBERS, NUMBERS, st.integers(1, 10**6), st.just(-1) | st.integers(1, 10**9)),
        min_size=1,
    ),
    st.sampled_from([4, 5]),
    st.sampled_from(["w.json", "w.json.gz"]),
)
def test_reading_gives_back_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, ...]], version: int, name: str
) -> None:
    fields = ("job_id", "submit_time", "run_time", "requested_processors", "requested_time")
    jobs = Workload.from_columns(dict(zip(fields, zip(*rows, strict=True), strict=True)), processors=10**6)
    path = tmp_path_factory.mktemp("batsim") / name
    write_batsim(jobs, path, version)
    again = read_batsim(path)
    assert again.processors == 10**6
    for field in fields:
        assert getattr(again, field).tolist() == getattr(jobs, field).tolist()
