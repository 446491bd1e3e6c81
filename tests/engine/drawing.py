"""How the fuzzer of the engine draws: each field of a table with its own chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, TypeVar

Item = TypeVar("Item")
Values = Sequence[Any] | Callable[["Draw"], Any]
Table = Mapping[str, tuple[float, Values]]
"""The share of cases that have a field, and its values: one is taken at random, or a function draws it."""


OFTEN = 0.95
"""The share of cases that have what they are about; of five things that need each other, three quarters have all."""


class Draw(Random):
    """A generator of random numbers with words for choices; what a case is about is `wanted`."""

    wanted: frozenset[str] = frozenset()

    def chance(self, share: float) -> bool:
        """Return True in such a share of cases."""
        return self.random() < share

    def has(self, name: str, share: float) -> bool:
        """Return True in such a share of the cases that are not about something, and often in others."""
        return self.chance(OFTEN if name in self.wanted else share)

    def one(self, *values: Item) -> Item:
        """Return one of some values."""
        return self.choice(values)

    def some(self, values: Sequence[Item], share: float = 0.6) -> list[Item]:
        """Return about such a share of some values, in their order."""
        return [value for value in values if self.chance(share)]

    def value(self, values: Values) -> Any:
        """Return a value of a table."""
        return values(self) if callable(values) else self.choice(values)

    def fields(self, table: Table) -> dict[str, Any]:
        """Return the fields that a case has, of a table."""
        return {name: self.value(values) for name, (share, values) in table.items() if self.has(name, share)}

    def few(self, table: Table, most: int) -> dict[str, Any]:
        """Return so many fields at most: of too many at a time, each would hide what the others do.

        If the case is about some of them, these are kept.
        """
        found = self.fields(table)
        kept = [name for name in found if name in self.wanted]
        if not kept:
            kept = self.sample(sorted(found), min(len(found), self.randint(1, most)))
        return {name: found[name] for name in found if name in kept}

    def text(self, table: Table, most: int | None = None) -> list[str]:
        """Return fields as options of a scheduler, so many at most."""
        found = self.fields(table) if most is None else self.few(table, most)
        return [f"{name}={value}" for name, value in found.items()]


def whole(low: int, high: int) -> Callable[[Draw], int]:
    """Return a function that draws a whole number, both ends included."""
    return lambda draw: draw.randint(low, high)
