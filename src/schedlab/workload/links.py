"""Attributes besides the fields of SWF (dependencies, workflows, run-time distributions, resources) as columns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.errors import InputError
from schedlab.parquet import whole_numbers
from schedlab.workflow.workflow import Workflow
from schedlab.workload.alternatives import COLUMN, Alternatives
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.own_columns import OwnColumns
from schedlab.workload.resources import LABELS, NUMBERS, Labels, Resources
from schedlab.workload.submissions import Submission, WorkflowJobs
from schedlab.workload.workload import KEPT, Workload

if TYPE_CHECKING:
    import pyarrow as pa

LINK_COLUMNS = ("workflow", "workflow_task", "parents", "parent_delays", "distribution")
"""Columns besides the fields of SWF: number of the workflow and position of the task (-1: none), rows of the parents
and seconds after the end of each, number of the run-time distribution."""


FIELDS_OF_NAMES = {"partition": "partition_id", "account": "group_id", "qos": "queue_id"}
"""Fields of SWF whose numbers represent names that readers of logs also put into resources."""


def link_columns(workload: Workload) -> dict[str, pa.Array]:
    """Return the Parquet columns of dependencies, workflows and distributions, if any, and those of resources."""
    import pyarrow as pa

    columns: dict[str, pa.Array] = {}
    if workload.workflows is not None:
        columns["workflow"] = pa.array(workload.workflows.number)
        columns["workflow_task"] = pa.array(workload.workflows.task)
    if (after := workload.dependencies) is not None:
        offsets = pa.array(after.offsets)
        columns["parents"] = pa.LargeListArray.from_arrays(offsets, pa.array(after.parents))
        columns["parent_delays"] = pa.LargeListArray.from_arrays(offsets, pa.array(after.delay))
    if workload.distribution is not None:
        columns["distribution"] = pa.array(workload.distribution)
    return columns | plain_columns(workload)


def plain_columns(workload: Workload) -> dict[str, pa.Array]:
    """Return the columns of resources, own ones and that of alternatives, which CSV can hold, too."""
    import pyarrow as pa

    own = {} if workload.own is None else workload.own.columns
    sizes = {} if workload.alternatives is None else {COLUMN: pa.array(workload.alternatives.texts())}
    return (
        _resource_columns(workload)
        | {
            name: _dictionary(column) if isinstance(column, Labels) else pa.array(column)
            for name, column in own.items()
        }
        | sizes
    )


def _dictionary(labels: Labels) -> pa.DictionaryArray:
    import pyarrow as pa

    codes = pa.array(labels.codes, pa.int32(), mask=labels.codes < 0)
    return pa.DictionaryArray.from_arrays(codes, pa.array(labels.names, pa.string()))


def _resource_columns(workload: Workload) -> dict[str, pa.Array]:
    """Return requests besides processors and time, as columns of numbers and of names."""
    import pyarrow as pa

    if (resources := workload.resources) is None:
        return {}
    columns: dict[str, pa.Array] = {name: pa.array(getattr(resources, name)) for name in NUMBERS}
    return columns | {name: _dictionary(getattr(resources, name)) for name in LABELS}


def link_facts(workload: Workload) -> dict[str, Any]:
    """Return the metadata of these columns: the workflows, their submission modes, and the distributions."""
    facts: dict[str, Any] = {}
    if workload.workflows is not None:
        submissions = workload.workflows.submissions
        distinct = {id(submission.workflow): submission.workflow for submission in submissions}
        place = {key: number for number, key in enumerate(distinct)}
        facts["workflows"] = [workflow.to_dict() for workflow in distinct.values()]
        facts["submissions"] = {
            "workflow": [place[id(submission.workflow)] for submission in submissions],
            "submission_mode": [submission.submission_mode for submission in submissions],
            "submit_time": [int(submission.submit_time) for submission in submissions],
            "group": [submission.group for submission in submissions],
        }
    if workload.distribution is not None:
        facts["distributions"] = list(workload.distributions)
        if workload.sequences:
            facts["sequences"] = list(workload.sequences)
    if workload.own is not None:
        facts["own"] = list(workload.own.columns)
    if workload.cores_per_node is not None:
        facts["cores_per_node"] = workload.cores_per_node
    return facts


def read_links(table: pa.Table, facts: Mapping[str, Any]) -> tuple[pa.Table, dict[str, Any]]:
    """Return the table without the columns besides the fields of SWF, and the attributes in these and in the metadata.

    Returns
    -------
    tuple
        The remaining table, and attributes of `Workload`.

    Raises
    ------
    InputError
        If the workflows or the dependencies are invalid.
    LookupError, TypeError, ValueError
        If the metadata or the columns are damaged.
    """
    table, facts = _as_called_now(table, facts)
    links: dict[str, Any] = {}
    if "workflow" in table.column_names:
        workflows = [Workflow.from_dict(values) for values in facts["workflows"]]
        told = facts["submissions"]
        rows = zip(told["workflow"], told["submission_mode"], told["submit_time"], told["group"], strict=True)
        submissions = tuple(Submission(workflows[place], *how) for place, *how in rows)
        number, task = (whole_numbers(table, name).to_numpy() for name in ("workflow", "workflow_task"))
        links["workflows"] = WorkflowJobs(number, task, submissions)
    if "parents" in table.column_names:
        parents, delays = (_lists(table, name) for name in ("parents", "parent_delays"))
        children = np.repeat(np.arange(table.num_rows), np.diff(parents.offsets.to_numpy()))
        links["dependencies"] = Dependencies.from_pairs(
            children, parents.flatten().to_numpy(), delays.flatten().to_numpy(), jobs=table.num_rows
        )
    if "distribution" in table.column_names:
        distributions = tuple(facts["distributions"])
        links |= {"distribution": whole_numbers(table, "distribution").to_numpy(), "distributions": distributions}
        if facts.get("sequences"):
            links["sequences"] = tuple(facts["sequences"])
    if "cores_per_node" in facts:
        links["cores_per_node"] = facts["cores_per_node"]
    if (resources := _read_resources(table)) is not None:
        links["resources"] = resources
    if COLUMN in table.column_names:
        links[COLUMN] = Alternatives.from_texts(text or "" for text in table[COLUMN].cast("string").to_pylist())
    own = [str(name) for name in facts.get("own", [])]
    if own:
        links["own"] = OwnColumns.of({name: table[name].to_pandas().to_numpy() for name in own}, KEPT)
    beside = (*LINK_COLUMNS, *NUMBERS, *LABELS, COLUMN, *own)
    return table.drop_columns([name for name in beside if name in table.column_names]), links


def _as_called_now(table: pa.Table, facts: Mapping[str, Any]) -> tuple[pa.Table, Mapping[str, Any]]:
    """Return columns and metadata under their present names; version 0.1 had other ones for two of them."""
    if "law" in table.column_names:
        table = table.rename_columns({"law": "distribution"})
        facts = {**facts, "distributions": facts["laws"]}
    if "handling" in facts.get("submissions", {}):
        told = facts["submissions"]
        facts = {**facts, "submissions": {**told, "submission_mode": told["handling"]}}
    return table, facts


def _read_resources(table: pa.Table) -> Resources | None:
    """Return the requests in the columns of resources, None if there are none."""
    found: dict[str, Any] = {
        name: whole_numbers(table, name).to_numpy() for name in NUMBERS if name in table.column_names
    }
    for name in LABELS:
        if name in table.column_names:
            found[name] = _labels(table[name])
    return Resources.of(table.num_rows, **found) if found else None


def _labels(column: pa.ChunkedArray) -> Labels:
    """Return a column of names."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = column.cast(pa.string())
    coded = pc.if_else(pc.equal(texts, ""), None, texts).combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    return Labels(pc.fill_null(coded.indices.cast(pa.int64()), -1).to_numpy(), tuple(coded.dictionary.to_pylist()))


def _lists(table: pa.Table, name: str) -> pa.Array:
    """Return a column of lists of whole numbers."""
    import pyarrow as pa

    column = table[name].cast(pa.large_list(pa.int64())).combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # without rows
        column = pa.array([], pa.large_list(pa.int64()))
    if column.null_count or column.flatten().null_count:
        raise ValueError(f"the column {name} has empty cells")
    return column


def left_out(workload: Workload) -> tuple[str, ...]:
    """Return the own columns, and those of resources that neither SWF nor Batsim can represent.

    Examples
    --------
    >>> jobs = Workload.from_columns({"submit_time": [0], "run_time": [60], "requested_processors": [8]})
    >>> left_out(jobs.replace(resources=Resources.of(1, tasks=[8], nodes=[2], gpus=[1])))
    ('nodes', 'gpus')
    """
    own = () if workload.own is None else tuple(workload.own.columns)
    if (resources := workload.resources) is None:
        return own
    kept = [name for name, field in FIELDS_OF_NAMES.items() if not _misses(workload, name, field)]
    if bool((resources.tasks == np.maximum(workload.job_processors, 1)).all()):
        kept.append("tasks")
    return tuple(name for name in resources.said if name not in kept) + own


def _misses(workload: Workload, name: str, field: str) -> bool:
    """Return whether a job has a name in a column of resources, but no number in the corresponding field of SWF."""
    labels = getattr(workload.resources, name)
    return bool(((labels.codes >= 0) & (getattr(workload, field) < 0)).any())


def refuse_links(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Raise InputError if a format without links between jobs would lose them."""
    if workload.dependencies is None and workload.workflows is None:
        return
    what = "dependencies" if workload.workflows is None else "workflows"
    raise InputError(f"{os.fspath(path)}: this format cannot store the {what} of the jobs: write .parquet instead")


def preceding_fields(workload: Workload, path: str | os.PathLike[str]) -> Workload:
    """Return the workload with its dependencies in the fields 17 and 18 of SWF, if each job waits for at most one.

    Raises
    ------
    InputError
        If a job waits for several, or if a workflow is more than dependent jobs: pilot jobs, and tasks that keep one
        place in the queue, would be read as ordinary jobs.
    """
    workflows, after = workload.workflows, workload.dependencies
    if workflows is not None and any(submission.submission_mode != "chained" for submission in workflows.submissions):
        refuse_links(workload, path)
    if after is None:
        return workload.replace(workflows=None)
    several = np.diff(after.offsets) > 1
    if several.any():
        row = int(np.argmax(several))
        raise InputError(
            f"{os.fspath(path)}: job {workload.job_id[row]} waits for {np.diff(after.offsets)[row]} jobs, but SWF can "
            "name one; write .parquet instead",
            row=row,
        )
    preceding, think = (np.full(len(workload), -1, dtype=np.int64) for _ in range(2))
    preceding[after.children] = workload.job_id[after.parents]
    think[after.children] = after.delay
    return workload.replace(preceding_job_id=preceding, think_time=think, dependencies=None, workflows=None)
