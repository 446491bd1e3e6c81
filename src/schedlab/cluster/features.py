"""Constraints: which nodes have the features that a job asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError

_WORD = re.compile(r"\s*([A-Za-z0-9_.:+-]+|[&|,()])")


def nodes_with(constraint: str, features: Sequence[frozenset[str]]) -> NDArray[np.bool_]:
    """Return which nodes meet a constraint such as `ib&(a100|h100)`.

    Parameters
    ----------
    constraint
        Names of features, joined by `&` (both; also `,`), `|` (either) and parentheses. `&` binds more closely.
    features
        Of each node.

    Returns
    -------
    numpy.ndarray
        bool, one per node.

    Raises
    ------
    InputError
        If the constraint cannot be read. Counts, as in `[rack1*2&rack2*4]`, are not modelled.

    Examples
    --------
    >>> nodes_with("ib&(a100|h100)", [frozenset({"ib", "h100"}), frozenset({"a100"})]).tolist()
    [True, False]
    """
    words: list[str] = []
    place = 0
    text = constraint.strip()
    while place < len(text):
        if (match := _WORD.match(text, place)) is None:
            raise InputError(f"constraint {constraint[:80]!r}: {text[place]!r} is not valid here; use names, & | ( )")
        words.append(match[1])
        place = match.end()
    reader = _Reader(constraint, words, features)
    met = reader.either()
    if reader.words:
        raise reader.unreadable()
    return met


class _Reader:
    """Reads the words of a constraint, one after the other."""

    def __init__(self, constraint: str, words: list[str], features: Sequence[frozenset[str]]) -> None:
        self.constraint, self.words, self.features = constraint, words, features
        self.depth = 0

    def unreadable(self) -> InputError:
        where = f"at {self.words[0]!r}" if self.words else "at its end"
        return InputError(f"constraint {self.constraint[:80]!r} is not valid {where}")

    def either(self) -> NDArray[np.bool_]:
        met = self.both()
        while self.words and self.words[0] == "|":
            self.words.pop(0)
            met = met | self.both()
        return met

    def both(self) -> NDArray[np.bool_]:
        met = self.one()
        while self.words and self.words[0] in ("&", ","):
            self.words.pop(0)
            met = met & self.one()
        return met

    def one(self) -> NDArray[np.bool_]:
        if not self.words or self.words[0] in "&|,)" or self.depth > 50:
            raise self.unreadable()
        word = self.words.pop(0)
        if word != "(":
            return np.array([word in known for known in self.features], dtype=np.bool_)
        self.depth += 1
        met = self.either()
        if not self.words or self.words.pop(0) != ")":
            raise self.unreadable()
        self.depth -= 1
        return met
