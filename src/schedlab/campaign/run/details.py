"""What a campaign keeps of its experiments beside one row of results each: workflows, and distributions.

Both are Parquet files in the run directory, one per batch of tasks, written before the results of the batch are: a task
that is done has its details.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from schedlab.campaign.definition.plan import Task
from schedlab.campaign.run.contents import is_text, table_in
from schedlab.campaign.sources.source import ExperimentSource

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from schedlab.campaign.run.directory import RunDirectory
    from schedlab.schedule.analysis import Analysis

COORDINATES = ("task", "experiment", "handling", "repetition", "scheduler")
"""The columns that say which task details are of."""


class Details:
    """The details of a batch of tasks.

    Examples
    --------
    >>> Details().tables()
    {}
    """

    def __init__(self) -> None:
        self._workflows: list[pd.DataFrame] = []
        self._distributions: list[dict[str, Any]] = []

    def add(self, name: str, task: Task, analysis: Analysis) -> None:
        """Keep what is known of a task's experiment."""
        source = task.instance.source
        assert isinstance(source, ExperimentSource)
        values = (name, source.label, source.handling, task.instance.repetition, task.scheduler)
        facts: dict[str, Any] = dict(zip(COORDINATES, values, strict=True))
        table = analysis.workflows.drop(columns=["name", "handling"]).rename(columns={"group": "workflow"})
        for place, (column, value) in enumerate(facts.items()):
            table.insert(place, column, value)
        if len(table):
            self._workflows.append(table)
        self._distributions += [facts | found.to_dict() for found in analysis.distributions()]

    def tables(self) -> dict[str, pa.Table]:
        """Return what there is, by part."""
        import pyarrow as pa

        tables = {}
        if self._workflows:
            parts = [pa.Table.from_pandas(table, preserve_index=False) for table in self._workflows]
            tables["workflows"] = pa.concat_tables(parts).replace_schema_metadata(None)
        if self._distributions:
            tables["distributions"] = pa.Table.from_pylist(self._distributions)
        return tables

    def store(self, run: RunDirectory, batch: str, provenance: dict[str, Any]) -> None:
        """Write the files of a batch.

        Raises
        ------
        OutputError
            If one cannot be written.
        """
        import pyarrow.parquet as pq

        for part, table in self.tables().items():
            run.ensure(part)
            stream = io.BytesIO()
            described = table.replace_schema_metadata({"schedlab": json.dumps(provenance)})
            pq.write_table(described, stream, compression="zstd")
            run.store(part, batch, ".parquet", stream.getvalue())


def read_details(run: RunDirectory, part: str) -> pa.Table | None:
    """Return what is kept of experiments beside their results, of the tasks of the plan; None without any.

    Parameters
    ----------
    run
        The run directory.
    part
        "workflows" or "distributions".
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    tables: list[pa.Table] = []
    # A batch that was interrupted, and its tasks run again with others, has left them twice.
    wanted = {name.decode() for name in run.plan.names}
    for path, content in run.contents(part, ".parquet"):
        try:
            table = _checked(table_in(content))
        except ValueError:
            run.set_aside(path)
            continue
        new = wanted & set(table.column("task").unique().to_pylist())
        tables.append(table.filter(pc.is_in(table.column("task"), pa.array(sorted(new), pa.string()))))
        wanted -= new
    return pa.concat_tables(tables, promote_options="permissive") if tables else None


def _checked(table: pa.Table) -> pa.Table:
    """Return details without their metadata, or raise ValueError if it is not known which task they are of."""
    import pyarrow as pa

    for name in COORDINATES:
        right = pa.types.is_integer if name == "repetition" else is_text
        if name not in table.column_names or not right(table.schema.field(name).type):
            raise ValueError(f"there is no column {name}, or one of another kind")
    return table.replace_schema_metadata(None)
