"""Columns that users add to jobs: numbers or names, kept through every operation and file that can hold them."""

from __future__ import annotations

import difflib
import keyword
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.wording import shown
from schedlab.workload.columns import below, take
from schedlab.workload.resources import Labels

Numbers = NDArray[np.int64] | NDArray[np.float64]
Own = Numbers | Labels


@explained
@dataclass(frozen=True, slots=True, eq=False)
class OwnColumns:
    """Own columns by name, in the order in which they were given.

    Parameters
    ----------
    columns
        int64, or float64 where NaN means unknown, or names; one value per job. There is at least one column.
    """

    columns: Mapping[str, Own]

    @classmethod
    @explained
    def of(cls, columns: Mapping[str, Any], taken: Sequence[str]) -> OwnColumns:
        """Build columns from array-likes.

        Parameters
        ----------
        columns
            Whole or fractional numbers, truth values (which become 0 and 1), or texts, by name. None, NaN and "" are
            unknown; whole numbers with unknown ones among them become fractional.
        taken
            Names of other columns.

        Raises
        ------
        InputError
            If a name is taken, too similar to one, or not a valid name of a function argument, or if values are neither
            numbers nor texts.

        Examples
        --------
        >>> own = OwnColumns.of({"deadline": [60, 90], "team": ["bio", None]}, ())
        >>> own.array("deadline").tolist(), own.array("team").tolist()
        ([60, 90], ['bio', ''])
        """
        for name in columns:
            check_name(name, taken)
        return cls({name: _column(name, values) for name, values in columns.items()})

    def __post_init__(self) -> None:
        if len({len(column) for column in self.columns.values()}) > 1:
            told = ", ".join(f"{name} {len(column)}" for name, column in self.columns.items())
            raise InputError(f"own columns need one value per job, but have different lengths ({told})")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def array(self, name: str) -> NDArray[Any]:
        """Return a column as an array: of numbers, or of texts with "" for unknown."""
        column = self.columns[name]
        return np.array([*column.names, ""])[column.codes] if isinstance(column, Labels) else column

    def unknown(self, jobs: int) -> OwnColumns:
        """Return the same columns for jobs with unknown values."""
        return OwnColumns(
            {
                name: Labels.none(jobs) if isinstance(column, Labels) else np.full(jobs, np.nan)
                for name, column in self.columns.items()
            }
        )

    def select(self, rows: Any) -> OwnColumns:
        """Return the columns of some rows."""
        return OwnColumns(
            {
                name: column.select(rows) if isinstance(column, Labels) else take(column, rows)
                for name, column in self.columns.items()
            }
        )

    def join(self, other: OwnColumns) -> OwnColumns:
        """Return the columns followed by those of other jobs; a column that one of them lacks is unknown there.

        Raises
        ------
        InputError
            If a column holds numbers in one and texts in the other.
        """
        mine = {**other.unknown(len(self)).columns, **self.columns}
        theirs = {**self.unknown(len(other)).columns, **other.columns}
        names = dict.fromkeys((*self.columns, *other.columns))
        return OwnColumns({name: _joined(name, mine[name], theirs[name]) for name in names})

    def frame_columns(self) -> dict[str, Any]:
        """Return the columns for a data frame: arrays of numbers, and categories of names."""
        import pandas as pd

        return {
            name: pd.Categorical.from_codes(one.codes, pd.Index(one.names)) if isinstance(one, Labels) else one
            for name, one in self.columns.items()
        }


def check_name(name: str, taken: Sequence[str]) -> None:
    """Raise InputError if a name cannot be that of an own column."""
    if name in taken:
        raise InputError(f"{name} is a built-in column of workloads: choose another name for your own")
    if meant := difflib.get_close_matches(name, taken, 1, 0.85):
        raise InputError(
            f"unknown column {shown(name)}; did you mean {meant[0]}? Otherwise choose a name that differs more"
        )
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InputError(f"{shown(name)} cannot be the name of an own column: use letters, digits and underscores")


def _column(name: str, values: Any) -> Own:
    """Return values as a column of numbers or of names."""
    if isinstance(values, Labels):
        return values
    array = np.array(values, dtype=object) if isinstance(values, list | tuple) else np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"own column {name} has {array.ndim} dimensions, expected 1")
    if array.dtype.kind == "O":
        array = _of_objects(name, array)
    if array.dtype.kind == "U":
        return Labels.of(array.tolist())
    if array.dtype.kind not in "biuf":
        raise InputError(f"own column {name} holds neither numbers nor texts; convert dates and durations to seconds")
    if array.dtype == np.uint64 and array.max(initial=0) > 2**63 - 1:
        raise InputError(f"own column {name} holds numbers beyond 64 bits")
    column: Numbers = array.astype(np.float64) if array.dtype.kind == "f" else array.astype(np.int64)
    column.flags.writeable = False
    return column


def _of_objects(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return objects as an array of texts or of numbers, with "" or NaN for None, NaN and pandas' NA."""
    import pandas as pd

    unknown = pd.isna(array)
    known = array[~unknown]
    if all(isinstance(value, str) for value in known):
        return np.where(unknown, "", array).astype(str)
    if all(isinstance(value, int | float | np.number) for value in known):
        return np.where(unknown, np.nan, array).astype(np.float64) if unknown.any() else np.array(known.tolist())
    raise InputError(f"own column {name} mixes numbers and texts")


def _joined(name: str, one: Own, other: Own) -> Own:
    if isinstance(one, Labels) and isinstance(other, Labels):
        return one.join(other)
    if isinstance(one, Labels) or isinstance(other, Labels):
        raise InputError(f"own column {name} holds numbers in one workload and texts in another")
    return below(one, other)
