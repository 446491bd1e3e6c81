"""What only the column SubmitLine of sacct tells."""

from __future__ import annotations

import re

import pytest

from schedlab.errors import InputError
from schedlab.workload.sacct import read_sacct

HEADER = "JobID|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS|NNodes"
RECORD = "ann|COMPLETED|2026-04-01T10:00:00|2026-04-01T10:05:00|2026-04-01T11:05:00|120|8|2"


def read(path, *lines, numbers=None, het_jobs="joined"):
    """Return the workload of jobs with these command lines, the last column of their records."""
    file = path / "jobs.txt"
    numbers = range(1, len(lines) + 1) if numbers is None else numbers
    records = [f"{number}|{RECORD}|{line}" for number, line in zip(numbers, lines, strict=True)]
    file.write_text("\n".join([f"{HEADER}|SubmitLine", *records, ""]))
    return read_sacct(file, het_jobs=het_jobs)


def notes(jobs):
    return [line for line in jobs.header if "SubmitLine" in line]


@pytest.mark.parametrize(
    ("line", "switches", "wait"),
    [
        ("sbatch --switches=1 -N 2 job.sh", 1, 0),
        ("sbatch -N 2 --switches=2@00:10:00 job.sh", 2, 600),
        ("sbatch --switches 1@5 job.sh", 1, 300),
        ("/usr/bin/sbatch --parsable -H --exclude n7 --switches=3 job.sh", 3, 0),
        ("srun --pty -v --switches=1 bash", 1, 0),
        ("sbatch job.sh --switches=1", 0, 0),
        ("sbatch --wrap=echo --switches=1", 0, 0),
        ("salloc", 0, 0),
        ("qsub --switches=1 job.sh", 0, 0),
        ("", 0, 0),
    ],
)
def test_switches_are_those_of_the_command_and_not_of_the_script(line, switches, wait, tmp_path):
    resources = read(tmp_path, line).resources
    assert (resources.switches.tolist(), resources.switch_wait.tolist()) == ([switches], [wait])


def test_whole_nodes_are_asked_for_with_exclusive_alone(tmp_path):
    lines = ("sbatch --exclusive job.sh", "sbatch --exclusive=user job.sh", "sbatch -n 4 job.sh")
    assert read(tmp_path, *lines).resources.exclusive.tolist() == [1, 0, 0]


def test_what_is_not_simulated_is_counted(tmp_path):
    jobs = read(
        tmp_path,
        "sbatch --contiguous -x n[1-2] --nodelist=n3 job.sh",
        "sbatch -d afterok:7 --contiguous job.sh",
        "sbatch -b now+1hour job.sh",
        "sbatch -n 4 job.sh --contiguous",
    )
    told = "--begin 1, --contiguous 2, --dependency 1"
    assert notes(jobs) == [f" Note: options in SubmitLine that are not simulated, and jobs with them: {told}"]


def test_nodes_that_a_job_names_and_excludes_are_kept_unless_a_file_has_them(tmp_path):
    lines = ["sbatch -x n[1-2] --nodelist=n3,n4 job.sh", "sbatch -w ./nodes -x /tmp/x job.sh", "srun -wn7 -N1 hostname"]
    resources = read(tmp_path, *lines).resources
    assert resources.nodelist.texts() == ["n3,n4", "", "n7"]
    assert resources.exclude.texts() == ["n[1-2]", "", ""]


def test_each_component_has_its_part_of_the_line(tmp_path):
    both, numbers = ["sbatch -o out --switches=1 -n 1 : --switches=2@1 -n 4 job.sh"] * 2, ["7+0", "7+1"]
    resources = read(tmp_path, *both, numbers=numbers, het_jobs="components").resources
    assert (resources.switches.tolist(), resources.switch_wait.tolist()) == ([1, 2], [0, 60])
    assert read(tmp_path, *both, numbers=numbers).resources.switches.tolist() == [1]


def test_files_without_the_column_tell_nothing(tmp_path):
    file = tmp_path / "jobs.txt"
    file.write_text(f"{HEADER}\n1|{RECORD}\n")
    jobs = read_sacct(file)
    assert not jobs.resources.switches.any()
    assert notes(jobs) == []


def test_a_wrong_number_of_switches_is_named_with_its_line(tmp_path):
    why = "line 3: SubmitLine is 'sbatch --switches=few job.sh', whose switches are no number or time"
    with pytest.raises(InputError, match=re.escape(why)):
        read(tmp_path, "sbatch job.sh", "sbatch --switches=few job.sh")


def test_a_line_with_the_delimiter_is_named_with_what_to_do(tmp_path):
    with pytest.raises(
        InputError, match=r"a value of SubmitLine holds the delimiter .: choose another one, such as --delimiter="
    ):
        read(tmp_path, "sbatch --wrap=a|b")
