"""SQL over the results of campaigns, with DuckDB (extra `query`): read only, and nothing but these results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from schedlab.campaign.results.overview import COORDINATES, Overview, failure_row
from schedlab.campaign.run.details import read_details
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.run.own_files import DETAILS
from schedlab.errors import InputError
from schedlab.wording import install

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import pyarrow as pa

SETTINGS = (
    # Values of Python are no tables, and nothing is fetched or kept anywhere.
    "python_enable_replacements = false",
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    "temp_directory = ''",
    # At last: neither files nor other databases can be reached, and no statement can change that.
    "enable_external_access = false",
    "lock_configuration = true",
)

READS = ("SELECT", "EXPLAIN", "MULTI")
"""Kinds of statements that only read; PIVOT is several in one."""

COLUMNS = ("campaign", "task", *COORDINATES)
DETAIL_COLUMNS = ("campaign", "task", "experiment", "submission_mode", "repetition", "scheduler")
FAILURE_COLUMNS = (*COLUMNS, "kind", "reason", "traceback", "host", "time")


def run_sql(runs: Sequence[RunDirectory], sql: str) -> pd.DataFrame:
    """Return what a query gives over the results of some campaigns.

    Parameters
    ----------
    runs
        The run directories.
    sql
        One statement that only reads, in the SQL of DuckDB. There are the tables

        - `results`: those of `RunDirectory.results` of all campaigns, with their name as `campaign` (or the path, of
          campaigns of one name); NULL instead of NaN, so that `avg` leaves it out;
        - `failures`: `campaign`, `task`, its coordinates, `kind`, `reason`, `traceback`, `host`, `time`;
        - `campaigns`: `campaign`, and the fields of `schedlab.campaign.results.overview.Overview`;
        - `workflows` and `distributions`, of experiments: see `schedlab.campaign.run.details.Details`.

    Raises
    ------
    InputError
        If DuckDB is not installed, if the statement is wrong, or if it would do more than read these tables.
    """
    try:
        import duckdb
    except ModuleNotFoundError:
        raise InputError(f"SQL needs DuckDB: {install('query')}") from None
    with duckdb.connect(":memory:") as connection:
        for name, table in _tables(runs).items():
            connection.register(name, table)
        # These may be large; a query that does not name them does not need them.
        for part in DETAILS:
            if part in sql.lower():
                connection.register(part, _details(runs, part))
        for setting in SETTINGS:
            connection.execute(f"set {setting}")
        try:
            _refuse_writes(connection.extract_statements(sql))
            frame: pd.DataFrame = connection.execute(sql).df()
        except duckdb.Error as error:
            raise InputError(f"the SQL is refused: {' '.join(str(error).split())}") from None
    return frame


def _refuse_writes(statements: list[duckdb.Statement]) -> None:
    """Allow one statement that reads: others would have no effect, or are refused by DuckDB in many words."""
    kinds = [statement.type.name for statement in statements]
    if len(kinds) != 1:
        raise InputError(f"give exactly one SQL statement, not {len(kinds)}")
    if kinds[0] not in READS:
        raise InputError(f"campaigns are read-only: give a SELECT, not {kinds[0].replace('_', ' ')}")


def _tables(runs: Sequence[RunDirectory]) -> dict[str, pa.Table]:
    import pyarrow as pa

    results, failures, campaigns = [], [], []
    for label, run in zip(_labels(runs), runs, strict=True):
        table = run.table()
        failed = [failure_row(failure) for failure in run.failures().values()]
        overview = Overview.of(run, done=0 if table is None else table.num_rows, failed=len(failed))
        campaigns.append({"campaign": label} | overview.to_dict())
        failures += [{"campaign": label} | row for row in failed]
        if table is not None:
            results.append(_labelled(table, label))
    return {
        "results": pa.concat_tables(results, promote_options="permissive") if results else _empty(COLUMNS),
        "failures": _without_nan(pa.Table.from_pylist(failures)) if failures else _empty(FAILURE_COLUMNS),
        "campaigns": pa.Table.from_pylist(campaigns),
    }


def _details(runs: Sequence[RunDirectory], part: str) -> pa.Table:
    """Return what is kept of the experiments of all campaigns."""
    import pyarrow as pa

    tables = [(label, read_details(run, part)) for label, run in zip(_labels(runs), runs, strict=True)]
    found = [_labelled(table, label) for label, table in tables if table is not None]
    return pa.concat_tables(found, promote_options="permissive") if found else _empty(DETAIL_COLUMNS)


def _labels(runs: Sequence[RunDirectory]) -> list[str]:
    """Return the names of campaigns, or their paths where two have the same name."""
    names = [str(run.facts["name"]) for run in runs]
    often = Counter(names)
    return [name if often[name] == 1 else str(run.path) for name, run in zip(names, runs, strict=True)]


def _labelled(table: pa.Table, label: str) -> pa.Table:
    import pyarrow as pa

    return _without_nan(table).add_column(0, "campaign", pa.repeat(label, table.num_rows))


def _without_nan(table: pa.Table) -> pa.Table:
    """Return a table with NULL instead of NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            column = table.column(place)
            nan = pc.is_nan(column)
            if pc.any(nan).as_py():
                table = table.set_column(place, field.name, pc.if_else(nan, None, column))
    return table


def _empty(columns: Sequence[str]) -> pa.Table:
    import pyarrow as pa

    kinds = {"load": pa.float64(), "repetition": pa.int64(), "window": pa.int64()}
    return pa.table({name: pa.array([], kinds.get(name, pa.string())) for name in columns})
