"""What a benchmark found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """One measured figure."""

    name: str
    figure: str
    goal: str
    met: bool
    check: str
    right: bool
