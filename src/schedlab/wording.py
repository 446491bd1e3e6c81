"""How numbers and values are said to a person."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

LONGEST_MESSAGE = 1_200
"""Characters of an error; what is longer is cut in the middle, so that where and what to do stay."""

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_SHORT.maxlevel = 2


def count_of(number: int, what: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> count_of(1, "result"), count_of(1_200, "result")
    ('1 result', '1,200 results')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def sentence(text: str) -> str:
    """Return a clause as a sentence; what begins with the name of an option keeps it as it is.

    Examples
    --------
    >>> sentence("no job is left out"), sentence("bf_window is 1 d"), sentence("84% wait.")
    ('No job is left out.', 'bf_window is 1 d.', '84% wait.')
    """
    first = text.partition(" ")[0]
    begin = text[:1].upper() if first.rstrip(",:").replace("-", "").isalpha() else text[:1]
    return f"{begin}{text[1:].removesuffix('.')}."


def percent_change(share: float) -> str:
    """Return a relative change in whole percent; nothing has no sign.

    Examples
    --------
    >>> percent_change(0.123), percent_change(-0.5), percent_change(-0.001)
    ('+12%', '-50%', '0%')
    """
    text = f"{share:+.0%}"
    return "0%" if text in ("+0%", "-0%") else text


def shown(value: Any) -> str:
    """Return a value as Python writes it, cut if it is long.

    Examples
    --------
    >>> shown("a"), len(shown("a" * 5_000))
    ("'a'", 60)
    """
    try:
        return printable(_SHORT.repr(value))
    except ValueError:  # Python does not write numbers of more than 4,300 digits
        return "a number of thousands of digits"


def bounded(text: str) -> str:
    """Return a message of bounded length that any terminal can show.

    Examples
    --------
    >>> bounded("as it is"), len(bounded("a" * 5_000)) < 1_300
    ('as it is', True)
    """
    text = printable(text)
    if len(text) <= LONGEST_MESSAGE:
        return text
    half = LONGEST_MESSAGE // 2
    return f"{text[:half]} ... ({len(text) - 2 * half:,} characters left out) ... {text[-half:]}"


def printable(text: str) -> str:
    """Return a text with escapes for what would steer a terminal or cannot be encoded; lines stay lines."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one == "\n" else _escaped(one) for one in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


RENAMED = {
    "handling": "submission_mode",
    "handlings": "submission_modes",
    "law": "distribution",
    "laws": "distributions",
}
"""Words of version 0.1 and what they are called now, in files and on the command line."""


def renamed(name: str) -> str:
    """Return what a name of version 0.1 is called now, in parentheses and with a blank before it; else nothing."""
    return f" (it is called {RENAMED[name]} now)" if name in RENAMED else ""


def install(extra: str) -> str:
    """Return how an optional part is installed.

    Examples
    --------
    >>> install("gym")
    'pip install ".[gym]" in the checkout of schedlab'
    """
    return f'pip install ".[{extra}]" in the checkout of schedlab'


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return what a name that has changed is called now, or the one that is nearly the same, in parentheses.

    A blank comes before it; it is empty if no name is near.

    Examples
    --------
    >>> did_you_mean("eazy", ["none", "easy"])
    ' (did you mean easy?)'
    >>> did_you_mean("sfa", ["sqf", "saf"])
    ' (did you mean saf?)'
    >>> did_you_mean("waits", ["p95_wait", "mean_wait"])
    ' (did you mean mean_wait?)'
    >>> did_you_mean("p95", ["p95_wait", "mean_wait"])
    ' (did you mean p95_wait?)'
    >>> did_you_mean("laws", ["path", "distributions"])
    ' (it is called distributions now)'
    """
    names = list(known)
    if RENAMED.get(name) in names:
        return renamed(name)
    for whole in (f"mean_{name.removesuffix('s')}", f"{name}_wait"):
        if whole in names:
            return f" (did you mean {whole}?)"
    near = get_close_matches(name.lower(), names, 10)
    near.sort(key=lambda one: sorted(one) != sorted(name.lower()))  # letters in another order are the likeliest slip
    return f" (did you mean {near[0]}?)" if near else ""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a plain-text table: the first column to the left, the others to the right, two-word heads on two lines."""
    body = [list(row) for row in rows]
    above = [name.rpartition(" ")[0] for name in header]
    below = [name.rpartition(" ")[2] for name in header]
    heads = [above, below] if any(above) else [below]
    widths = [max(len(line[i]) for line in [*heads, *body]) for i in range(len(header))]
    rule = ["-" * width for width in widths]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in [*heads, rule, *body]
    )


def exact_text(value: Any) -> str:
    """Return the shortest text that stands for exactly this value."""
    short = f"{value:g}" if isinstance(value, float) else str(value)
    return short if not isinstance(value, float) or float(short) == value else repr(value)
