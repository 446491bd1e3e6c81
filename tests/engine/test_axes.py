"""Growth along axes: each field of a world has one, and says by it how it is taken over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

import numpy as np
import pytest
from numpy.typing import NDArray

from schedlab.engine import axes, parts
from schedlab.engine.axes import RECORD, ByPart, Fixed, Kept, Moves, PerJob, PerSubmittedJob, PerUser, Scratch
from schedlab.engine.logs import LOGS
from schedlab.engine.parts.forecasts.kernels import Forecasts
from schedlab.engine.world import PARTS, World

Ints = NDArray[np.int64]


class Inner(NamedTuple):
    counts: PerUser[Ints]


class Record(NamedTuple):
    counters: Kept[Ints]
    length: PerJob[Ints]
    entered: PerSubmittedJob[Ints]
    inner: Inner
    parents: Fixed[Ints]
    room: Scratch[Ints]
    queue: ByPart[Any]
    lacking: Annotated[Any, Inner] = None


def test_a_record_is_taken_over_along_the_axis_of_each_field() -> None:
    """Two jobs become jobs 0 and 2 of three; one has been submitted; user 0 becomes user 1."""
    old = Record(*map(np.array, ([7, 8], [40, 50], [1, 2])), Inner(np.array([6])), *map(np.array, ([9], [9], [9])))  # type: ignore[call-arg]
    new = Record(  # type: ignore[call-arg]
        *(np.zeros(size, np.int64) for size in (3, 3, 3)),
        Inner(np.zeros(2, np.int64)),
        *(np.zeros(1, np.int64) for _ in range(3)),
        Inner(np.zeros(2, np.int64)),
    )
    moves = Moves(np.array([0, 2]), np.array([1]), np.arange(0), np.arange(0), submitted=1)
    axes.take_over(old, new, moves)
    assert new.counters.tolist() == [7, 8, 0]
    assert new.length.tolist() == [40, 0, 50]
    assert new.entered.tolist() == [1, 0, 0]
    assert new.inner.counts.tolist() == [0, 6]
    assert new.parents.tolist() == new.room.tolist() == new.queue.tolist() == [0]
    assert new.lacking.counts.tolist() == [0, 0]


def test_a_field_without_an_axis_is_an_error_with_its_name() -> None:
    class Forgotten(NamedTuple):
        start: PerJob[Ints]
        begun: Ints

    Forgotten.__annotations__ = {"start": PerJob[Ints], "begun": Ints}  # they are evaluated outside of this function
    with pytest.raises(TypeError, match=r"^Forgotten\.begun: its annotation has no axis"):
        axes.axes_of(Forgotten)


def records_below(record: type) -> Iterator[type]:
    """Yield a record and those in it that have axes of their own."""
    yield record
    hints = get_type_hints(record, include_extras=True)
    for field, axis in axes.axes_of(record).items():
        if axis == RECORD:
            for inner in axes.records_in(hints[field]):
                yield from records_below(inner)


def test_each_field_of_a_world_has_an_axis() -> None:
    found = {
        axis for top in (World, Forecasts) for record in records_below(top) for axis in axes.axes_of(record).values()
    }
    assert found == axes.AXES | {axes.RECORD}


def test_each_part_is_a_field_of_the_world_and_is_listed_once() -> None:
    names = [part.name for part in PARTS]
    assert len(set(names)) == len(names)
    assert set(names) == set(World._field_defaults)


def test_a_part_has_the_name_of_its_package() -> None:
    """The nodes are a part, too, but passes know them: they have a package beside the others."""
    assert {path.parent.name for path in Path(parts.__file__).parent.glob("*/part.py")} | {"nodes"} == {
        part.name for part in PARTS
    }


def test_what_an_axis_leaves_to_a_part_is_brought_over_by_it() -> None:
    hints = get_type_hints(World, include_extras=True)
    for part in PARTS:
        axis = axes.axes_of(World)[part.name]
        within = (
            [one for top in axes.records_in(hints[part.name]) for one in records_below(top)] if axis == RECORD else []
        )
        left = {axis}.union(*(axes.axes_of(one).values() for one in within))
        assert part.grown is not None or axes.BY_PART not in left, part.name


def test_each_log_is_an_array_of_its_part() -> None:
    hints = get_type_hints(World, include_extras=True)
    for path in LOGS:
        name, array = path.split(".")
        assert all(array in record._fields for record in axes.records_in(hints[name]))  # type: ignore[attr-defined]
