"""What waiting jobs wait for: arrays with many tasks, held jobs, dependencies, begin times, heterogeneous jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.workload.files import read_workload
from schedlab.workload.workload import Workload

HEADER = "JOBID|USER|PARTITION|STATE|SUBMIT_TIME|START_TIME|TIME_LIMIT|CPUS|NODES|MIN_MEMORY|REASON|DEPENDENCY|NAME"


def line(
    number: str, reason: str = "Resources", needs: str = "(null)", *, start: str = "N/A", name: str = "run"
) -> str:
    state = "RUNNING" if reason == "None" else "PENDING"
    return f"{number}|ann|cpu|{state}|2026-04-01T10:00:00|{start}|1:00:00|4|1|0|{reason}|{needs}|{name}"


RUNS = line("1", "None", start="2026-04-01T10:00:00", name="first")


def read(directory: Path, *lines: str, het_jobs: str = "joined") -> Workload:
    path = directory / "now.txt"
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    return read_workload(path, het_jobs=het_jobs)


def notes(jobs: Workload) -> list[str]:
    return [text.removeprefix(" Note: ") for text in jobs.header if text.startswith(" Note: ")]


def pairs(jobs: Workload) -> set[tuple[int, int]]:
    """Return who waits for whom, by number."""
    after = jobs.dependencies
    if after is None:
        return set()
    rows = zip(after.children, after.parents, strict=True)
    return {(int(jobs.job_id[child]), int(jobs.job_id[parent])) for child, parent in rows}


class TestArrays:
    def test_each_waiting_task_is_a_job(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, RUNS, line("2_[1-100%5]"), line("3_[0-6:2,11]"), line("3_7", "None"))
        assert len(jobs) == 107
        assert {number: jobs.job_id.tolist().count(number) for number in (1, 2, 3)} == {1: 1, 2: 100, 3: 6}
        assert jobs.resources is not None
        assert set(zip(jobs.resources.array.texts(), jobs.resources.array_limit.tolist(), strict=True)) == {
            ("", 0),
            ("2", 5),
            ("3", 0),
        }
        assert {"running: 2", "waiting: 105", "tasks of arrays, in 2 records of the file: 105"} <= set(notes(jobs))

    @pytest.mark.parametrize("cut", ["2_[3,10,1...%3]", "2_[3,10,1"], ids=["JSON, scontrol", "squeue %i"])
    def test_a_list_that_slurm_cut_is_told(self, tmp_path: Path, cut: str) -> None:
        jobs = read(tmp_path, line(cut))
        assert jobs.job_id.tolist() == [2, 2]
        assert any(
            "whose list of tasks Slurm cut short" in note and "SLURM_BITSTR_LEN=0" in note for note in notes(jobs)
        )

    @pytest.mark.parametrize("tasks", ["1-x", "5%many", "0-999999999"])
    def test_tasks_that_are_none_are_refused(self, tmp_path: Path, tasks: str) -> None:
        with pytest.raises(InputError, match="job 2: the tasks of an array are"):
            read(tmp_path, line(f"2_[{tasks}]"))


class TestHeld:
    @pytest.mark.parametrize("reason", ["JobHeldUser", "JobHeldAdmin"])
    def test_held_jobs_and_what_waits_for_them_are_left_out(self, tmp_path: Path, reason: str) -> None:
        jobs = read(
            tmp_path,
            line("7", reason),
            line("8", "Dependency", "afterok:7(unfulfilled)"),
            line("9", "Dependency", "afterany:8(unfulfilled)"),
            line("10"),
        )
        assert jobs.job_id.tolist() == [10]
        assert {"waiting: 4", "held, left out: 1"} <= set(notes(jobs))
        assert any(note.startswith("waiting for other jobs: 2, 2 of them left out") for note in notes(jobs))

    def test_a_queue_in_which_nothing_can_start_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"none of its jobs can start \(held, left out: 1\)"):
            read(tmp_path, line("7", "JobHeldUser"))

    def test_without_columns_of_reasons_it_is_said_that_they_are_unknown(self, tmp_path: Path) -> None:
        path = tmp_path / "now.txt"
        cells = [row.split("|")[:10] for row in (HEADER, line("7"))]
        path.write_text("\n".join("|".join(row) for row in cells))
        assert "waiting without REASON and DEPENDENCY, so that they may be held or dependent: 1" in notes(
            read_workload(path)
        )


class TestDependencies:
    @pytest.mark.parametrize(
        ("needs", "parents"),
        [
            ("afterok:1(unfulfilled)", {1}),
            ("afterany:1(unfulfilled),afterok:3_1(unfulfilled)", {1, 3}),
            ("afterany:3_*(unfulfilled)", {3}),
            ("after:1+10(unfulfilled)", {1}),
            ("afterok:1:4", {1, 4}),
            ("afternotok:1(unfulfilled)?afterany:4(unfulfilled)", {4}),
            ("afterok:99(failed)?afterok:4(unfulfilled)", {4}),
        ],
    )
    def test_jobs_that_are_there_are_waited_for(self, tmp_path: Path, needs: str, parents: set[int]) -> None:
        jobs = read(tmp_path, RUNS, line("3_[1-2]"), line("4"), line("8", "Dependency", needs))
        assert pairs(jobs) == {(8, parent) for parent in parents}
        assert "waiting for other jobs: 1" in notes(jobs)

    @pytest.mark.parametrize(
        "needs", ["afterok:99(unfulfilled)", "afterok:1(failed)", "afternotok:1(unfulfilled)", "(null)", "afterok:x"]
    )
    def test_a_job_that_can_never_start_in_a_simulation_is_left_out(self, tmp_path: Path, needs: str) -> None:
        jobs = read(tmp_path, RUNS, line("8", "Dependency", needs))
        assert jobs.job_id.tolist() == [1]
        assert any("1 of them left out" in note for note in notes(jobs))

    def test_a_task_waits_for_the_task_of_its_number(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, line("3_[1-2]"), line("4_[1-2]", "Dependency", "aftercorr:3_*(unfulfilled)"))
        after = jobs.dependencies
        assert after is not None
        assert [after.parents_of(row).tolist() for row in range(4)] == [[], [], [0], [1]]

    def test_singletons_of_one_name_follow_each_other(self, tmp_path: Path) -> None:
        jobs = read(
            tmp_path,
            line("3", name="x"),
            line("4", name="x"),
            line("5", "Dependency", "singleton(unfulfilled)", name="x"),
            line("6", "Dependency", "singleton(unfulfilled)", name="x"),
            line("7", "Dependency", "singleton(unfulfilled)", name="y"),
        )
        assert pairs(jobs) == {(5, 3), (5, 4), (6, 5)}

    def test_what_is_approximated_is_counted(self, tmp_path: Path) -> None:
        jobs = read(
            tmp_path,
            RUNS,
            line("4"),
            line("8", "Dependency", "after:1(unfulfilled)"),
            line("9", "Dependency", "afterok:1(unfulfilled)?afterok:4(unfulfilled)"),
        )
        assert {
            "waiting for the start of other jobs, taken as for their end: 1",
            "waiting for any of several jobs, taken as for all of them: 1",
        } <= set(notes(jobs))

    def test_a_dependent_job_does_not_start_at_once(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, RUNS, line("8", "Dependency", "afterok:1(unfulfilled)"), line("9"))
        planned = simulate(jobs.replace(run_time=jobs.requested_time, processors=100), "fcfs+easy")
        assert dict(zip(jobs.job_id.tolist(), planned.start_time.tolist(), strict=True)) == {1: 0, 8: 3600, 9: 0}


class TestBeginTimes:
    def test_a_job_with_a_begin_time_counts_as_submitted_then(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, RUNS, line("9", "BeginTime", start="2026-04-01T12:00:00"))
        assert jobs.submit_time.tolist() == [0, 7200]
        assert {
            "waiting for their begin time: 1",
            "eligible after their submission, counted as submitted then: 1",
        } <= set(notes(jobs))


class TestHeterogeneousJobs:
    PARTS = (line("14+0"), line("14+1").replace("|4|1|0|", "|8|2|0|"), line("20"))

    def test_components_are_joined(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, *self.PARTS)
        assert sorted(zip(jobs.job_id.tolist(), jobs.job_processors.tolist(), strict=True)) == [(14, 12), (20, 4)]
        assert "components of heterogeneous jobs joined to others: 1" in notes(jobs)

    def test_or_rows_that_start_together(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, *self.PARTS, het_jobs="components")
        assert jobs.resources is not None
        assert (jobs.job_processors.tolist(), jobs.resources.het_job.texts()) == ([4, 8, 4], ["14", "14", ""])
        assert "heterogeneous jobs, whose components are rows: 1" in notes(jobs)

    def test_gpus_of_components_add_up(self, tmp_path: Path) -> None:
        path = tmp_path / "now.txt"
        rows = [HEADER + "|TRES_PER_NODE", self.PARTS[0] + "|N/A", self.PARTS[1] + "|gres/gpu:2"]
        path.write_text("\n".join(rows))
        jobs = read_workload(path)
        assert jobs.resources is not None
        assert (jobs.resources.gpus.tolist(), jobs.resources.gpus_per_node.tolist()) == ([4], [0])


class TestGenericResources:
    def test_what_is_not_read_is_counted(self, tmp_path: Path) -> None:
        path = tmp_path / "now.txt"
        asked = ["gres/gpu:a100:1,gres/gpu:v100:2", "gres/shard:3", "gres/nic:1", "N/A"]
        rows = [line(str(number)) + f"|{gres}" for number, gres in enumerate(asked, 1)]
        path.write_text("\n".join([HEADER + "|TRES_PER_NODE", *rows]))
        jobs = read_workload(path)
        assert jobs.resources is not None
        assert jobs.resources.gpus_per_node.tolist() == [3, 0, 0, 0]
        told = {
            "GPUs of several types, counted as GPUs of any type: 1",
            "generic resources that are not read, and jobs with them: nic 1",
        }
        assert told <= set(notes(jobs))
        assert any("shards or MPS of GPUs" in note and note.endswith(": 1") for note in notes(jobs))
