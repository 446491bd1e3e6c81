"""The grammar of scheduler texts, as data for the parser, the catalogue, shell completion and the reference page.

    POLICY[@RUNTIMES][+BACKFILL[:ORDER][@RUNTIMES[/CORRECTION]]][,OPTION=VALUE...]

A policy is a name, a formula, or @FILE: the formula of a policy file. An @RUNTIMES at the end applies to the order and
to reservations; one between policy and backfilling applies to the order alone.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from schedlab.durations import is_duration, parse_duration
from schedlab.errors import InputError
from schedlab.scheduler.arguments import Argument, arguments
from schedlab.scheduler.backfilling import Conservative, Easy, Slurm
from schedlab.scheduler.log_regression import LogRegression
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import ALIASES as POLICY_ALIASES
from schedlab.scheduler.policy import POLICIES as POLICY_CLASSES
from schedlab.scheduler.predictor import (
    CORRECTIONS,
    Actual,
    GroupMean,
    RecentAverage,
    Regression,
    Requested,
    SimilarQuantile,
    UserMean,
    UserQuantile,
)
from schedlab.scheduler.request_method import METHODS
from schedlab.scheduler.retries import GIVE_UP, GROWTH, parse_exhausted

SYNTAX = "POLICY[@RUNTIMES][+BACKFILL[:ORDER][@RUNTIMES[/CORRECTION]]][,OPTION=VALUE...]"


class Part(NamedTuple):
    """A part of a scheduler text, for readers: its possible values, and its default."""

    name: str
    values: str
    default: str


PARTS = (
    Part(
        "POLICY",
        "a policy, a formula, @FILE or multifactor(...): the order of the queue; or @agent:FILE",
        "none: it must be given",
    ),
    Part("@RUNTIMES", "behind POLICY: the run times that POLICY and ORDER assume", "those at the end"),
    Part(
        "+BACKFILL",
        "easy, conservative, slurm or slurm(...), malleable; or MODULE:NAME(...), a pass in Python",
        "no job overtakes a blocked head",
    ),
    Part(":ORDER", "with easy: a policy, the order in which candidates are tried", "the order of the queue"),
    Part("@RUNTIMES", "at the end: the run times that reservations assume; alone, the order too", "requested"),
    Part("/CORRECTION", "what follows when a learned prediction has expired", "incremental"),
)
"""In the order of the text."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A word of the grammar.

    Parameters
    ----------
    written
        Its form in a text; capitals are placeholders.
    meaning
        In one sentence.
    kind
        The class that it denotes, which declares its arguments; None if there is none.
    aliases
        Other names of it.
    """

    written: str
    meaning: str
    kind: type | None = None
    aliases: tuple[str, ...] = ()

    @property
    def arguments(self) -> dict[str, tuple[Argument, Any]]:
        """Its arguments by name, each with its default value."""
        return {} if self.kind is None else arguments(self.kind)


def _summary(kind: type) -> str:
    """Return the first paragraph of the documentation of a class."""
    return " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split())


POLICIES: dict[str, Entry] = {
    name: Entry(name, _summary(kind), kind, tuple(alias for alias, known in POLICY_ALIASES.items() if known == name))
    for name, kind in POLICY_CLASSES.items()
} | {"multifactor": Entry("multifactor(...)", "Slurm's priority, the largest first.", Multifactor)}

BACKFILLING: dict[str, Entry] = {
    "easy": Entry(
        "easy",
        "a job may overtake if it does not delay the reservation of the head of the queue (Lifka, JSSPP 1995)",
        Easy,
    ),
    "conservative": Entry(
        "conservative",
        "every job has a reservation that no other may delay (Mu'alem & Feitelson, TPDS 2001)",
        Conservative,
    ),
    "slurm": Entry(
        "slurm(...)", "Slurm's main pass after events and its backfill pass, with the arguments below", Slurm
    ),
    "malleable": Entry(
        "malleable",
        "easy, in which malleable jobs shrink to let the head of the queue start, and grow into what is idle (after "
        "Buisson et al., CLUSTER 2007)",
    ),
}

ORDERED = Entry(
    "easy:ORDER", "the same, with its candidates tried in the order of another policy (Tsafrir et al., TPDS 2007)"
)

RUN_TIMES: dict[str, Entry] = {
    "requested": Entry("requested", "what the users asked for; the default", Requested),
    "actual": Entry("actual", "every run time is known beforehand (clairvoyant)", Actual),
    "ave2": Entry("ave2", "the mean of the user's last two completed jobs (Tsafrir et al., TPDS 2007)", RecentAverage),
    "ave": Entry("ave(K)", "the mean of the user's last K completed jobs", RecentAverage),
    "mean": Entry("mean", "the mean of all completed jobs of the user", UserMean),
    "median": Entry("median", "the median of the user's last 50 completed jobs", UserQuantile),
    "quantile": Entry(
        "quantile(P)", "a quantile of them, such as 0.9; quantile(0.9,jobs=20) for 20 jobs", UserQuantile
    ),
    "similar": Entry(
        "similar",
        "the median of the user's last 5 jobs with the same request and processors; similar(0.3,jobs=20)",
        SimilarQuantile,
    ),
    "groups": Entry(
        "groups(...)",
        "the request times the share of it that runs with the same user and request use, in the geometric mean, "
        "shrunk to wider groups; groups(user.executable,mean=arithmetic)",
        GroupMean,
    ),
    "nag": Entry("nag(...)", "regression learned online (Gaussier et al., SC 2015)", Regression),
    "log-nag": Entry(
        "log-nag(...)",
        "the same on the logarithm of the share of the request; log-nag(pairs) learns the order of areas",
        LogRegression,
    ),
    "e-loss": Entry(
        "e-loss", "nag(over=square,under=linear,weight=area), the loss that SC 2015 recommends", Regression
    ),
}

OWN_PREDICTOR = Entry("MODULE:CLASS", "a class of your own, in a module of the current directory or an installed one")

CORRECTION: dict[str, Entry] = {
    name: Entry(name, meaning)
    for name, meaning in zip(
        CORRECTIONS,
        (
            "the requested time",
            "the first prediction and 1 min, then 5, 15, 30 min, 1, 2, 5, 10, 20, 50, 100 h; the default",
            "twice the last prediction",
        ),
        strict=True,
    )
}

ALIASES = {
    "easy++": "fcfs+easy:sjf@ave2/incremental",
    "e-loss": "fcfs+easy:sjf@e-loss/incremental",
    "eaf": "saf@groups+easy@requested",
    "aged-eaf": '"log(p*q)+r/43200"@groups+easy@requested',
}
"""Named schedulers: Tsafrir et al., TPDS 2007; Gaussier et al., SC 2015; and two of this project."""

ORDERS = ("eaf", "aged-eaf")
"""Of these, the ones that are an order of the queue beside EASY: a site that takes one keeps its own passes."""

PLACEMENTS = {
    "first": "the first nodes with room",
    "weight": "nodes of the least weight, of equal ones the first",
    "best": "nodes with the least left free",
    "spread": "nodes with the most left free",
    "fgd": "nodes whose GPUs are least fragmented by the job (Weng et al., ATC 2023)",
    "switches": "nodes of the least weight below as few and as near switches as possible, as Slurm's topology/tree",
    "consecutive": "nodes of the least weight side by side, where they fit best, as Slurm without a topology",
}
"""Rules for the choice of nodes."""

LONGEST_START = 1_000_000


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a scheduler text.

    Parameters
    ----------
    name
        Before the equals sign.
    value
        The form of the value, for readers.
    meaning
        In one sentence.
    default
        The default, for readers.
    read
        Function that returns the value of a text, or raises InputError.
    write
        Function that returns the canonical text of a value.
    part
        Attribute of the scheduler that holds it: "backfill", "retries", or "" for the scheduler itself.
    field
        Its name there.
    usual
        The default value, which is omitted from texts.
    words
        The possible values, if they are few.
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
    words: tuple[str, ...] = ()

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


def _duration(name: str) -> Callable[[str], int]:
    def read(text: str) -> int:
        if text.isdigit() or not is_duration(text):
            return _whole(name)(text)
        seconds = parse_duration(text)
        if not 0 <= seconds < 10**18:
            raise InputError(f"option '{name}={text}': must be a duration of 0 or more")
        return round(seconds)

    return read


def _number(name: str, what: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,12})?", text):
            raise InputError(f"option '{name}={text}': {text!r} is not {what}")
        return float(text)

    return read


def _fixed(text: str) -> bool:
    if text.lower() != "fixed":
        raise InputError(f"reservations={text}: the only value is fixed (without it reservations move)")
    return True


def _decimal(value: float) -> str:
    return f"{value:.12f}".rstrip("0").rstrip(".")


OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option(
            "starvation",
            "SECONDS",
            "a job that has waited longer than this, in seconds or as a duration such as 1d, goes before all others "
            "(Carastan-Santos, thesis, 4.1.2.1)",
            "never",
            _duration("starvation"),
        ),
        Option(
            "window",
            "JOBS",
            "number of waiting jobs that the scheduler sees, in order of submission",
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
            ("fixed",),
        ),
        Option(
            "requests",
            "METHOD",
            "what jobs with a run-time distribution ask for, in turn",
            "what the workload says",
            str.lower,
            part="retries",
            words=tuple(METHODS),
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
            words=(GIVE_UP,),
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
        Option(
            "placement",
            "RULE",
            "on a cluster of nodes, which ones a job gets: those with the least weight, the first, best fit, ...",
            "weight",
            str.lower,
            words=tuple(PLACEMENTS),
        ),
    )
}
"""By name, in the order of the canonical text."""

EXAMPLES = (
    "fcfs",
    "fcfs+easy",
    "saf+easy:sjf@actual",
    "saf@similar+easy@requested",
    "spf+conservative",
    "fcfs+easy:sjf@ave2/doubling",
    "fcfs+easy:sjf@nag(over=linear,features=paper)/incremental",
    "wfp3+easy,starvation=86400",
    '"log10(p)*q + 870*log10(r)"+easy',
    "multifactor(age=1000,size=100,fairshare=5000)+slurm(depth=100)",
)
