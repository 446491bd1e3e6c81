"""What a campaign keeps of a simulation beside its row of results: of experiments, workflows and distributions.

They are Parquet files in the run directory, one per batch of tasks, written before the results of the batch are: a task
that is done has its details.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from schedlab.campaign.run.contents import is_text, table_in
from schedlab.campaign.sources.measures import Measured
from schedlab.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from schedlab.campaign.run.directory import RunDirectory

COORDINATES = ("task", "experiment", "submission_mode", "repetition", "scheduler")
"""The columns that say which task details are of."""


class Details:
    """The details of a batch of tasks.

    Examples
    --------
    >>> Details().tables()
    {}
    """

    def __init__(self) -> None:
        self._tables: dict[str, list[pa.Table]] = {}

    def add(self, coordinates: dict[str, Any], found: Measured) -> None:
        """Keep the tables of a task, each row with what says which task it is of."""
        import pyarrow as pa

        facts = coordinates | found.names
        for part, table in found.tables.items():
            for place, name in enumerate(COORDINATES if len(table) else ()):
                table = table.add_column(place, name, pa.array([facts[name]] * len(table)))  # noqa: PLW2901
            if len(table):
                self._tables.setdefault(part, []).append(table)

    def tables(self) -> dict[str, pa.Table]:
        """Return what there is, by part."""
        import pyarrow as pa

        joined = {part: pa.concat_tables(tables, promote_options="permissive") for part, tables in self._tables.items()}
        return {part: table.replace_schema_metadata(None) for part, table in joined.items()}

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

    Raises
    ------
    InputError
        If columns of the same name are of kinds that do not go together.
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
    try:
        return pa.concat_tables(tables, promote_options="permissive") if tables else None
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{run.path / part}: the files do not agree with each other ({reason})") from None


def _checked(table: pa.Table) -> pa.Table:
    """Return details without their metadata, or raise ValueError if it is not known which task they are of."""
    import pyarrow as pa

    for name in COORDINATES:
        right = pa.types.is_integer if name == "repetition" else is_text
        if name not in table.column_names or not right(table.schema.field(name).type):
            raise ValueError(f"the column {name} is missing or has the wrong type")
    return table.replace_schema_metadata(None)
