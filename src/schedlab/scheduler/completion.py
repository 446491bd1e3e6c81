"""Completions of a scheduler text that is being typed, from the tables of the grammar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from schedlab.scheduler.grammar import (
    ALIASES,
    BACKFILLING,
    CORRECTION,
    OPTIONS,
    POLICIES,
    RUN_TIMES,
    Entry,
)

_CALLS = POLICIES | BACKFILLING | RUN_TIMES


def completions(text: str) -> list[tuple[str, str]]:
    """Return texts that begin with the typed text, each with the meaning of the added part.

    Parameters
    ----------
    text
        The beginning of a scheduler text.

    Examples
    --------
    >>> [complete for complete, _ in completions("saf@sim")]
    ['saf@similar']
    >>> [complete for complete, _ in completions("saf+easy:sj")]
    ['saf+easy:sjf']
    >>> [complete for complete, _ in completions("fcfs+slurm(depth=5,wf_plan=")]
    ['fcfs+slurm(depth=5,wf_plan=all', 'fcfs+slurm(depth=5,wf_plan=ready']
    """
    start, mark, call = _last_piece(text)
    piece = text[start:].lstrip().lower()
    before = text[: len(text) - len(text[start:].lstrip())]
    found = _arguments(call, piece) if call else _parts(mark, text[:start], piece)
    return [(f"{before}{word}", meaning) for word, meaning in found if word.startswith(piece)]


def _last_piece(text: str) -> tuple[int, str, str]:
    """Return where the piece being typed begins, the mark before it, and the name whose bracket is open."""
    start, mark, quote = 0, "", ""
    calls: list[str] = []
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "(":
            calls.append(text[start:place].rpartition("=")[2].strip().lower())
            start = place + 1
        elif character == ")" and calls:
            calls.pop()
        elif character in "@+,:/" and (not calls or character == ","):
            start, mark = place + 1, mark if calls else mark + character
    return (len(text), quote, "") if quote else (start, mark, calls[-1] if calls else "")


def _arguments(call: str, piece: str) -> Iterator[tuple[str, str]]:
    """Return the arguments in an open bracket, or the values of one of them."""
    entry = _CALLS.get(call)
    for name, (argument, default) in ({} if entry is None else entry.arguments).items():
        if not piece.startswith(f"{name}="):
            shown = "" if default in ({}, 0) else f" ({argument.write(default)})"
            yield f"{name}=", f"{argument.meaning}{shown}"
        for word in argument.words if piece.startswith(f"{name}=") else ():
            yield f"{name}={word}", argument.meaning


def _parts(marks: str, before: str, piece: str) -> Iterator[tuple[str, str]]:
    """Return the possible texts after the last of some marks."""
    if marks.endswith(","):
        yield from _options(before, piece)
    elif marks.endswith("@"):
        yield from _names(RUN_TIMES)
    elif marks.endswith("/") and "@" in marks:
        yield from _names(CORRECTION)
    elif marks.endswith("+"):
        yield from _names(BACKFILLING)
    elif marks.endswith(":") and before.rstrip(": ").lower().endswith("easy"):
        yield from _names(POLICIES)
    elif not marks:
        yield from _names(POLICIES)
        yield from _names(BACKFILLING)
        yield from ALIASES.items()
        if piece in POLICIES and not POLICIES[piece].arguments:
            yield from ((f"{piece}+{name}", meaning) for name, meaning in _names(BACKFILLING))


def _names(entries: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    """Return names and aliases; an opening bracket is added to those that need arguments."""
    for name, entry in entries.items():
        yield (f"{name}(" if name in ("multifactor", "nag") else name), entry.meaning
        yield from ((alias, entry.meaning) for alias in entry.aliases)


def _options(before: str, piece: str) -> Iterator[tuple[str, str]]:
    """Return the options that have not been given yet, or the values of the one being typed."""
    for name, option in OPTIONS.items():
        if piece.startswith(f"{name}="):
            yield from ((f"{name}={word}", option.meaning) for word in option.words)
        elif f",{name}=" not in before.replace(" ", ""):
            yield f"{name}=", option.meaning
