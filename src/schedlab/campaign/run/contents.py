"""What the files of a run directory hold, checked as a whole: a right checksum does not make the content right.

Files may have been edited, or written by another program or version. What is read back is refused as a whole unless
every field is of its kind and agrees with the plan.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from schedlab.campaign.definition.campaign import Campaign, importing_texts_in
from schedlab.campaign.definition.plan import Plan
from schedlab.campaign.run.outcome import Failure
from schedlab.campaign.sources.input import Input
from schedlab.documents import checked, parse_json
from schedlab.errors import InputError
from schedlab.imports import check_imports
from schedlab.naming import label_of
from schedlab.parquet import check_size, check_table
from schedlab.scheduler.slurm_versions import OF_0_1

if TYPE_CHECKING:
    import pyarrow as pa

TEXTS = ("task", "workload", "scheduler", "specification", "experiment", "submission_mode")
"""Columns of results that are texts; all others are numbers."""

LARGEST_INTEGER = 2**53

NEEDED = ("task", "workload", "load", "repetition", "window", "scheduler")


class Facts(BaseModel):
    """What campaign.json says; see `schedlab.campaign.run.directory.RunDirectory.write_facts`."""

    model_config = ConfigDict(extra="allow", strict=True)

    version: Annotated[int, Field(alias="schema")]
    name: str
    definition: dict[str, Any]
    base: str
    inputs: list[dict[str, Any]]
    tasks: int
    command: str
    text: str
    provenance: dict[str, str]
    code: dict[str, str] = {}
    schedulers: list[str] = []


FACTS = TypeAdapter(Facts)
INPUTS = TypeAdapter(list[Input])
CAMPAIGN = TypeAdapter(Campaign)
FAILURES = TypeAdapter(list[Failure])
REMEDY = "remove it and run the campaign again, its results are not lost"


def plan_of(facts: dict[str, Any], source: str) -> Plan:
    """Return the plan that campaign.json describes.

    Raises
    ------
    InputError
        If it describes none; the message begins with the source.
    """
    check_imports(importing_texts_in(facts["definition"]), source)
    return _plan(_campaign(facts["definition"], source), facts, source)


def plan_without_code(facts: dict[str, Any], source: str) -> Plan:
    """Return the plan that campaign.json describes, without the code that it names: it tells tasks, and runs none.

    Schedulers and metrics of the user's own are names in it and nothing more.

    Raises
    ------
    InputError
        As for `plan_of`, which makes the plan where no code is named, or where an earlier schedlab wrote the file.
    """
    definition = facts["definition"]
    metrics = definition.get("metrics")
    own = metrics.get("own") if isinstance(metrics, dict) else None
    if not (facts["code"] and facts["schedulers"] and isinstance(own, list)):
        return plan_of(facts, source)
    plain = {name: value for name, value in metrics.items() if name not in ("own", "main")}
    campaign = _campaign(definition | {"schedulers": ["fcfs"], "baseline": None, "metrics": plain}, source)
    named = campaign.metrics.model_copy(update={"own": tuple(own), "main": metrics.get("main", campaign.metrics.main)})
    baseline = definition.get("baseline") or label_of(facts["schedulers"][0])
    with_names = campaign.model_copy(update={"metrics": named, "baseline": baseline})
    return _plan(with_names, facts, source, facts["schedulers"])


def _campaign(definition: dict[str, Any], source: str) -> Campaign:
    if definition.get("engine") != "slurm":
        definition = {"slurm": OF_0_1} | definition
    return checked(CAMPAIGN, definition, f"{source}: definition", REMEDY)


def _plan(campaign: Campaign, facts: dict[str, Any], source: str, schedulers: Sequence[str] | None = None) -> Plan:
    inputs = inputs_of(facts, source)
    for item in inputs:
        if not 0 <= item.entry < len(campaign.workloads):
            raise InputError(f"{source}: entry {item.entry} of workloads does not exist; {REMEDY}")
    try:
        return Plan(campaign, inputs, facts["code"], schedulers)
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise InputError(f"{source}: the inputs do not match the definition ({error}); {REMEDY}") from None


def inputs_of(facts: dict[str, Any], source: str) -> list[Input]:
    """Return the inputs that campaign.json describes; errors as for `plan_of`."""
    return checked(INPUTS, facts["inputs"], f"{source}: inputs", REMEDY)


def failures_in(content: bytes, plan: Plan) -> list[Failure]:
    """Return the failures that a file holds, of tasks of the plan.

    Raises
    ------
    ValueError
        If it holds something else.
    """
    failures = checked(FAILURES, parse_json(content), "failures", "they are not used")
    names = np.array([one.task.encode("ascii", "replace") for one in failures], dtype="S")
    kept = [one for one, known in zip(failures, np.isin(names, plan.names), strict=True) if known]
    for failure in kept:
        if _plain(failure.specification) != _plain(plan.find(failure.task).specification()):
            raise ValueError("a failure belongs to another task than it states")
    return kept


def _plain(value: Any) -> Any:
    return json.dumps(value, sort_keys=True)


def results_in(content: bytes, plan: Plan, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the results that a file holds, whatever plan they belong to.

    Parameters
    ----------
    content
        Of the file.
    plan
        What is known of tasks; those of other plans are not compared.
    columns
        Which; by default, all.

    Raises
    ------
    ValueError
        If it is not a table of results, or says of a task something else than the plan.
    """
    import pyarrow as pa

    table = table_in(content)
    _check_kinds(table)
    names = names_in(table)
    told = {name: table.column(name).to_numpy(zero_copy_only=False) for name in NEEDED[1:]}
    if not plan.agrees(names, told):
        raise ValueError("a result belongs to another task than it states")
    wanted = table.column_names if columns is None else [name for name in columns if name in table.column_names]
    return pa.table(table.select(wanted)).replace_schema_metadata(None)


def table_in(content: bytes) -> pa.Table:
    """Return the table that a Parquet file holds.

    Raises
    ------
    ValueError
        If it holds none, or one that is too large to have been written by schedlab.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(io.BytesIO(content)) as file:
            check_size(file, len(content))
            table = file.read()
        check_table(table)
        _check_integers(table)
    except (pa.ArrowException, OSError, KeyError) as error:
        raise ValueError(str(error).splitlines()[0]) from None
    return table


def _check_integers(table: pa.Table) -> None:
    """Raise ValueError if an integer is too large for a float, which the same column of another file may hold."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for field in table.schema:
        if pa.types.is_integer(field.type):
            ends = pc.min_max(table.column(field.name)).as_py()
            if max(abs(ends["min"] or 0), abs(ends["max"] or 0)) > LARGEST_INTEGER:
                raise ValueError(f"the column {field.name} has integers beyond {LARGEST_INTEGER}")


def names_in(table: pa.Table) -> NDArray[np.bytes_]:
    """Return the names of the tasks of some results."""
    return np.asarray(table.column("task").to_numpy(zero_copy_only=False), dtype="S")


def is_text(kind: pa.DataType) -> bool:
    """Return whether a column holds texts."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _check_kinds(table: pa.Table) -> None:
    import pyarrow as pa

    if not all(name.isprintable() for name in table.column_names):
        raise ValueError("a column has an impossible name")  # with which Arrow does not put tables together
    if missing := [name for name in NEEDED if name not in table.column_names]:
        raise ValueError(f"the column {missing[0]} is missing")
    for field in table.schema:
        kind = field.type
        number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)
        if not (is_text(kind) if field.name in TEXTS else number):
            raise ValueError(f"the column {field.name} is of type {kind}")
    for name in ("task", "workload", "scheduler"):
        if table.column(name).null_count:
            raise ValueError(f"the column {name} has empty cells")
    if not all(name.isascii() for name in table.column("task").to_pylist()):
        raise ValueError("the name of a task is not valid")
