"""The events of UB CCR's Slurm simulator: made-up lines, and the published week held against what is said of it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.slurm import read_events
from schedlab.slurm.job_table import array_size
from schedlab.workload.event_lines import read_event_lines
from schedlab.workload.files import format_of, read_workload

LINES = [
    "# comment",
    "-dt 0.00 -e submit_batch_job | -sim-walltime 60 --uid=ann -J a -N 1 -n 4 -t 5 -q high -p gpu --mem=2G x.job",
    "",
    "-dt 10.25 -e submit_batch_job | -J b -sim-walltime -1 --uid=bob -t 0-00:10 -n 12 --ntasks-per-node=6 -A ocean",
    "-dt 11 -e submit_batch_job | -sim-walltime 0 --uid=ann -t 1:00:00 -N 2 --exclusive --gres=gpu:2 --constraint=ib",
    "-dt 12 -e submit_batch_job | -sim-walltime 9 -cancel-in 4 --uid=ann -t 1 --begin=now x.job",
]


def file_of(directory: Path, *lines: str) -> Path:
    path = directory / "made.events"
    path.write_text("\n".join(lines))
    return path


def test_event_lines_become_jobs_with_all_that_they_ask_for(tmp_path: Path) -> None:
    path = file_of(tmp_path, *LINES)
    jobs = read_workload(path)
    assert format_of(path) == "events"
    assert jobs.submit_time.tolist() == [0, 10, 11, 12]
    assert jobs.run_time.tolist() == [60, 600, 0, 9]
    assert jobs.requested_time.tolist() == [300, 600, 3600, 60]
    assert jobs.requested_processors.tolist() == [4, 12, 2, 1]
    resources = jobs.resources
    assert resources is not None
    assert resources.nodes.tolist() == [1, 0, 2, 0]
    assert resources.tasks_per_node.tolist() == [0, 6, 0, 0]
    assert resources.memory_per_node.tolist() == [2048, 0, 0, 0]
    assert resources.exclusive.tolist() == [0, 0, 1, 0]
    assert resources.gpus_per_node.tolist() == [0, 0, 2, 0]
    assert resources.constraint.texts() == ["", "", "ib", ""]
    assert resources.account.texts() == ["", "ocean", "", ""]
    assert (resources.partition.texts()[0], resources.qos.texts()[0]) == ("gpu", "high")
    assert {" User: 1 ann", " User: 2 bob", " Partition: 1 gpu", " Queue: 1 high"} <= set(jobs.header)
    assert " Note: option --cancel-in not used: 1 jobs" in jobs.header
    assert " Note: option --begin not used: 1 jobs" in jobs.header
    assert (jobs.user_id.tolist(), jobs.partition_id.tolist()) == ([1, 2, 1, 1], [1, -1, -1, -1])


def test_nodes_that_a_job_excludes_or_names_are_kept_and_jobs_that_want_them_side_by_side_are_counted(tmp_path: Path):
    lines = [f"-dt 0 -e submit_batch_job | -n 1 {option}" for option in ("-x n[1-2]", "-w n3", "--contiguous", "-w n4")]
    jobs = read_event_lines(file_of(tmp_path, *lines))
    assert jobs.resources.exclude.texts() == ["n[1-2]", "", "", ""]
    assert jobs.resources.nodelist.texts() == ["", "n3", "", "n4"]
    assert " Note: option --contiguous not used: 1 jobs" in jobs.header


def test_the_laboratory_reads_the_same_workload_and_passes_the_options_on(tmp_path: Path) -> None:
    path = tmp_path / "made.events.gz"
    path.write_bytes(gzip.compress("\n".join(LINES).encode()))
    told = read_events(path)
    assert told.workload.run_time.tolist() == read_event_lines(path).run_time.tolist()
    assert told.jobs[1].options == ("-t", "0-00:10", "-n", "12", "--ntasks-per-node=6", "-A", "ocean")
    assert (told.jobs[1].user, told.jobs[1].name, told.users) == ("bob", "b", ("ann", "bob"))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("-dt 1 | -n 4", "3: not an event of the form '-dt SECONDS -e submit_batch_job | OPTIONS'"),
        ("-dt 1 -e cancel_job | 7", "3: not an event of the form"),
        ("-dt 1 -e submit_batch_job | -n 4 -sim-walltime", "3: a number or a value is missing"),
        ("-dt soon -e submit_batch_job | -n 4", "3: a number or a value is missing or no number"),
        ("-dt 1 -e submit_batch_job | -n four", "3: --ntasks is 'four', not a whole number"),
        ("-dt 1 -e submit_batch_job | -n 1 -t tomorrow", "3: 'tomorrow' is not a time limit"),
        ("-dt 1 -e submit_batch_job | -n 1 --comment='x", "3: a number or a value is missing"),
        ("-dt 9223372036854775808 -e submit_batch_job | -n 1", "3: '9223372036854775808' seconds are too many"),
        ("-dt 1 -e submit_batch_job | -sim-walltime 1e300 -n 1", "3: '1e300' seconds are too many"),
    ],
)
def test_a_bad_line_is_refused_with_its_number(tmp_path: Path, line: str, sentence: str) -> None:
    path = file_of(tmp_path, *LINES[:2], line)
    with pytest.raises(InputError) as caught:
        read_event_lines(path)
    assert str(caught.value).startswith(f"{path}:{sentence}")


def test_a_file_without_events_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the file has no event"):
        read_event_lines(file_of(tmp_path, "# nothing"))


def test_the_week_of_ubccr_is_what_is_said_of_it(traces: Path) -> None:
    """Against the figures that come with the trace: 19,579 jobs, 27 of 0 s, 98 % on one node, five QOS."""
    jobs = read_workload(traces / "modern/workload_week.events.gz")
    resources = jobs.resources
    assert resources is not None
    assert (len(jobs), int((jobs.run_time == 0).sum())) == (19_579, 27)
    assert round(float((resources.nodes == 1).mean()), 2) == 0.98
    assert (len(resources.qos.names), len(resources.partition.names)) == (5, 2)
    assert not [line for line in jobs.header if "not used" in line]
    assert bool((jobs.run_time <= jobs.requested_time).all())


def test_an_array_is_as_many_jobs_as_it_has_elements_of_which_so_many_run_at_a_time(tmp_path: Path) -> None:
    start = "-dt 5 -e submit_batch_job | -sim-walltime 60 --uid=ann -n 1 -t 1"
    path = file_of(tmp_path, f"{start} --array=0-3%2 x.job", f"{start} x.job", f"{start} -a 1-5:2,9 x.job")
    jobs = read_event_lines(path)
    assert jobs.resources is not None
    assert jobs.resources.array.texts() == [*["1"] * 4, "", *["3"] * 4]
    assert jobs.resources.array_limit.tolist() == [2, 2, 2, 2, 0, 0, 0, 0, 0]
    assert simulate(jobs[:5], "fcfs", processors=8).start_time.tolist() == [5, 5, 65, 65, 5]
    submitted = read_events(path)
    assert [len(submitted.jobs), len(submitted.workload)] == [3, 3]  # Slurm makes the elements
    assert [array_size(job.options) for job in submitted.jobs] == [4, 1, 4]


@pytest.mark.parametrize("text", ["a", "3-1", "1-5:0", "1-5%", "1-5%0", "1,,2", "0-1000000"])
def test_an_array_that_is_not_valid_is_named_with_its_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=f"events:1: --array is '{text}'"):
        read_event_lines(file_of(tmp_path, f"-dt 0 -e submit_batch_job | -sim-walltime 9 -n 1 --array={text} x.job"))


def test_a_heterogeneous_job_has_a_row_for_each_component(tmp_path):
    path = tmp_path / "two.events"
    path.write_text(
        "-dt 0 -e submit_batch_job | -sim-walltime 60 --uid=ann -n 4 -t 5 : -n 2 --gpus=1 -t 9 x.job\n"
        "-dt 1 -e submit_batch_job | -sim-walltime 60 --uid=bob -n 1 -t 5 x.job\n"
    )
    jobs = read_event_lines(path)
    assert jobs.requested_processors.tolist() == [4, 2, 1]
    assert jobs.requested_time.tolist() == [300, 540, 300]
    assert jobs.resources.gpus.tolist() == [0, 1, 0]
    assert jobs.resources.het_job.texts() == ["1", "1", ""]


def test_an_array_of_heterogeneous_jobs_is_refused(tmp_path):
    path = tmp_path / "one.events"
    path.write_text("-dt 0 -e submit_batch_job | -sim-walltime 60 -n 4 -t 5 --array=0-3 : -n 2 -t 9 x.job\n")
    with pytest.raises(InputError, match="event 1 is an array of heterogeneous jobs"):
        read_event_lines(path)


def test_a_job_says_how_many_switches_it_wants_and_how_long_it_waits_for_them(tmp_path):
    path = tmp_path / "jobs.events"
    path.write_text(
        "-dt 0 -e submit_batch_job | -sim-walltime 5 -N 2 -n 2 -t 5 --switches=1@00:10:00 pseudo.job\n"
        "-dt 1 -e submit_batch_job | -sim-walltime 5 -N 2 -n 2 -t 5 --switches=2 pseudo.job\n"
        "-dt 2 -e submit_batch_job | -sim-walltime 5 -N 2 -n 2 -t 5 pseudo.job\n"
    )
    resources = read_event_lines(path).resources
    assert resources.switches.tolist() == [1, 2, 0]
    assert resources.switch_wait.tolist() == [600, 0, 0]


def test_what_is_not_read_of_generic_resources_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "x.events"
    asked = ("--gres=gpu:a100:1,gpu:v100:2", "--gres=shard:1", "--gres=mps:50", "--gres=gpu:1")
    lines = (
        f"-dt {at} -e submit_batch_job | -sim-walltime 300 -n 4 -t 1:00:00 {one} x.job" for at, one in enumerate(asked)
    )
    path.write_text("\n".join(lines))
    jobs = read_event_lines(path)
    assert (jobs.resources.gpus_per_node.tolist(), jobs.resources.gpu_type.texts()) == ([3, 0, 0, 1], [""] * 4)
    assert [line for line in jobs.header if "GPU" in line] == [
        " Note: GPUs of several types, counted as GPUs of any type: 1",
        " Note: ask for shards or MPS of GPUs, which are not read, so that any number of such jobs may share one: 2",
    ]
