"""The tables of the reference page on schedulers, from the grammar; a test holds the page to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schedlab.scheduler.compatible import NONE, TABLE
from schedlab.scheduler.grammar import OPTIONS, PARTS


def text_table() -> str:
    """Return the parts and options of a scheduler text as a Markdown table."""
    parts = ((f"`{part.name}`", part.values, part.default) for part in PARTS)
    options = (
        (f"`,{option.name}={option.value}`".replace("|", r"\|"), option.meaning, option.default)
        for option in OPTIONS.values()
    )
    return _table(("part", "values", "default"), (*parts, *options))


def pair_table() -> str:
    """Return the incompatible features as a Markdown table, a row for each reason."""
    pairs: dict[tuple[str, str], list[str]] = {}
    for first, second, reason in TABLE:
        pairs.setdefault((first, reason), []).append(second if second in (NONE, "dependencies") else f"`{second}`")
    rows = ((f"`{first}`", ", ".join(others), reason) for (first, reason), others in pairs.items())
    return _table(("feature", "not with", "because"), rows)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines).replace("| --- | --- | --- |", "|---|---|---|")


if __name__ == "__main__":
    print(f"{text_table()}\n\n{pair_table()}")
