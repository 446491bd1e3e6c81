from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schedlab.errors import InputError
from schedlab.workflow.workflow import Task, Workflow
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.files import read_workload, write_workload
from schedlab.workload.submissions import Submission
from schedlab.workload.submitting import submit_workflows
from schedlab.workload.workload import Workload

CHAIN = Workflow("chain", (Task("a", 2, 10.0, 60.0), Task("b", 1, 5.0, 60.0, (0,))), stated_time=15.0)
FORK = Workflow("fork", (*CHAIN.tasks, Task("c", 1, 5.0, 60.0, (0, 1))))


def jobs(**attributes) -> Workload:
    columns = {"submit_time": [0, 60], "run_time": [5, 5], "requested_processors": [1, 1], "job_id": [4, 9]}
    return Workload.from_columns(columns, processors=16, **attributes)


def test_workflows_dependencies_distributions_and_nodes_come_back_from_parquet(tmp_path: Path):
    base = jobs(distribution=np.array([-1, 0]), distributions=("constant(5)",), cores_per_node=8)
    submissions = [Submission(CHAIN, "aware", 10), Submission(FORK, "pilot", 20), Submission(CHAIN, "chained", 30, "g")]
    workload = submit_workflows(base, submissions)
    write_workload(workload, tmp_path / "w.parquet")
    again = read_workload(tmp_path / "w.parquet")
    assert list(again.workflows.submissions) == submissions
    for name in ("number", "task"):
        assert getattr(again.workflows, name).tolist() == getattr(workload.workflows, name).tolist()
    for name in ("offsets", "parents", "delay"):
        assert getattr(again.dependencies, name).tolist() == getattr(workload.dependencies, name).tolist()
    assert (again.distribution.tolist(), again.distributions, again.cores_per_node) == (
        workload.distribution.tolist(),
        workload.distributions,
        8,
    )
    assert again.job_id.tolist() == workload.job_id.tolist()


def test_a_workflow_that_was_submitted_often_is_stored_and_read_once(tmp_path: Path):
    workload = submit_workflows(jobs(), [Submission(CHAIN, "chained", second) for second in range(50)])
    write_workload(workload, tmp_path / "w.parquet")
    again = read_workload(tmp_path / "w.parquet")
    assert len({id(submission.workflow) for submission in again.workflows.submissions}) == 1


def test_tables_of_the_first_version_are_still_read(tmp_path: Path):
    table = pa.table({"submit_time": [0], "run_time": [5], "requested_processors": [1]})
    facts = b'{"schema_version": 1, "processors": 16, "start_time": 7, "requests_enforced": true, "header": []}'
    pq.write_table(table.replace_schema_metadata({"schedlab": facts}), tmp_path / "w.parquet")
    again = read_workload(tmp_path / "w.parquet")
    assert (again.processors, again.start_time, again.workflows, again.dependencies) == (16, 7, None, None)


def test_files_of_version_0_1_with_their_older_names_are_read(tmp_path: Path):
    both = submit_workflows(jobs(), [Submission(CHAIN, "chained", 0)])
    both = both.replace(distribution=np.zeros(len(both), dtype=np.int64), distributions=("uniform(1s,9s)",))
    write_workload(both, tmp_path / "w.parquet")
    table = pq.read_table(tmp_path / "w.parquet")
    facts = table.schema.metadata[b"schedlab"].replace(b'"distributions"', b'"laws"')
    facts = facts.replace(b'"submission_mode"', b'"handling"')
    old = table.rename_columns({"distribution": "law"}).replace_schema_metadata({"schedlab": facts})
    pq.write_table(old, tmp_path / "old.parquet")
    again = read_workload(tmp_path / "old.parquet")
    assert again.distributions == ("uniform(1s,9s)",)
    assert again.distribution is not None
    assert again.distribution.tolist() == both.distribution.tolist()
    assert again.workflows is not None
    assert [one.submission_mode for one in again.workflows.submissions] == ["chained"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"submission_mode": ["chained"]', '"submission_mode": ["guessed"]', "unknown submission mode 'guessed'"),
        ('"submissions"', '"missing"', "damaged"),
        ('"processors": 2', '"processors": 0', "0 processors"),
        ('"workflow": [0]', '"workflow": [7]', "damaged"),
        ('"tasks"', '"tusks"', "lacks the key 'tasks'"),
    ],
)
def test_damaged_metadata_are_refused_with_the_file(tmp_path: Path, old: str, new: str, words: str):
    path = tmp_path / "w.parquet"
    write_workload(submit_workflows(jobs(), [Submission(CHAIN, "chained", 0)]), path)
    table = pq.read_table(path)
    facts = table.schema.metadata[b"schedlab"].decode()
    assert old in facts
    pq.write_table(table.replace_schema_metadata({"schedlab": facts.replace(old, new)}), path)
    with pytest.raises(InputError, match=words) as caught:
        read_workload(path)
    assert str(path) in str(caught.value)


def test_swf_takes_one_parent_a_job_in_its_last_two_fields(tmp_path: Path):
    after = Dependencies.from_pairs([1], [0], [30], jobs=2)
    write_workload(jobs(dependencies=after), tmp_path / "w.swf")
    again = read_workload(tmp_path / "w.swf")
    assert (again.preceding_job_id.tolist(), again.think_time.tolist()) == ([-1, 4], [-1, 30])
    write_workload(submit_workflows(jobs(), [Submission(CHAIN, "chained", 70)]), tmp_path / "w.swf")
    assert read_workload(tmp_path / "w.swf").preceding_job_id.tolist() == [-1, -1, -1, 10]


@pytest.mark.parametrize(
    ("workflow", "submission_mode", "name", "words"),
    [
        (FORK, "chained", "w.swf", "job 12 waits for 2 jobs, but SWF can name one; write .parquet instead"),
        (CHAIN, "pilot", "w.swf", "this format cannot store the workflows of the jobs"),
        (CHAIN, "aware", "w.swf", "this format cannot store the workflows of the jobs"),
        (CHAIN, "chained", "w.csv", "this format cannot store the workflows of the jobs"),
        (CHAIN, "chained", "w.json", "this format cannot store the workflows of the jobs"),
    ],
)
def test_formats_that_would_lose_what_ties_jobs_together_refuse(
    tmp_path: Path, workflow, submission_mode, name, words: str
):
    workload = submit_workflows(jobs(), [Submission(workflow, submission_mode, 70)])
    with pytest.raises(InputError, match=words):
        write_workload(workload, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_dependencies_alone_are_refused_by_csv(tmp_path: Path):
    with pytest.raises(InputError, match="cannot store the dependencies"):
        write_workload(jobs(dependencies=Dependencies.from_pairs([1], [0], jobs=2)), tmp_path / "w.csv")
