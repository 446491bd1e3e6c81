"""The text of `scontrol show job`, in blocks and with --oneliner, is a queue as squeue prints it."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.errors import InputError
from schedlab.workload.files import format_of, read_workload

RUNS = """\
JobId=7 JobName=a Partition=x b=c
   UserId=ann(1000) GroupId=g(1000) MCS_label=N/A
   Priority=9 Nice=0 Account=ocean QOS=(null)
   JobState=RUNNING Reason=None Dependency=(null)
   RunTime=00:03:40 TimeLimit=01:00:00 TimeMin=N/A
   SubmitTime=2026-04-01T10:00:00 EligibleTime=2026-04-01T10:02:00
   StartTime=2026-04-01T10:05:00 EndTime=2026-04-01T11:05:00 Deadline=N/A
   Partition=gpu AllocNode:Sid=login:4338
   NumNodes=2 NumCPUs=16 NumTasks=8 CPUs/Task=2 ReqB:S:C:T=0:0:*:*
   TRES=cpu=16,mem=16000M,node=2,billing=16
   MinCPUsNode=2 MinMemoryCPU=500M MinTmpDiskNode=0
   Features=ib DelayBoot=00:00:00
   OverSubscribe=NO Contiguous=0 Licenses=(null) Network=(null)
   Command=/home/ann/run JobState=COMPLETED
   TresPerNode=gres/gpu:a100:2
"""
ARRAY = """\
JobId=8 ArrayJobId=8 ArrayTaskId=1-3%2 ArrayTaskThrottle=2 JobName=many
   UserId=bob(1001) GroupId=g(1000) MCS_label=N/A
   Priority=5 Nice=0 Account=(null) QOS=(null)
   JobState=PENDING Reason=Priority Dependency=(null)
   RunTime=00:00:00 TimeLimit=UNLIMITED TimeMin=N/A
   SubmitTime=2026-04-01T10:01:00 EligibleTime=2026-04-01T10:01:00
   StartTime=Unknown EndTime=Unknown Deadline=N/A
   Partition=cpu AllocNode:Sid=login:4338
   NumNodes=1-1 NumCPUs=4 NumTasks=4 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
   MinCPUsNode=1 MinMemoryNode=2G MinTmpDiskNode=0
   Features=(null) DelayBoot=00:00:00
   OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null)
"""


@pytest.mark.parametrize("oneliner", [False, True])
def test_blocks_and_lines_are_the_same_jobs(tmp_path: Path, oneliner: bool) -> None:
    blocks = [" ".join(text.split("\n   ")) if oneliner else text + "\n" for text in (RUNS, ARRAY)]
    path = tmp_path / "now.txt"
    path.write_text("".join(blocks))
    jobs = read_workload(path)
    assert format_of(path) == "squeue"
    assert (jobs.job_id.tolist(), jobs.submit_time.tolist()) == ([8, 8, 8, 7], [0, 0, 0, 60])
    assert (jobs.wait_time.tolist(), jobs.requested_time.tolist()) == ([-1, -1, -1, 180], [-1, -1, -1, 3600])
    assert jobs.job_processors.tolist() == [4, 4, 4, 16]
    asked = jobs.resources
    assert asked is not None
    assert (asked.nodes.tolist(), asked.tasks.tolist()) == ([1, 1, 1, 2], [4, 4, 4, 8])
    assert (asked.memory_per_node.tolist(), asked.memory_per_core.tolist()) == ([2048, 2048, 2048, 0], [0, 0, 0, 500])
    assert (asked.array.texts(), asked.array_limit.tolist()) == (["8", "8", "8", ""], [2, 2, 2, 0])
    assert (asked.gpus_per_node[3], asked.gpu_type.texts()[3], asked.exclusive.tolist()) == (2, "a100", [0, 0, 0, 1])
    assert (asked.partition.texts()[3], asked.constraint.texts()[3]) == ("gpu", "ib")
    assert {" User: 1 bob", " User: 2 ann"} <= set(jobs.header)


@pytest.mark.parametrize(
    ("told", "whole"), [("OverSubscribe=NO Exclusive=NODE", 1), ("OverSubscribe=NO Exclusive=NO", 0)]
)
def test_since_26_05_whole_nodes_have_a_key_of_their_own(tmp_path: Path, told: str, whole: int) -> None:
    path = tmp_path / "now.txt"
    path.write_text(RUNS.replace("OverSubscribe=NO", told))
    resources = read_workload(path).resources
    assert resources is not None
    assert resources.exclusive.tolist() == [whole]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (RUNS + "\n" + ARRAY.replace("1-3%2", "1-x"), "job 8: the tasks of an array are '1-x'"),
        (RUNS + "\n" + ARRAY[:90], "line 17: the job has no SubmitTime; the file is cut short"),
        (ARRAY.replace("ArrayJobId=8", "ArrayJobId=1e9"), "line 1: ARRAY_JOB_ID is '1e9', not a whole number"),
        (RUNS.replace("NumCPUs=16", "NumCPUs=lots"), "line 1: CPUS is 'lots', not a whole number"),
    ],
)
def test_what_is_bad_is_named_with_its_line_or_job(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "now.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_workload(path)


def test_lenient_reading_needs_lines(tmp_path: Path) -> None:
    path = tmp_path / "now.txt"
    path.write_text(RUNS)
    with pytest.raises(InputError, match="one job per line"):
        read_workload(path, lenient=True)
