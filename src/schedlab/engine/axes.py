"""What the entries of an array stand for: its axis, which stands in the annotation of its field.

When jobs are added to a simulation, it is assembled with all of them, and what has happened so far is taken over from
the old arrays: how, follows from the axis of each field. The axis of a field that is a record holds for all that is in
it; a record without one has fields with axes of their own.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.part import Part

JOBS, SUBMITTED, USERS, ASSOCIATIONS = "jobs", "submitted jobs", "users", "associations"
KEPT, FIXED, SCRATCH, BY_PART, RECORD = "kept", "fixed", "scratch", "by part", "record"

Field = TypeVar("Field")
PerJob = Annotated[Field, JOBS]
"""One entry per job; jobs may get other numbers."""
PerSubmittedJob = Annotated[Field, SUBMITTED]
"""One entry per job; of those that have not been submitted yet, it follows from their numbers."""
PerUser = Annotated[Field, USERS]
PerAssociation = Annotated[Field, ASSOCIATIONS]
Kept = Annotated[Field, KEPT]
"""Entries keep their places, as those of counters, nodes and logs; the new array may be longer."""
Fixed = Annotated[Field, FIXED]
"""Follows from the jobs and the cluster alone, and is not taken over."""
Scratch = Annotated[Field, SCRATCH]
"""Whoever reads it has written it in the same second; not taken over."""
ByPart = Annotated[Field, BY_PART]
"""Taken over by code of the part that it belongs to (`schedlab.engine.part.Part.grown`)."""
OwnAxes = Annotated[Field, RECORD]
"""A record with axes of its own, whose class is not named here because it is defined later."""

AXES = frozenset({JOBS, SUBMITTED, USERS, ASSOCIATIONS, KEPT, FIXED, SCRATCH, BY_PART})


class Moves(NamedTuple):
    """The new numbers of what a simulation is about, when jobs are added to it.

    Parameters
    ----------
    jobs, users, associations, reasons
        The new number of each old job, user, association and reason of waiting.
    submitted
        How many jobs have been submitted; their numbers do not change.
    """

    jobs: NDArray[np.intp]
    users: NDArray[np.intp]
    associations: NDArray[np.intp]
    reasons: NDArray[np.intp]
    submitted: int


def take_over(old: Any, new: Any, moves: Moves) -> None:
    """Copy the fields of a record into the same record of a simulation with added jobs, each along its axis."""
    kind: type = type(old)
    axes = axes_of(kind)
    for field, one, other in zip(old._fields, old, new, strict=True):
        axis = axes[field]
        if one is None or other is None or axis in (FIXED, SCRATCH, BY_PART):
            continue
        if axis == RECORD:
            take_over(one, other, moves)
        elif axis == SUBMITTED:
            other[: moves.submitted] = one[: moves.submitted]
        elif axis == USERS:
            other[moves.users] = one
        elif axis == ASSOCIATIONS:
            other[moves.associations] = one
        elif axis == JOBS and len(one) == len(moves.jobs):
            other[moves.jobs] = one
        else:
            count = min(len(one), len(other))
            other[:count] = one[:count]


@cache
def axes_of(record: type) -> dict[str, str]:
    """Return the axis of each field of a class of named tuples, RECORD for those that have axes of their own.

    Raises
    ------
    TypeError
        If a field has none: it would be forgotten when jobs are added.
    """
    found = {}
    for field, hint in get_type_hints(record, include_extras=True).items():
        axis = next((one for one in told_beside(hint) if isinstance(one, str)), None)
        if axis is None and not records_in(hint):
            raise TypeError(f"{record.__name__}.{field}: its annotation has no axis, see schedlab.engine.axes")
        found[field] = axis or RECORD
    return found


def records_in(hint: Any) -> tuple[type, ...]:
    """Return the classes of named tuples in a type, behind None and what is told beside it; of a part, its record's."""
    if isinstance(hint, type) and hasattr(hint, "_fields"):
        return (hint,)
    if isinstance(hint, Part):
        return (hint.record,)
    return tuple(dict.fromkeys(record for one in (*get_args(hint), *told_beside(hint)) for record in records_in(one)))


def told_beside(hint: Any) -> tuple[Any, ...]:
    """Return what an annotation tells beside the type, such as an axis."""
    return getattr(hint, "__metadata__", ())
