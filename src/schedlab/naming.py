"""Names that users give to schedulers: "today=multifactor(age=1000)+slurm" is called today in tables and charts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from schedlab.errors import InputError
from schedlab.wording import shown

LONGEST_NAME = 40

_NAMED = re.compile(r"\s*(?P<name>[^\W\d_](?:[\w .-]*[\w.-])?)\s*=(?!=)", re.ASCII)
"""A bracket, a comma or a sign before the first "=" is a part of the scheduler, and no name."""


def split_name(text: str) -> tuple[str | None, str]:
    """Return the name of a scheduler text, or None, and what it stands for.

    Raises
    ------
    InputError
        If the name is too long, or nothing follows it.

    Examples
    --------
    >>> split_name("today = fcfs+easy"), split_name("fcfs+slurm(depth=50)")
    (('today', ' fcfs+easy'), (None, 'fcfs+slurm(depth=50)'))
    """
    match = _NAMED.match(text)
    if match is None:
        return None, text
    if not text[match.end() :].strip():
        raise InputError(f"scheduler {shown(text)}: no scheduler follows the name: write for example today=fcfs+easy")
    return checked_name(match["name"]), text[match.end() :]


def checked_name(name: object) -> str:
    """Return a name as it is.

    Raises
    ------
    InputError
        If it is none.
    """
    match = _NAMED.fullmatch(f"{name}=") if isinstance(name, str) else None
    if not isinstance(name, str) or match is None or match["name"] != name or len(name) > LONGEST_NAME:
        raise InputError(
            f"{shown(name)} cannot name a scheduler: use a letter, then letters, digits, blanks and . _ -, "
            f"at most {LONGEST_NAME}"
        )
    return name


def label_of(text: str) -> str:
    """Return what tables and charts call a scheduler: its name, or the text of one that has none.

    A name does not hide that a scheduler is clairvoyant.

    Examples
    --------
    >>> label_of("today=fcfs+easy"), label_of("bound=saf@actual+easy"), label_of("saf+easy")
    ('today', 'bound (@actual)', 'saf+easy')
    """
    name, rest = split_name(text)
    if name is None:
        return text
    # The room of schedulers needs libraries that take long to load, and stands above this module.
    from schedlab.scheduler.predictor import is_clairvoyant

    return f"{name} (@actual)" if is_clairvoyant(rest) else name


def distinct_labels(texts: Iterable[str]) -> dict[str, str]:
    """Return texts by what tables call them.

    Raises
    ------
    InputError
        If two different ones have the same name.

    Examples
    --------
    >>> distinct_labels(["today=fcfs+easy", "saf"])
    {'today': 'today=fcfs+easy', 'saf': 'saf'}
    """
    found: dict[str, str] = {}
    for text in texts:
        label = label_of(text)
        if found.setdefault(label, text) != text:
            raise InputError(f"two different schedulers are called {label}: {found[label]} and {text}")
    return found
