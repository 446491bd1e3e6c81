"""What only the command line of a job tells: the column SubmitLine of sacct, which is there since Slurm 21.08.

Slurm keeps the words of the command with blanks between them, without quotes, so a value with blanks looks like several
words. Options are read up to the first word that is none, which is the script or the program; what follows are its own
arguments. Options in the script itself (#SBATCH) are in no column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from schedlab.errors import InputError
from schedlab.workload.sbatch import FLAGS, LONG, switches_of

if TYPE_CHECKING:
    from schedlab.workload._sacct_columns import SacctColumns

COMMANDS = ("sbatch", "srun", "salloc")
OTHER_FLAGS = (
    *("get-user-env", "help", "ignore-pbs", "kill-on-bad-exit", "label", "no-kill", "no-shell", "parsable"),
    *("preserve-env", "pty", "quiet", "reboot", "spread-job", "test-only", "unbuffered", "usage", "use-min-nodes"),
    *("verbose", "version", "wait", *"EKQWXZhkluv"),
)
"""Further options of these commands without a value, of one letter as they are."""

LAST = "wrap"
"""The option whose value is a command of its own; nothing behind it is an option."""

NOT_SIMULATED = ("begin", "contiguous", "dependency")
"""Options that say when or where a job may start, and that no other column has."""


class Wish(NamedTuple):
    """What a job asked for: leaf switches and how long it waits for them in seconds, whole nodes, nodes that it names
    and those that it excludes, and options that are not simulated."""

    switches: int = 0
    switch_wait: int = 0
    exclusive: int = 0
    nodelist: str = ""
    exclude: str = ""
    other: tuple[str, ...] = ()


def wishes_of(columns: SacctColumns) -> tuple[dict[str, Any], list[str]]:
    """Return the columns of `Resources` that the command lines tell, and notes about what is not simulated.

    Each component of a heterogeneous job has its own part of the line, between colons.
    """
    if "SubmitLine" not in columns:
        return {}, []
    name = columns.first("JobID", "JobIDRaw")
    identifiers, lines = (columns.table[one].to_pylist() for one in (str(name), "SubmitLine"))
    wishes = [wish_of(line or "", _offset(text)) for line, text in zip(lines, identifiers, strict=True)]
    columns.refuse("SubmitLine", np.array([wish is None for wish in wishes]), "whose switches are no number or time")
    found = [wish or Wish() for wish in wishes]
    counts = Counter(option for wish in found for option in wish.other)
    told = ", ".join(f"--{option} {count:,}" for option, count in sorted(counts.items()))
    names = ("switches", "switch_wait", "exclusive")
    asked: dict[str, Any] = {one: np.array([getattr(wish, one) for wish in found], dtype=np.int64) for one in names}
    asked |= {one: [getattr(wish, one) for wish in found] for one in ("nodelist", "exclude")}
    return asked, [f"options in SubmitLine that are not simulated, and jobs with them: {told}"] if told else []


def _offset(identifier: str) -> int:
    """Return which component of a heterogeneous job a record is (1 for 123+1), 0 for other jobs."""
    offset = identifier.partition("+")[2]
    return int(offset) if offset.isdecimal() and len(offset) < 6 else 0


@lru_cache(maxsize=65536)
def wish_of(line: str, component: int) -> Wish | None:
    """Return what a command line asks for, None if a value is not valid."""
    words = line.split()
    if not words or words[0].rpartition("/")[2] not in COMMANDS:
        return Wish()
    parts = list(_parts(words[1:]))
    asked = dict(_options(parts[min(component, len(parts) - 1)]))
    try:
        switches, seconds = switches_of(asked.get("switches", "0"))
    except InputError:
        return None
    other = tuple(option for option in NOT_SIMULATED if option in asked)
    lists = [asked.get(option, "") for option in ("nodelist", "exclude")]
    named, excluded = ("" if "/" in text else text for text in lists)  # the name of a file
    return Wish(switches, seconds, int(asked.get("exclusive") == ""), named, excluded, other)


def _parts(words: list[str]) -> Iterator[list[str]]:
    """Yield the words of each component."""
    while ":" in words:
        place = words.index(":")
        yield words[:place]
        words = words[place + 1 :]
    yield words


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the options, with their long names and values, up to the first word that is none."""
    rest = iter(words)
    for word in rest:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if not equals and name not in (*FLAGS, *OTHER_FLAGS):
                value = next(rest, "")
        elif word.startswith("-") and len(word) > 1:
            name, value = LONG.get(word[1], word[1]), word[2:].removeprefix("=")
            if not value and word[1] not in (*FLAGS, *OTHER_FLAGS):
                value = next(rest, "")
        else:
            return
        yield name, value
        if name == LAST:
            return
