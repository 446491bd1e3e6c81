"""The scheduler text: one short text that names a scheduler everywhere, and the object it stands for.

POLICY[+BACKFILL[:ORDER]][@RUNTIMES[/CORRECTION]][,starvation=SECONDS][,window=JOBS][,start_delay=SECONDS]
[,reservations=fixed][,requests=METHOD][,exhausted=give-up|FACTOR][,speculation=SHARE]

A policy is a name, a formula, or @FILE: the formula of a policy file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any, Literal, cast

from schedlab.errors import InputError
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import FCFS, SPF, Policy
from schedlab.scheduler.policy_file import with_formulas
from schedlab.scheduler.policy_text import policy_from_text
from schedlab.scheduler.predictor import CORRECTIONS, REQUESTED, Actual, Predictor
from schedlab.scheduler.predictor_text import as_predictor, predictor_from_text
from schedlab.scheduler.request_method import request_method
from schedlab.scheduler.slurm_backfill import SlurmBackfill

Backfill = Literal["none", "easy", "conservative", "slurm"]

BACKFILLS = ("easy", "conservative", "slurm")
ALIASES = {"easy++": "fcfs+easy:sjf@ave2/incremental", "e-loss": "fcfs+easy:sjf@e-loss/incremental"}
"""Whole schedulers with a name of their own (Tsafrir et al., TPDS 2007; Gaussier et al., SC 2015)."""

LONGEST_START = 1_000_000
OPTIONS = ("starvation", "window", "start_delay", "reservations", "requests", "exhausted", "speculation")

GIVE_UP = "give-up"

GROWTH = 1.5
"""A job whose requests have all failed asks for so many times its last one, as in the experiments of ICPP'19."""

LARGEST_GROWTH = 1_000

NUMBERS = {
    "start_delay": f"a number of seconds from 0 to {LONGEST_START}, such as 0.0026",
    "speculation": "a share of 0 or more and below 1, such as 0.2",
}
"""What the options that are not whole numbers are."""

_ARGUMENTS = r"(?P<arguments>\([^()]*\))?\s*"
_BACKFILL = re.compile(rf"(?P<name>{'|'.join(BACKFILLS)})\s*{_ARGUMENTS}(?P<order>:.*)?", re.DOTALL | re.IGNORECASE)
_BACKFILL_AT_THE_END = re.compile(rf"(?P<policy>.*)\+\s*(?P<name>[A-Za-z]+)\s*{_ARGUMENTS}(?P<order>:.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Scheduler:
    """What decides which job starts when.

    Parameters
    ----------
    policy
        Order of the queue.
    backfill
        "none": nobody overtakes a blocked head. "easy": jobs that do not delay the head's reservation may.
        "conservative": every job has a reservation, and jobs that delay none may overtake. "slurm": the two passes of
        Slurm, see `slurm`.
    order
        Order in which EASY tries its candidates; None is the order of the queue.
    runtimes
        Run time that the scheduler assumes: a `Predictor` or its text, such as "requested", "actual" (clairvoyant) or
        "ave2".
    correction
        What follows when a learned prediction has expired, one of `CORRECTIONS`; "incremental" unless something else
        is said. None for run times that are not learned.
    starvation
        Seconds after which a waiting job goes before all others; None is never.
    window
        How many waiting jobs, counted by submission, the scheduler sees; None is all.
    start_delay
        Seconds that each start takes the scheduler, which does nothing else meanwhile; with the event order of SC'17
        only. None is no time.
    reservations
        "fixed": with conservative backfilling, in rounds; a reservation that has been made stands, also when a job ends
        early (Gainaru et al., ICPP 2019). None: they move forward.
    requests
        What jobs with a law of run times ask for: "classic", "neuroscience(k=10)", "toptimal", "atoptimal(zeta=0.1)" or
        "given", see `schedlab.speculate.requests`. None: what the workload says.
    exhausted
        What such a job asks for when all its requests have failed: so many times its last one, as often as it takes. 0:
        nothing, it is given up. The default is `GROWTH`.
    speculation
        Run such jobs speculatively in gaps of which more than this share is expected to be of use; None: never.
    slurm
        With slurm backfilling: how its passes work; None is Slurm's defaults.

    Raises
    ------
    InputError
        If the parts do not fit together.

    Examples
    --------
    >>> print(Scheduler.parse("easy"))
    fcfs+easy
    >>> Scheduler.parse("saf+easy:sjf@actual,starvation=86400").starvation
    86400

    References
    ----------
    Lifka, JSSPP 1995 (EASY); Mu'alem & Feitelson, TPDS 2001 (EASY and conservative backfilling); Tsafrir et al.,
    TPDS 2007 (candidates ordered by predicted run time); Carastan-Santos' thesis, section 4.1.2.1 (starvation).
    """

    policy: Policy
    backfill: Backfill = "none"
    order: Policy | None = None
    runtimes: Predictor = REQUESTED
    starvation: int | None = None
    window: int | None = None
    correction: str | None = None
    start_delay: float | None = None
    reservations: Literal["fixed"] | None = None
    requests: str | None = None
    exhausted: float = GROWTH
    speculation: float | None = None
    slurm: SlurmBackfill | None = None

    def __post_init__(self) -> None:
        for policy in (self.policy, self.order):
            if policy is not None and not isinstance(policy, Policy):
                raise InputError(
                    f"{policy!r} is not a policy; Scheduler.parse reads a text, FunctionPolicy takes a function"
                )
        if self.backfill not in ("none", *BACKFILLS):
            raise InputError(f"unknown backfilling {self.backfill!r}; known are {' '.join(BACKFILLS)}")
        if self.order is not None and self.backfill != "easy":
            raise InputError("a candidate order (:ORDER) belongs to easy backfilling only")
        if self.order == self.policy:
            object.__setattr__(self, "order", None)
        object.__setattr__(self, "runtimes", as_predictor(self.runtimes))
        self._check_correction()
        for option in ("starvation", "window"):
            value = getattr(self, option)
            if value is not None and not isinstance(value, int):
                raise InputError(f"{option}={value!r} is not a whole number")
        if self.start_delay is not None and not 0 <= self.start_delay < LONGEST_START:
            raise InputError(f"start_delay={self.start_delay}: a start takes from 0 to {LONGEST_START} seconds")
        if self.starvation is not None and self.starvation < 0:
            raise InputError(f"starvation={self.starvation}: the threshold is in seconds, at least 0")
        if self.window is not None and self.window < 1:
            raise InputError(f"window={self.window}: the scheduler must see at least 1 job")
        if self.backfill == "conservative" and (self.window is not None or self.starvation is not None):
            raise InputError(
                "conservative backfilling gives every job a reservation: it goes neither with window= nor starvation="
            )
        self._check_requests()
        self._check_slurm()

    def _check_slurm(self) -> None:
        if self.backfill == "slurm" and self.slurm is None:
            object.__setattr__(self, "slurm", SlurmBackfill())
        if self.slurm is not None and self.backfill != "slurm":
            raise InputError("options of Slurm's passes belong to slurm backfilling")
        if isinstance(self.order, Multifactor):
            raise InputError("multifactor orders the queue; it is no order of candidates")
        if isinstance(self.policy, Multifactor) and self.backfill == "conservative":
            raise InputError(
                "multifactor priorities go with no backfilling, +easy or +slurm; +slurm(interval=0,resolution=1) plans "
                "for everybody at every event"
            )
        if self.plans and (reason := self.not_with_plans):
            raise InputError(f"{self.text}: multifactor and +slurm do not go with {reason}")

    @property
    def plans(self) -> bool:
        """Whether this is Slurm's priority or its passes."""
        return self.backfill == "slurm" or isinstance(self.policy, Multifactor)

    @property
    def not_with_plans(self) -> str:
        """What of this scheduler goes neither with Slurm's passes nor with jobs that wait for others; or nothing."""
        if self.backfill == "conservative":
            return "+conservative"
        if self.order is not None:
            return "an order of candidates"
        if self.runtimes not in (REQUESTED, Actual()):
            return f"@{self.runtimes.text}"
        if self.policy.program is None and not isinstance(self.policy, Multifactor):
            return "a policy that is a Python function"
        given = {option.name for option in fields(self) if getattr(self, option.name) != option.default}
        return next((f"{option}=" for option in OPTIONS if option in given), "")

    def _check_requests(self) -> None:
        if self.reservations not in (None, "fixed"):
            raise InputError(f"reservations={self.reservations}: they are fixed, or move without this option")
        if self.reservations is not None and self.backfill != "conservative":
            raise InputError("reservations=fixed belongs to conservative backfilling, which gives everybody one")
        if self.speculation is not None and not 0 <= self.speculation < 1:
            raise InputError(f"speculation={self.speculation}: the share of a gap is 0 or more and below 1")
        if self.speculation is not None and self.backfill == "none":
            raise InputError("speculation= uses gaps before reservations: add +easy or +conservative")
        if self.requests is not None:
            object.__setattr__(self, "requests", request_method(self.requests))
        elif self.exhausted != GROWTH:
            raise InputError("exhausted= says what follows the requests of a method: name one (requests=)")
        if self.exhausted != 0 and not 1 < self.exhausted <= LARGEST_GROWTH:
            raise InputError(
                f"exhausted={self.exhausted}: it is {GIVE_UP}, or a factor above 1 (and at most {LARGEST_GROWTH:,}) by "
                "which requests grow"
            )
        if self.tries_again and self.runtimes != REQUESTED:
            raise InputError(
                f"{self.text}: jobs that may fail are scheduled by their requests; leave @{self.runtimes.text} out"
            )

    @property
    def tries_again(self) -> bool:
        """Whether runs may fail at their requests and come back, or reservations are fixed."""
        return any(option is not None for option in (self.reservations, self.requests, self.speculation))

    @property
    def needs_laws(self) -> bool:
        """Whether it is for workloads in which run times of some jobs follow a law."""
        return self.requests is not None or self.speculation is not None

    def _check_correction(self) -> None:
        if not self.runtimes.learns:
            if self.correction is not None:
                raise InputError(f"@{self.runtimes.text} is never corrected: leave /{self.correction} out")
        elif self.correction is None:
            object.__setattr__(self, "correction", "incremental")
        elif self.correction not in CORRECTIONS:
            raise InputError(f"unknown correction /{self.correction}; known are /{' /'.join(CORRECTIONS)}")

    @classmethod
    def parse(cls, text: str) -> Scheduler:
        """Read a scheduler text.

        Raises
        ------
        InputError
            If some part is unknown; the message names it and lists what is known.

        Examples
        --------
        >>> str(Scheduler.parse(" FCFS + EASY : sjf @ actual "))
        'fcfs+easy:sjf@actual'
        """
        text = with_formulas(text)
        whole, comma, rest = text.partition(",")
        text = ALIASES.get(whole.strip().lower(), whole) + comma + rest
        front, runtimes, options = _split(text)
        policy, backfill, order, slurm = _parse_front(front, text)
        assumed, slash, correction = runtimes.rpartition("/") if "/" in runtimes else (runtimes, "", "")
        values: dict[str, Any] = {}
        for option in options:
            name, value = _parse_option(option)
            if name in values:
                raise InputError(f"scheduler {text!r}: {name}= is given twice")
            values[name] = value
        return cls(
            policy,
            backfill,
            order,
            predictor_from_text(assumed),
            values.get("starvation"),
            values.get("window"),
            correction.strip().lower() if slash else None,
            **{name: values[name] for name in OPTIONS[2:] if name in values},
            slurm=slurm,
        )

    @property
    def text(self) -> str:
        """The canonical text; `Scheduler.parse` reads it back."""
        parts = [self.policy.text]
        if self.backfill != "none":
            parts.append(f"+{self.backfill}" if self.slurm is None else f"+{self.slurm.text}")
        if self.order is not None:
            parts.append(":sjf" if self.order == SPF() else f":{self.order.text}")
        if self.runtimes != REQUESTED:
            parts.append(f"@{self.runtimes.text}")
        if self.correction is not None:
            parts.append(f"/{self.correction}")
        parts += [
            f",{name}={getattr(self, name)}" for name in ("starvation", "window") if getattr(self, name) is not None
        ]
        if self.start_delay is not None:
            parts.append(f",start_delay={_decimal(self.start_delay)}")
        parts += [f",{name}={getattr(self, name)}" for name in ("reservations", "requests") if getattr(self, name)]
        if self.exhausted != GROWTH:
            parts.append(f",exhausted={_decimal(self.exhausted) if self.exhausted else GIVE_UP}")
        if self.speculation is not None:
            parts.append(f",speculation={_decimal(self.speculation)}")
        return "".join(parts)

    def __str__(self) -> str:
        return self.text


def _split(text: str) -> tuple[str, str, list[str]]:
    """Cut a text into what stands before "@", the run times, and the options, heeding brackets and quotes."""
    pieces = [""]
    depth = 0
    quote = ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        else:
            depth += (character == "(") - (character == ")")
        if character in "@," and not quote and depth <= 0:
            pieces.append(character)
        else:
            pieces[-1] += character
    if quote:
        raise InputError(f"scheduler {text!r}: a quotation mark is not closed")
    if depth > 0:
        raise InputError(f"scheduler {text!r}: a bracket is not closed")
    front, *rest = pieces
    runtimes = "requested"
    if rest and rest[0].startswith("@"):
        runtimes = rest.pop(0)[1:].strip()
    for piece in rest:
        if piece.startswith("@"):
            raise InputError(f"scheduler {text!r}: {piece!r} must stand before the options and only once")
    return front.strip(), runtimes, [piece[1:].strip() for piece in rest]


def _parse_front(front: str, text: str) -> tuple[Policy, Backfill, Policy | None, SlurmBackfill | None]:
    """Read POLICY[+BACKFILL[:ORDER]]; a formula may hold "+" itself, so backfilling is looked for at the end."""
    if not front or front.startswith("+"):
        raise InputError(f"scheduler {text!r}: no policy is named; write for example fcfs+easy or saf+easy")
    if match := _BACKFILL.fullmatch(front):
        return FCFS(), *_parse_backfill(match, text)
    match = _BACKFILL_AT_THE_END.fullmatch(front)
    if match is None or (front[-1] in "\"'" and match["order"] is None):
        return policy_from_text(front), "none", None, None
    backfill = match["name"].lower()
    if backfill not in BACKFILLS:
        # The last term of a formula, as in p + q or p + sqrt(q).
        if (len(match["name"]) == 1 or match["arguments"]) and match["order"] is None:
            return policy_from_text(front), "none", None, None
        raise InputError(f"scheduler {text!r}: unknown backfilling {backfill!r}; known are {' '.join(BACKFILLS)}")
    return policy_from_text(match["policy"]), *_parse_backfill(match, text)


def _parse_backfill(match: re.Match[str], text: str) -> tuple[Backfill, Policy | None, SlurmBackfill | None]:
    """Read BACKFILL[(...)][:ORDER]."""
    backfill = cast(Backfill, match["name"].lower())
    if match["arguments"] and backfill != "slurm":
        raise InputError(f"scheduler {text!r}: {backfill} backfilling has no arguments; slurm has")
    slurm = SlurmBackfill.parse(match["name"] + (match["arguments"] or "")) if backfill == "slurm" else None
    order = match["order"]
    return backfill, policy_from_text(order[1:]) if order is not None else None, slurm


def parse_exhausted(text: str) -> float:
    """Read what follows the last request of a job: "give-up", which is 0, or a factor.

    Raises
    ------
    InputError
        If it is neither.
    """
    if text.strip().lower() == GIVE_UP:
        return 0.0
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,12})?", text.strip()) or not float(text):
        raise InputError(f"exhausted={text}: write {GIVE_UP}, or a factor such as {GROWTH}")
    return float(text)


def _decimal(value: float) -> str:
    return f"{value:.12f}".rstrip("0").rstrip(".")


def _parse_option(option: str) -> tuple[str, Any]:
    name, equals, value = (part.strip() for part in option.partition("="))
    if name not in OPTIONS or not equals:
        raise InputError(f"unknown option {option!r}; known are {' '.join(known + '=' for known in OPTIONS)}")
    if name in ("reservations", "requests"):
        return name, value.lower()
    if name == "exhausted":
        return name, parse_exhausted(value)
    if name in NUMBERS:
        if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,12})?", value):
            raise InputError(f"option {option!r}: {value!r} is not {NUMBERS[name]}")
        return name, float(value)
    if not re.fullmatch(r"[0-9]{1,18}", value):
        raise InputError(f"option {option!r}: {value!r} is not a whole number from 0 to 10^18")
    return name, int(value)
