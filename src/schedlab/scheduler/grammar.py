"""The grammar of scheduler texts, as data: parser, catalogue, shell completion and reference page read it.

    POLICY[@RUNTIMES][+BACKFILL[:ORDER][@RUNTIMES[/CORRECTION]]][,OPTION=VALUE...]

A policy is a name, a formula, or @FILE: the formula of a policy file. One @RUNTIMES at the end is for the order and for
reservations; one between policy and backfilling is for the order alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from schedlab.errors import InputError
from schedlab.scheduler.retries import GIVE_UP, GROWTH, parse_exhausted

ALIASES = {"easy++": "fcfs+easy:sjf@ave2/incremental", "e-loss": "fcfs+easy:sjf@e-loss/incremental"}
"""Whole schedulers with a name of their own (Tsafrir et al., TPDS 2007; Gaussier et al., SC 2015)."""

LONGEST_START = 1_000_000


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a scheduler text.

    Parameters
    ----------
    name
        Before the equals sign.
    value
        What stands behind it, for people.
    meaning
        In one sentence.
    default
        What holds without it, for people.
    read
        Returns the value that a text stands for, or raises InputError.
    write
        Returns the canonical text of a value.
    part
        Attribute of the scheduler that holds it: "backfill", "retries", or "" for the scheduler itself.
    field
        Its name there.
    usual
        The value that is not written.
    """

    name: str
    value: str
    meaning: str
    default: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    part: str = ""
    field: str = ""
    usual: Any = None

    @property
    def attribute(self) -> str:
        """Name of the field that holds the value."""
        return self.field or self.name


def _whole(name: str) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", text):
            raise InputError(f"option '{name}={text}': {text!r} is not a whole number from 0 to 10^18")
        return int(text)

    return read


def _number(name: str, what: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,12})?", text):
            raise InputError(f"option '{name}={text}': {text!r} is not {what}")
        return float(text)

    return read


def _fixed(text: str) -> bool:
    if text.lower() != "fixed":
        raise InputError(f"reservations={text}: they are fixed, or move without this option")
    return True


def _decimal(value: float) -> str:
    return f"{value:.12f}".rstrip("0").rstrip(".")


OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option(
            "starvation",
            "SECONDS",
            "a job that has waited so many seconds goes before all others (Carastan-Santos, thesis, 4.1.2.1)",
            "never",
            _whole("starvation"),
        ),
        Option(
            "window",
            "JOBS",
            "the scheduler sees only so many waiting jobs, the first that were submitted",
            "all waiting jobs",
            _whole("window"),
        ),
        Option(
            "start_delay",
            "SECONDS",
            "seconds that each start takes the scheduler, with the event order of SC'17 only",
            "a start takes no time",
            _number("start_delay", f"a number of seconds from 0 to {LONGEST_START}, such as 0.0026"),
            _decimal,
        ),
        Option(
            "reservations",
            "fixed",
            "fixed: those of conservative backfilling stand, in rounds, also when a job ends early (ICPP 2019)",
            "they move forward when a job ends early",
            _fixed,
            lambda _: "fixed",
            "backfill",
            "fixed",
            False,
        ),
        Option(
            "requests",
            "METHOD",
            "what jobs with a run-time distribution ask for, in turn",
            "what the workload says",
            str.lower,
            part="retries",
        ),
        Option(
            "exhausted",
            "give-up|FACTOR",
            "when all these requests have failed: give-up, or a factor for the next one",
            f"{GROWTH} times the last one, until it is enough",
            parse_exhausted,
            lambda factor: _decimal(factor) if factor else GIVE_UP,
            part="retries",
            usual=GROWTH,
        ),
        Option(
            "speculation",
            "SHARE",
            "run such jobs in gaps of which more than this share (0 to 1) is expected to be of use",
            "never",
            _number("speculation", "a share of 0 or more and below 1, such as 0.2"),
            _decimal,
            part="retries",
        ),
    )
}
"""By name, in the order of the canonical text."""
