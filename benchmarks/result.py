"""What a benchmark found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """One measured figure. What is compared may be numpy's; JSON knows Python's truth values only."""

    name: str
    figure: str
    goal: str
    met: bool
    check: str
    right: bool

    def __post_init__(self) -> None:
        for name in ("met", "right"):
            object.__setattr__(self, name, bool(getattr(self, name)))
