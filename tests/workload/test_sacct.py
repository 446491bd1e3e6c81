"""The text of sacct, with every odd value that sites have in it."""

from __future__ import annotations

import contextlib
import csv
import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.workload._sacct_columns import COMMAND, XDMOD
from schedlab.workload.files import read_workload
from schedlab.workload.resources import LABELS, NUMBERS
from schedlab.workload.sacct import read_sacct
from schedlab.workload.workload import FIELDS, Workload

JOB = {
    "JobID": "101",
    "JobIDRaw": "101",
    "User": "ann",
    "Account": "ocean",
    "Partition": "batch",
    "QOS": "normal",
    "State": "COMPLETED",
    "Submit": "2026-04-01T10:00:00",
    "Eligible": "2026-04-01T10:00:00",
    "Start": "2026-04-01T10:05:00",
    "End": "2026-04-01T11:05:00",
    "ElapsedRaw": "3600",
    "TimelimitRaw": "120",
    "ReqCPUS": "8",
    "AllocCPUS": "8",
    "NNodes": "2",
    "ReqMem": "16G",
    "ReqTRES": "billing=8,cpu=8,gres/gpu:a100=2,mem=16G,node=1",
    "AllocTRES": "billing=8,cpu=8,gres/gpu=2,gres/gpu:a100=2,mem=16G,node=2",
    "NodeList": "n[1-2]",
    "Constraints": "ib",
    "TotalCPU": "02:00:00",
    "JobName": "model.sh",
}
APRIL = 1775037600
"""2026-04-01 10:00:00 UTC."""


def job(number: int | str = 101, **changes: str) -> dict[str, str]:
    return JOB | {"JobID": str(number), "JobIDRaw": str(number)} | changes


def without(*names: str, **changes: str) -> dict[str, str]:
    return {name: value for name, value in job(**changes).items() if name not in names}


def sacct_text(*jobs: dict[str, str]) -> str:
    return "\n".join(["|".join(jobs[0]), *("|".join(one.values()) for one in jobs)]) + "\n"


def read(directory: Path, *jobs: dict[str, str], **options: Any) -> Workload:
    path = directory / "april.txt"
    path.write_text(sacct_text(*jobs), encoding="utf-8")
    return read_sacct(path, **options)


def refused(directory: Path, *jobs: dict[str, str], **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(directory, *jobs, **options)
    return str(caught.value)


class TestOneJob:
    def test_every_field_has_its_meaning(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, JOB)
        found = {field: column.tolist() for field, column in jobs.to_frame()[list(FIELDS)].fillna(-1).items()}
        assert found == {
            "job_id": [101],
            "submit_time": [0],
            "wait_time": [300],
            "run_time": [3600],
            "allocated_processors": [8],
            "average_cpu_time": [900.0],
            "used_memory": [-1],
            "requested_processors": [8],
            "requested_time": [7200],
            "requested_memory": [2 * 1024**2],
            "status": [1],
            "user_id": [1],
            "group_id": [1],
            "executable_id": [1],
            "queue_id": [1],
            "partition_id": [1],
            "preceding_job_id": [-1],
            "think_time": [-1],
        }
        assert (jobs.name, jobs.start_time) == ("april", APRIL)
        resources = jobs.resources
        assert resources is not None
        asked = {name: getattr(resources, name).tolist() for name in NUMBERS if name in resources.said}
        assert asked == {"nodes": [2], "tasks": [8], "memory_per_node": [8 * 1024], "gpus": [2]}
        names = {name: getattr(resources, name).texts() for name in LABELS if name in resources.said}
        assert names == {
            "gpu_type": ["a100"],
            "constraint": ["ib"],
            "partition": ["batch"],
            "account": ["ocean"],
            "qos": ["normal"],
        }

    def test_reservations_are_kept_where_jobs_had_any(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, job(1, Reservation="course"), job(2, Reservation=""))
        assert jobs.resources is not None
        assert jobs.resources.reservation.texts() == ["course", ""]
        assert "reservation" in jobs.resources.said

    def test_names_are_numbered_by_first_appearance_and_kept_in_the_header(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, job(1, User="zoë"), job(2, User="bob"), job(3, User="zoë", QOS=""))
        assert jobs.user_id.tolist() == [1, 2, 1]
        assert jobs.queue_id.tolist() == [1, 1, -1]
        assert {" User: 1 zoë", " User: 2 bob", " Queue: 1 normal", " Partition: 1 batch"} <= set(jobs.header)

    def test_jobs_come_in_order_of_submission_and_names_with_them(self, tmp_path: Path) -> None:
        late = job(1, Submit="2026-04-01T10:04:00", User="ann")
        jobs = read(tmp_path, late, job(2, User="bob"))
        assert (jobs.job_id.tolist(), jobs.submit_time.tolist()) == ([2, 1], [0, 240])
        assert jobs.user_id.tolist() == [1, 2]
        assert " User: 1 bob" in jobs.header

    @pytest.mark.parametrize("order", [list(JOB), list(reversed(JOB)), sorted(JOB)])
    def test_columns_come_in_any_order_and_spelling(self, tmp_path: Path, order: list[str]) -> None:
        jobs = read(tmp_path, {name.lower(): JOB[name] for name in order})
        assert (jobs.run_time.tolist(), jobs.job_processors.tolist()) == ([3600], [8])

    def test_unknown_columns_are_ignored_and_told(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, JOB | {"Comment": "", "Reason": "Priority"})
        assert " Note: columns ignored: Comment, Reason" in jobs.header

    def test_the_command_that_is_recommended_has_the_columns_that_are_used(self, tmp_path: Path) -> None:
        assert COMMAND.partition("--format=")[2].split(",") == list(JOB)
        page = (Path(__file__).parents[2] / "docs" / "how-to" / "your-sites-log.md").read_text(encoding="utf-8")
        assert COMMAND in " ".join(page.replace("\\\n", " ").split())
        assert not any("ignored" in line for line in read(tmp_path, JOB).header)

    def test_few_columns_are_enough(self, tmp_path: Path) -> None:
        few = ("JobID", "State", "Submit", "Start", "End", "NCPUS")
        jobs = read(tmp_path, {name: (JOB | {"NCPUS": "4"})[name] for name in few})
        assert (jobs.run_time.tolist(), jobs.requested_time.tolist(), jobs.user_id.tolist()) == ([3600], [-1], [-1])


class TestOddValues:
    @pytest.mark.parametrize(
        ("state", "status"),
        [
            ("COMPLETED", 1),
            ("CANCELLED", 5),
            ("CANCELLED by 1001", 5),
            ("FAILED", 0),
            ("TIMEOUT", 0),
            ("NODE_FAIL", 0),
            ("OUT_OF_MEMORY", 0),
            ("PREEMPTED", 0),
            ("REQUEUED", 0),
            ("RUNNING", -1),
        ],
    )
    def test_states_become_the_status_of_swf(self, tmp_path: Path, state: str, status: int) -> None:
        assert read(tmp_path, job(State=state)).status.tolist() == [status]

    @pytest.mark.parametrize("never", ["None", "Unknown", ""])
    def test_a_job_that_never_started_has_neither_wait_nor_run_time(self, tmp_path: Path, never: str) -> None:
        ghost = job(2, State="CANCELLED by 7", Start=never, ElapsedRaw="0", AllocCPUS="0", NNodes="0")
        jobs = read(tmp_path, job(1), ghost)
        assert (jobs.wait_time.tolist(), jobs.run_time.tolist(), jobs.status.tolist()) == (
            [300, -1],
            [3600, -1],
            [1, 5],
        )
        assert jobs.job_processors.tolist() == [8, 8]
        assert " Note: never started: 1" in jobs.header

    def test_a_job_that_still_runs_has_no_run_time_yet(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, job(1), job(2, State="RUNNING", End="Unknown", ElapsedRaw="77"))
        assert (jobs.run_time.tolist(), jobs.wait_time.tolist(), jobs.status.tolist()) == (
            [3600, -1],
            [300, 300],
            [1, -1],
        )
        assert " Note: not ended, run time unknown: 1" in jobs.header

    @pytest.mark.parametrize("limit", ["UNLIMITED", "Partition_Limit", ""])
    @pytest.mark.parametrize("column", ["Timelimit", "TimelimitRaw"])
    def test_a_job_without_limit_has_no_request(self, tmp_path: Path, limit: str, column: str) -> None:
        jobs = read(tmp_path, without("TimelimitRaw") | {column: limit})
        assert jobs.requested_time.tolist() == [-1]
        assert " Note: without a time limit: 1" in jobs.header

    @pytest.mark.parametrize(
        ("text", "seconds"),
        [("1-02:03:04", 93784), ("02:03:04", 7384), ("03:04", 184), ("10-00:00:00", 864000), ("03:04.500", 185)],
    )
    def test_durations_have_days_or_not(self, tmp_path: Path, text: str, seconds: int) -> None:
        jobs = read(tmp_path, without("TimelimitRaw", "ElapsedRaw") | {"Timelimit": text, "Elapsed": text})
        assert (jobs.requested_time.tolist(), jobs.run_time.tolist()) == ([seconds], [seconds])

    @pytest.mark.parametrize(
        ("text", "kilobytes"),
        [
            ("16G", 2 * 1024**2),
            ("4000M", 500 * 1024),
            ("4000", 500 * 1024),
            ("2000Mc", 2000 * 1024),
            ("4Gn", 1024**2),
            ("1.5T", int(1.5 * 1024**3 / 8)),
            ("8000K", 1000),
            ("0", -1),
            ("0n", -1),
            ("99999999999999999999M", -1),
            ("99999999999999999999Gn", -1),
            ("?", -1),
            ("", -1),
        ],
    )
    def test_memory_is_per_processor_in_kilobytes(self, tmp_path: Path, text: str, kilobytes: int) -> None:
        assert read(tmp_path, job(ReqMem=text)).requested_memory.tolist() == [kilobytes]

    def test_shares_of_memory_are_not_told_as_rounded_values(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, job(ReqMem="1000K", AllocCPUS="3"))
        assert (jobs.requested_memory.tolist(), jobs.rounded) == ([333], 0)

    def test_tres_strings_stand_for_missing_columns(self, tmp_path: Path) -> None:
        tres = {"AllocTRES": "billing=48,cpu=48,gres/gpu=2,mem=180G,node=1", "ReqTRES": "billing=4,cpu=4,node=1"}
        jobs = read(tmp_path, without("AllocCPUS", "ReqCPUS", "ReqMem") | tres)
        assert jobs.allocated_processors.tolist() == [48]
        ghost = tres | {"AllocTRES": "", "Start": "Unknown", "State": "PENDING", "End": "Unknown"}
        assert read(tmp_path, without("AllocCPUS", "ReqCPUS") | ghost).requested_processors.tolist() == [4]

    def test_a_job_fills_what_it_was_given(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, job(1, ReqCPUS="1", AllocCPUS="48"), job(2))
        assert jobs.requested_processors.tolist() == [48, 8]
        assert " Note: given other processors than asked for, counted as given: 1" in jobs.header

    def test_whole_nodes_tell_how_large_a_node_is(self, tmp_path: Path) -> None:
        whole = [job(1, NNodes="2", AllocCPUS="96"), job(2, NNodes="5", AllocCPUS="240")]
        assert read(tmp_path, *whole).cores_per_node == 48
        assert read(tmp_path, *whole, job(3, NNodes="1", AllocCPUS="4")).cores_per_node is None
        assert read(tmp_path, job(1, NNodes="1", AllocCPUS="4")).cores_per_node is None

    def test_suspended_time_is_not_run_time(self, tmp_path: Path) -> None:
        assert read(tmp_path, job(ElapsedRaw="3000")).run_time.tolist() == [3000]


class TestRecordsOfOneJob:
    def test_steps_are_dropped(self, tmp_path: Path) -> None:
        steps = [job(f"101.{step}", User="", Partition="") for step in ("batch", "extern", "0")]
        jobs = read(tmp_path, job(101), *steps)
        assert jobs.job_id.tolist() == [101]
        assert " Note: steps dropped: 3" in jobs.header

    def test_each_run_of_a_requeued_job_is_a_job(self, tmp_path: Path) -> None:
        first = job(5, State="REQUEUED", End="2026-04-01T10:15:00", ElapsedRaw="600")
        again = job(5, Submit="2026-04-01T10:15:01", Start="2026-04-01T10:20:01")
        jobs = read(tmp_path, first, again)
        assert (jobs.job_id.tolist(), jobs.run_time.tolist(), jobs.status.tolist()) == ([5, 5], [600, 3600], [0, 1])

    def test_a_job_that_stands_in_two_outputs_counts_once_as_it_ended(self, tmp_path: Path) -> None:
        running = job(5, State="RUNNING", End="Unknown", ElapsedRaw="60")
        for outputs in ([running, job(6), job(5)], [job(5), job(6), running]):
            jobs = read(tmp_path, *outputs)
            assert sorted(zip(jobs.job_id.tolist(), jobs.run_time.tolist(), strict=True)) == [(5, 3600), (6, 3600)]
            assert " Note: in the file more than once, counted once: 1" in jobs.header

    def test_outputs_may_stand_one_after_the_other(self, tmp_path: Path) -> None:
        path = tmp_path / "year.txt"
        path.write_text(sacct_text(job(1)) + "\n" + sacct_text(job(2)))
        assert read_sacct(path).job_id.tolist() == [1, 2]

    @pytest.mark.parametrize("columns", [[*list(JOB)[:1], *list(JOB)[:0:-1]], list(JOB)[:-1]], ids=["order", "number"])
    def test_outputs_with_other_columns_are_refused(self, tmp_path: Path, columns: list[str]) -> None:
        path = tmp_path / "year.txt"
        second = {name: job(2)[name] for name in columns}
        path.write_text(sacct_text(job(1)) + "\n" + "|".join(columns) + "\n" + "|".join(second.values()) + "\n")
        with pytest.raises(InputError, match=r"year\.txt, line \d: the columns differ from those of the first"):
            read_sacct(path)

    def test_tasks_of_arrays_keep_their_own_numbers(self, tmp_path: Path) -> None:
        tasks = [job(f"200_{task}", JobIDRaw=str(210 + task)) for task in (4, 5)]
        waiting = job("200_[6-9%2]", JobIDRaw="200", State="PENDING", Start="Unknown", End="Unknown", AllocCPUS="0")
        jobs = read(tmp_path, *tasks, waiting)
        assert (jobs.job_id.tolist(), jobs.run_time.tolist()) == ([214, 215, 200], [3600, 3600, -1])
        assert " Note: array tasks that never started, counted as one job: 1" in jobs.header

    def test_a_record_of_several_tasks_that_ran_is_one_run(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, job("5_[1-3]", JobIDRaw="5", State="TIMEOUT"))
        assert jobs.run_time.tolist() == [3600]
        assert not any("never started" in line for line in jobs.header)

    def test_a_job_is_submitted_when_it_becomes_eligible(self, tmp_path: Path) -> None:
        at = "2026-04-01T10:{:02d}:00".format
        jobs = read(
            tmp_path,
            job(1),
            job(2, Submit=at(1), Eligible=at(4)),
            job(3, Submit=at(2), Eligible="Unknown"),
            job(4, Submit=at(3), Eligible=at(59)),
        )
        assert jobs.job_id.tolist() == [1, 3, 4, 2]
        assert (jobs.submit_time.tolist(), jobs.wait_time.tolist()) == ([0, 120, 180, 240], [300, 180, 120, 60])
        assert " Note: eligible after their submission, counted as submitted then: 1" in jobs.header
        assert " Note: eligible after their start, counted as submitted at their submission: 1" in jobs.header

    def test_components_become_eligible_together(self, tmp_path: Path) -> None:
        later = "2026-04-01T10:03:00"
        parts = [job("300+0", JobIDRaw="300", Eligible=later), job("300+1", JobIDRaw="301")]
        path = tmp_path / "april.txt"
        path.write_text(sacct_text(job(1), *parts))
        jobs = read_sacct(path, het_jobs="components")
        assert (jobs.job_id.tolist(), jobs.submit_time.tolist()) == ([1, 300, 301], [0, 180, 180])

    def test_without_raw_numbers_arrays_are_numbered_from_1(self, tmp_path: Path) -> None:
        tasks = [without("JobIDRaw", number=f"200_{task}") for task in (4, 5)]
        assert read(tmp_path, *tasks).job_id.tolist() == [1, 2]

    def test_components_of_a_heterogeneous_job_are_one_job(self, tmp_path: Path) -> None:
        parts = [
            job("300+0", JobIDRaw="300", AllocCPUS="4", ReqCPUS="4", NNodes="1"),
            job("300+1", JobIDRaw="301", AllocCPUS="32", ReqCPUS="32", NNodes="4", ElapsedRaw="3500"),
        ]
        jobs = read(tmp_path, *parts, job(302), parts[1])
        assert jobs.job_id.tolist() == [302, 300]
        assert (jobs.job_processors.tolist(), jobs.run_time.tolist()) == ([8, 36], [3600, 3600])
        assert " Note: components of heterogeneous jobs joined to others: 1" in jobs.header

    def test_components_may_be_rows_that_name_their_job(self, tmp_path: Path) -> None:
        parts = [
            job("300+1", JobIDRaw="301", AllocCPUS="32", ReqCPUS="32", NNodes="4", ElapsedRaw="3500"),
            job(302),
            job("300+0", JobIDRaw="300", AllocCPUS="4", ReqCPUS="4", NNodes="1"),
        ]
        path = tmp_path / "year.txt"
        path.write_text(sacct_text(*parts))
        jobs = read_sacct(path, het_jobs="components")
        assert jobs.job_id.tolist() == [300, 301, 302]
        assert jobs.job_processors.tolist()[:2] == [4, 32]
        assert jobs.resources.het_job.texts() == ["300", "300", ""]
        assert " Note: heterogeneous jobs, whose components are rows: 1" in jobs.header


class TestTimes:
    def test_a_zone_is_taken_for_times_without_one(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, JOB, timezone="Europe/Stockholm")
        assert jobs.start_time == APRIL - 7200
        assert " Note: times without a zone taken as Europe/Stockholm" in jobs.header

    @pytest.mark.parametrize(
        "times",
        [
            {"Submit": str(APRIL), "Start": str(APRIL + 300), "End": str(APRIL + 3900)},
            {
                "Submit": "2026-04-01T12:00:00+0200",
                "Start": "2026-04-01T12:05:00+0200",
                "End": "2026-04-01T13:05:00+0200",
            },
            {"Submit": "2026-04-01T10:00:00Z", "Start": "2026-04-01T10:05:00Z", "End": "2026-04-01T11:05:00Z"},
        ],
    )
    def test_unix_times_and_offsets_need_no_zone(self, tmp_path: Path, times: dict[str, str]) -> None:
        times = {**times, "Eligible": times["Submit"]}
        jobs = read(tmp_path, without("ElapsedRaw") | times, timezone="Asia/Tokyo")
        assert (jobs.start_time, jobs.wait_time.tolist(), jobs.run_time.tolist()) == (APRIL, [300], [3600])
        assert not any("zone" in line for line in jobs.header)

    def test_the_night_that_summer_time_begins_is_an_hour_shorter(self, tmp_path: Path) -> None:
        night = {"Submit": "2026-03-29T01:50:00", "Start": "2026-03-29T03:10:00", "End": "2026-03-29T04:10:00"}
        jobs = read(tmp_path, without("ElapsedRaw") | night, timezone="Europe/Stockholm")
        assert (jobs.wait_time.tolist(), jobs.run_time.tolist()) == ([20 * 60], [3600])

    def test_an_hour_that_comes_twice_is_the_first_one_and_elapsed_times_are_right(self, tmp_path: Path) -> None:
        night = {"Submit": "2026-10-25T01:50:00", "Start": "2026-10-25T02:10:00", "End": "2026-10-25T02:05:00"}
        jobs = read(tmp_path, job(ElapsedRaw="3300", **night), timezone="Europe/Stockholm")
        assert (jobs.wait_time.tolist(), jobs.run_time.tolist()) == ([20 * 60], [3300])
        message = refused(tmp_path, without("ElapsedRaw") | night, timezone="Europe/Stockholm")
        assert "line 2: End is '2026-10-25T02:05:00', before the start; add the column ElapsedRaw" in message

    def test_a_start_before_the_submission_has_no_wait(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, job(Start="2026-04-01T09:59:00"))
        assert jobs.wait_time.tolist() == [-1]
        assert " Note: start before submission, wait unknown: 1" in jobs.header


class TestRefusals:
    @pytest.mark.parametrize("text", ["", "\n \n"])
    def test_an_empty_file(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "e.txt").write_text(text)
        with pytest.raises(InputError, match=r"e\.txt: the file is empty"):
            read_sacct(tmp_path / "e.txt")

    def test_a_header_without_jobs(self, tmp_path: Path) -> None:
        (tmp_path / "h.txt").write_text("|".join(JOB) + "\n")
        with pytest.raises(InputError, match="no jobs follow the line of column names"):
            read_sacct(tmp_path / "h.txt")

    def test_steps_without_jobs(self, tmp_path: Path) -> None:
        assert "run sacct with --allocations" in refused(tmp_path, job("7.batch"))

    @pytest.mark.parametrize("name", ["Submit", "State", "Start", "End"])
    def test_a_missing_column_is_named_with_the_command_to_run(self, tmp_path: Path, name: str) -> None:
        message = refused(tmp_path, without(name))
        assert f"the column {name} is missing; create the file with TZ=UTC sacct " in message
        assert "--parsable2" in message
        assert f",{name}," in message

    def test_alternatives_of_a_missing_column_are_named(self, tmp_path: Path) -> None:
        assert "the column JobIDRaw or JobID is missing" in refused(tmp_path, without("JobID", "JobIDRaw"))
        message = refused(tmp_path, without("AllocCPUS", "ReqCPUS", "AllocTRES", "ReqTRES"))
        assert "the column AllocCPUS or NCPUS or AllocTRES or ReqCPUS or ReqTRES is missing" in message

    @pytest.mark.parametrize(
        ("cut", "line", "advice"), [(2, 3, "the line is truncated"), (3, 4, "the file is truncated")]
    )
    def test_a_truncated_line_is_named(self, tmp_path: Path, cut: int, line: int, advice: str) -> None:
        lines = sacct_text(*(job(number) for number in (1, 2, 3))).splitlines()
        lines[cut] = lines[cut][:40]
        (tmp_path / "t.txt").write_text("\n".join(lines))
        with pytest.raises(InputError, match=rf"t\.txt, line {line}: 8 columns instead of 23; {advice}"):
            read_sacct(tmp_path / "t.txt")

    def test_a_name_with_the_delimiter_in_it(self, tmp_path: Path) -> None:
        message = refused(tmp_path, job(1), job(2, JobName="a|b"))
        assert "a value of Constraints (as in amd|intel) or JobName holds the delimiter |" in message

    def test_a_constraint_with_the_delimiter_in_it(self, tmp_path: Path) -> None:
        message = refused(tmp_path, job(1), job(2, Constraints="amd|intel"))
        assert "line 3: 24 columns instead of 23; a value of Constraints (as in amd|intel) or JobName holds" in message
        assert message.endswith("choose another one, such as --delimiter=^, or leave that column out")

    @pytest.mark.parametrize(
        ("text", "line", "columns"),
        [
            ("first\nsecond", 4, 1),  # the last column: its line looks whole
            ("first\nsecond\nthird", 4, 1),
        ],
    )
    @pytest.mark.parametrize("after", [True, False])
    def test_a_name_with_a_line_break_in_it(
        self, tmp_path: Path, text: str, line: int, columns: int, *, after: bool
    ) -> None:
        message = refused(tmp_path, job(1), job(2, JobName=text), *([job(3)] if after else []))
        told = "a value of JobName holds a line break: leave that column out, or skip such lines with --lenient"
        assert message.endswith(f"line {line}: {columns} columns instead of 23; {told}")

    def test_a_line_break_before_other_columns(self, tmp_path: Path) -> None:
        one = {name: value for name, value in job(1).items() if name != "JobName"}
        two = {"JobIDRaw": "2", "SubmitLine": "sbatch --wrap=a\nb"} | {
            name: one[name] for name in one if name[:5] != "JobID"
        }
        message = refused(tmp_path, two)
        assert "line 2: 2 columns instead of 22; a value of SubmitLine holds a line break" in message

    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ({"Submit": "yesterday"}, "Submit is 'yesterday', not a time such as 2026-04-01T10:00:00"),
            ({"JobID": ""}, "JobID is unknown, but every job has a number"),
            ({"Submit": "Unknown"}, "Submit is unknown, but every job was submitted"),
            ({"End": "2026-02-30T10:00:00"}, "End is '2026-02-30T10:00:00', not a time"),
            ({"ElapsedRaw": "1:00"}, "ElapsedRaw is '1:00', not a whole number"),
            ({"AllocCPUS": "4K"}, "AllocCPUS is '4K', not a whole number"),
            ({"TotalCPU": "long"}, "TotalCPU is 'long', not a duration"),
        ],
    )
    def test_a_value_that_cannot_be_understood_is_named_with_its_line(
        self, tmp_path: Path, changes: dict[str, str], sentence: str
    ) -> None:
        message = refused(tmp_path, job(1), job("1.batch"), job(2, **changes))
        assert f"april.txt, line 4: {sentence}" in message

    def test_jobs_of_two_clusters(self, tmp_path: Path) -> None:
        message = refused(tmp_path, job(1) | {"Cluster": "north"}, job(2) | {"Cluster": "south"})
        assert "jobs of 2 clusters (north, south); run sacct for each" in message

    def test_columns_of_fixed_width(self, tmp_path: Path) -> None:
        (tmp_path / "f.txt").write_text("JobID   State\n------- -----\n7       COMPLETED\n")
        with pytest.raises(InputError, match="run sacct with --parsable2"):
            read_workload(tmp_path / "f.txt")

    def test_an_unknown_zone(self, tmp_path: Path) -> None:
        assert "unknown time zone 'Mars/Olympus'" in refused(tmp_path, JOB, timezone="Mars/Olympus")

    def test_times_with_and_without_a_zone(self, tmp_path: Path) -> None:
        mixed = job(2, Submit="2026-04-01T10:00:00Z")
        assert "some times of Submit have a zone and others none" in refused(tmp_path, mixed, job(1))


class TestText:
    @pytest.mark.parametrize("name", ["april.txt", "april", "april.csv", "april.swf"])
    def test_it_is_known_by_its_first_line_whatever_the_name(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_text(sacct_text(JOB))
        jobs = read_workload(tmp_path / name, processors=64)
        assert (jobs.name, len(jobs), jobs.processors) == ("april", 1, 64)

    def test_it_may_be_compressed(self, tmp_path: Path) -> None:
        path = tmp_path / "april.txt.gz"
        path.write_bytes(gzip.compress(sacct_text(JOB).encode()))
        jobs = read_workload(path, timezone="Europe/Stockholm")
        assert (jobs.name, jobs.start_time) == ("april", APRIL - 7200)

    @pytest.mark.parametrize("delimiter", ["^", ";", ",", "\t"])
    def test_other_delimiters_are_found(self, tmp_path: Path, delimiter: str) -> None:
        one = without("ReqTRES", "AllocTRES") if delimiter == "," else JOB  # a list of resources has commas
        (tmp_path / "d.txt").write_text(sacct_text(one).replace("|", delimiter))
        assert read_workload(tmp_path / "d.txt").run_time.tolist() == [3600]

    def test_parsable_with_a_delimiter_at_the_end_and_crlf(self, tmp_path: Path) -> None:
        (tmp_path / "p.txt").write_bytes(sacct_text(JOB).replace("\n", "|\r\n").encode("utf-8-sig"))
        assert read_workload(tmp_path / "p.txt").run_time.tolist() == [3600]

    def test_quotes_are_characters_and_old_encodings_are_read(self, tmp_path: Path) -> None:
        text = sacct_text(job(1, JobName='say "hi'), job(2, User="Zoë"))
        (tmp_path / "q.txt").write_bytes(text.encode("latin-1"))
        assert " User: 2 Zoë" in read_sacct(tmp_path / "q.txt").header

    def test_lines_without_a_header_are_told_from_swf(self, tmp_path: Path) -> None:
        (tmp_path / "n.txt").write_text(sacct_text(JOB).splitlines()[1])
        with pytest.raises(InputError, match="sacct without its line of column names; run sacct without --noheader"):
            read_workload(tmp_path / "n.txt")

    def test_a_zone_for_another_format_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "s.swf").write_text("1 0 -1 60 4" + 13 * " -1")
        with pytest.raises(InputError, match=r"s\.swf: times of this format need no time zone"):
            read_workload(tmp_path / "s.swf", timezone="UTC")


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 10**7), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 10**5)),
        min_size=1,
        max_size=20,
    )
)
def test_what_happened_is_what_is_read(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, ...]]) -> None:
    records = [
        job(
            number,
            Submit=str(APRIL + submit),
            Start=str(APRIL + submit + wait),
            End=str(APRIL + submit + wait + run),
            ElapsedRaw=str(run),
            AllocCPUS=str(processors),
        )
        for number, (submit, wait, run, processors) in enumerate(rows, start=1)
    ]
    jobs = read(tmp_path_factory.mktemp("sacct"), *records)
    first = min(row[0] for row in rows)
    found = zip(jobs.submit_time, jobs.wait_time, jobs.run_time, jobs.job_processors, strict=True)
    assert sorted(tuple(map(int, row)) for row in found) == sorted((row[0] - first, *row[1:]) for row in rows)
    assert jobs.start_time == APRIL + first


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.integers(0, 40), st.text("|:-+.0T \n;é", max_size=3))
def test_a_damaged_text_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, place: int, gone: int, put: str
) -> None:
    text = sacct_text(job(1), job("300+0"), job("300+1"), job("2_[1-3]", Start="None"))
    at = place % len(text)
    path = tmp_path_factory.mktemp("damaged") / "d.txt"
    path.write_text(text[:at] + put + text[at + gone :], encoding="utf-8")
    with contextlib.suppress(InputError):
        assert len(read_workload(path)) > 0


def xdmod_line(**changes: str) -> str:
    cells = {
        **dict.fromkeys(XDMOD, "x"),
        **{name: value for name, value in JOB.items() if name in XDMOD},
        **{"Cluster": "c", "Elapsed": "01:00:00", "Timelimit": "02:00:00", "NCPUS": "8", "JobID": "7", "JobIDRaw": "7"},
    }
    return "|".join((cells | changes).values())


class TestResources:
    @pytest.mark.parametrize(
        ("request_", "per_node", "per_core"),
        [
            ("4Gn", 4096, 0),
            ("2Gc", 0, 2048),
            ("16G", 8192, 0),
            ("1000K", 1, 0),
            ("0", 8192, 0),
            ("2147486448Mn", 0, 2800),
        ],
    )
    def test_memory_is_per_node_per_core_or_of_the_job(
        self, tmp_path: Path, request_: str, per_node: int, per_core: int
    ) -> None:
        """The last one is how some versions print 2800Mc; 0 asks for all, of which AllocTRES says how much it is."""
        resources = read(tmp_path, job(ReqMem=request_)).resources
        assert (resources.memory_per_node.tolist(), resources.memory_per_core.tolist()) == ([per_node], [per_core])

    @pytest.mark.parametrize(
        ("requested", "allocated", "gpus", "kind"),
        [
            ("cpu=8,gres/gpu=2", "cpu=8,gres/gpu=2,gres/gpu:a100=2", 2, ""),
            ("cpu=8,gres/gpu:a100=2", "cpu=8,gres/gpu=2,gres/gpu:a100=2", 2, "a100"),
            ("cpu=8,gres/gpu:v100=3", "", 3, "v100"),
            ("cpu=8", "cpu=8", 0, ""),
        ],
    )
    def test_gpus_are_counted_as_given_and_typed_as_asked_for(
        self, tmp_path: Path, requested: str, allocated: str, gpus: int, kind: str
    ) -> None:
        resources = read(tmp_path, job(ReqTRES=requested, AllocTRES=allocated)).resources
        assert (resources.gpus.tolist(), resources.gpu_type.texts()) == ([gpus], [kind])

    @pytest.mark.parametrize(
        ("requested", "allocated", "gpus"),
        [
            ("cpu=8,gres/gpu:a100=1,gres/gpu:v100=2", "cpu=8,gres/gpu=3,gres/gpu:a100=1,gres/gpu:v100=2", 3),
            ("cpu=8,gres/gpu:a100=1,gres/gpu:v100=2", "cpu=8", 3),
            ("cpu=8,gres/gpu=3,gres/gpu:a100=1", "cpu=8,gres/gpu=3", 3),
        ],
    )
    def test_gpus_of_several_types_are_counted_as_gpus_of_any_type_and_noted(
        self, tmp_path: Path, requested: str, allocated: str, gpus: int
    ) -> None:
        jobs = read(tmp_path, job(101, ReqTRES=requested, AllocTRES=allocated), job(102))
        assert (jobs.resources.gpus.tolist(), jobs.resources.gpu_type.texts()) == ([gpus, 2], ["", "a100"])
        assert " Note: GPUs of several types, counted as GPUs of any type: 1" in jobs.header

    def test_several_types_that_are_given_for_no_type_are_no_note(self, tmp_path: Path) -> None:
        given = "cpu=8,gres/gpu=3,gres/gpu:a100=1,gres/gpu:v100=2"
        jobs = read(tmp_path, job(ReqTRES="cpu=8,gres/gpu=3", AllocTRES=given))
        assert (jobs.resources.gpus.tolist(), jobs.resources.gpu_type.texts()) == ([3], [""])
        assert not any("GPUs of several types" in line for line in jobs.header)

    def test_shards_mps_and_other_generic_resources_are_counted_in_notes(self, tmp_path: Path) -> None:
        jobs = read(
            tmp_path,
            job(101, ReqTRES="cpu=8,gres/shard=2", AllocTRES="cpu=8,gres/shard:a100=2,gres/shard=2"),
            job(102, ReqTRES="cpu=8,gres/mps=50,gres/nic=1", AllocTRES="cpu=8"),
            job(103, AllocTRES="cpu=8,gres/gpu=2,gres/gpumem=5G,gres/gpuutil=90"),
        )
        assert jobs.resources.gpus.tolist() == [0, 0, 2]
        told = [line.removeprefix(" Note: ") for line in jobs.header if "GPU" in line or "generic" in line]
        assert told == [
            "ask for shards or MPS of GPUs, which are not read, so that any number of such jobs may share one: 2",
            "generic resources that are not read, and jobs with them: nic 1",
        ]

    def test_older_versions_say_gpus_of_several_types_too(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, without("ReqTRES", "AllocTRES", AllocGRES="gpu:a100:1,gpu:v100:2(S:0),mps:50"))
        assert (jobs.resources.gpus_per_node.tolist(), jobs.resources.gpu_type.texts()) == ([3], [""])
        assert sum("GPUs" in line for line in jobs.header) == 2

    def test_older_versions_say_gpus_per_node(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, without("ReqTRES", "AllocTRES", AllocGRES="gpu:tesla:2"))
        assert (jobs.resources.gpus_per_node.tolist(), jobs.resources.gpu_type.texts()) == ([2], ["tesla"])

    def test_memory_that_no_machine_has_is_counted_and_not_used(self, tmp_path: Path) -> None:
        nothing = {"ReqTRES": "cpu=8", "AllocTRES": "cpu=8"}
        odd = [job(101 + n, ReqMem=text, **nothing) for n, text in enumerate(["9" * 20 + "M", "much", "", "0n", "1Gn"])]
        jobs = read(tmp_path, *odd)
        assert jobs.resources.memory_per_node.tolist() == [0, 0, 0, 0, 1024]
        assert " Note: ReqMem is no amount that a machine has, and is not used: 2" in jobs.header

    def test_nodes_are_counted_in_the_list_where_nothing_else_says_them(self, tmp_path: Path) -> None:
        few = without("NNodes", "ReqTRES", "AllocTRES", NodeList="n[1-3,7],m2")
        assert read(tmp_path, few).resources.nodes.tolist() == [5]
        jobs = read(tmp_path, job(NNodes="4"))
        assert jobs.resources.nodes.tolist() == [4]
        assert " Note: NodeList has other nodes than NNodes says, counted as NNodes says: 1" in jobs.header

    def test_components_of_a_heterogeneous_job_add_up(self, tmp_path: Path) -> None:
        jobs = read(tmp_path, job("7+0", AllocCPUS="4"), job("7+1", AllocCPUS="12"))
        resources = jobs.resources
        assert (resources.nodes.tolist(), resources.tasks.tolist(), resources.gpus.tolist()) == ([4], [16], [4])

    def test_a_file_of_xdmod_needs_no_header(self, tmp_path: Path) -> None:
        path = tmp_path / "x.txt"
        path.write_text(xdmod_line() + "\n" + xdmod_line(JobID="8", JobIDRaw="8", Account="lakes") + "\n")
        jobs = read_workload(path)
        assert (jobs.job_id.tolist(), jobs.run_time.tolist()) == ([7, 8], [3600, 3600])
        assert jobs.resources.account.texts() == ["ocean", "lakes"]
        path.write_text(xdmod_line() + "\n" + xdmod_line(NNodes="some") + "\n")
        with pytest.raises(InputError, match=r"x\.txt, line 2: NNodes is 'some', not a whole number"):
            read_workload(path)
        path.write_text(xdmod_line() + "\n" + xdmod_line(JobName="a|b") + "\n")
        with pytest.raises(InputError, match=r"x\.txt, line 2: 27 columns instead of 26"):
            read_workload(path)

    def test_columns_of_any_other_file_without_a_header_are_given(self, tmp_path: Path) -> None:
        path = tmp_path / "x.txt"
        path.write_text("|".join(JOB.values()) + "\n")
        assert read_sacct(path, columns=list(JOB)).resources.gpus.tolist() == [2]

    def test_the_log_of_pozidriv_is_what_it_says_itself(self, traces: Path) -> None:
        """11,704 rows of one cluster; memory as requested agrees with the memory that was given, job by job."""
        path = traces / "modern/xdmod-sacct-2017/pozidriv.sacct.txt.gz"
        jobs = read_workload(path)
        resources = jobs.resources
        assert (len(jobs), len(resources.partition.names), len(resources.qos.names)) == (11_704, 7, 8)
        whole = resources.memory_per_node * resources.nodes + resources.memory_per_core * resources.tasks
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        given = {int(line.split("|")[1]): line.split("|")[22] for line in lines}
        units = {"M": 1, "G": 1024}
        for number, memory in zip(jobs.job_id.tolist(), whole.tolist(), strict=True):
            text = re.search(r"mem=(\d+(?:\.\d+)?)([MG])", given[number])
            assert memory == float(text[1]) * units[text[2]]
        assert "NodeList" not in " ".join(jobs.header)


def test_licences_and_limits_of_arrays_are_read(tmp_path: Path) -> None:
    """The limit of an array stands in the record of its elements that wait."""
    licensed = job(201, ReqTRES="billing=8,cpu=8,license/matlab=2,license/ansys=1,node=1")
    first = job("300_1") | {"JobIDRaw": "301"}
    waiting = job("300_[5-9%2]", State="PENDING", Start="Unknown", End="Unknown") | {"JobIDRaw": "300"}
    resources = read(tmp_path, JOB, licensed, first, waiting).resources
    assert resources is not None
    assert resources.licenses.texts() == ["", "matlab:2,ansys:1", "", ""]
    assert resources.array.texts() == ["", "", "300", "300"]
    assert resources.array_limit.tolist() == [0, 0, 2, 2]


def test_each_part_of_a_resized_job_is_a_job_of_its_own(tmp_path: Path) -> None:
    first = {"State": "RESIZING", "AllocCPUS": "16", "End": "2026-04-01T10:35:00", "ElapsedRaw": "1800"}
    later = {"Submit": "2026-04-01T10:35:00", "Start": "2026-04-01T10:35:00", "ElapsedRaw": "1200", "AllocCPUS": "8"}
    jobs = read(tmp_path, job(55, **first), job(55, **later), job(56, State="RESIZING", End="Unknown"))
    assert jobs.job_id.tolist() == [55, 56, 55]
    assert jobs.run_time.tolist() == [1800, -1, 1200]
    assert jobs.allocated_processors.tolist() == [16, 8, 8]
    assert jobs.status.tolist() == [1, -1, 1]
    assert " Note: parts of jobs before they were resized, each a job of its own: 1" in jobs.header
    assert " Note: not ended, run time unknown: 1" in jobs.header


def quoted_csv(directory: Path, *jobs: dict[str, str], index: bool = False) -> Path:
    """What pandas or a spreadsheet makes of sacct's text."""
    path = directory / "sacct.csv"
    rows = [list(jobs[0]), *(list(one.values()) for one in jobs)]
    with path.open("w", newline="") as file:
        for number, row in enumerate(rows):
            csv.writer(file).writerow([*(["" if number == 0 else number] if index else []), *row])
    return path


@pytest.mark.parametrize("index", [True, False])
def test_csv_with_quoted_cells_is_the_same_as_the_text(tmp_path: Path, index: bool) -> None:
    plain = read(tmp_path, job(7), job(8, JobName="x"))
    path = quoted_csv(tmp_path, job(7, JobName="run, again"), job(8, JobName='say "x"\nthere'), index=index)
    jobs = read_workload(path)
    assert jobs.run_time.tolist() == plain.run_time.tolist()
    assert jobs.resources.gpus.tolist() == plain.resources.gpus.tolist() == [2, 2]
    assert jobs.executable_id.tolist() == [1, 2]


def test_errors_in_csv_with_quoted_cells_name_the_line(tmp_path: Path) -> None:
    path = quoted_csv(tmp_path, job(7, JobName="run,\nagain"), job(8, ElapsedRaw="long"))
    with pytest.raises(InputError, match=r"sacct\.csv, line 4: ElapsedRaw is 'long', not a whole number"):
        read_workload(path)
    path = quoted_csv(tmp_path, job(7, JobName="run, again"), {**job(8), "More": "cell"})
    with pytest.raises(InputError, match=r"sacct\.csv, line 3: 24 columns instead of 23"):
        read_workload(path)


def test_names_in_quotes_are_column_names_too(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([list(JOB), list(JOB.values())])
    assert read_workload(path).run_time.tolist() == [3600]
