"""The scheduler: it decides which job starts when, and has a short text that names it everywhere."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from schedlab.arguments import explained
from schedlab.errors import InputError, check_type
from schedlab.imports import check_imports
from schedlab.naming import checked_name, label_of, split_name
from schedlab.scheduler.backfilling import Backfill, Conservative, Easy, NoBackfill
from schedlab.scheduler.compatible import clash, features_of
from schedlab.scheduler.grammar import LONGEST_START, OPTIONS, PLACEMENTS
from schedlab.scheduler.own_pass import Pass, PassView
from schedlab.scheduler.own_predictor import OnlinePredictor
from schedlab.scheduler.policy import Policy
from schedlab.scheduler.predictor import CORRECTIONS, REQUESTED, Predictor
from schedlab.scheduler.predictor_text import as_predictor
from schedlab.scheduler.retries import Retries
from schedlab.scheduler.scheduler_text import as_backfill, as_policy, parts_of
from schedlab.wording import did_you_mean


@dataclass(frozen=True, slots=True, init=False)
class Scheduler:
    """A scheduler, which decides which job starts when.

    Parameters
    ----------
    policy
        Order of the queue: a `Policy`, its text, or a Python function as for `FunctionPolicy`.
    backfill
        Which jobs may overtake a head that does not fit: `NoBackfill`, `Easy`, `Conservative` or `Slurm`, or a text
        such as "none", "easy", "easy:sjf" or "slurm(depth=50)"; or a pass of one's own, in Python.
    runtimes
        Run times that reservations assume and, without `order_runtimes`, the order too: a `Predictor` or its text, such
        as "requested", "actual" (clairvoyant) or "ave2".
    order_runtimes
        Run times that the policy and the order of candidates assume, if not the same; None otherwise. They are computed
        once, when a job is submitted, and never corrected.
    correction
        The correction of a learned prediction in `runtimes` that has expired, one of `CORRECTIONS`; "incremental"
        unless given. None for run times that are not learned.
    starvation
        Wait, in seconds, above which a job precedes all others; None is never.
    window
        How many waiting jobs, counted by submission, the scheduler sees; None is all.
    start_delay
        Seconds that each start takes the scheduler, which does nothing else meanwhile; with the event order of SC'17
        only. None is no time.
    retries
        The requests of jobs with a run-time distribution, and their speculative runs; None: no run fails.
    placement
        Which nodes a job gets, one of `PLACEMENTS`, on a cluster of nodes; None is "weight".
    name
        Its name in tables, charts and reports; None: its text.

    Raises
    ------
    InputError
        If a part is invalid, or two parts are incompatible.

    Examples
    --------
    >>> print(Scheduler.parse("easy"))
    fcfs+easy
    >>> Scheduler.parse("saf+easy:sjf@actual,starvation=86400").starvation
    86400
    >>> Scheduler("saf", "easy", order_runtimes="similar").text
    'saf@similar+easy@requested'
    >>> Scheduler("saf", "easy", name="tomorrow").text
    'tomorrow=saf+easy'

    References
    ----------
    Lifka, JSSPP 1995 (EASY); Mu'alem & Feitelson, TPDS 2001 (EASY and conservative backfilling); Tsafrir et al.,
    TPDS 2007 (candidates ordered by predicted run time); Carastan-Santos' thesis, section 4.1.2.1 (starvation).
    """

    policy: Policy
    backfill: Backfill
    runtimes: Predictor
    order_runtimes: Predictor | None
    correction: str | None
    starvation: int | None
    window: int | None
    start_delay: float | None
    retries: Retries | None
    placement: str | None
    name: str | None
    _text: str | None = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        policy: Policy | str | Callable[..., Any],
        backfill: Backfill | Pass | Callable[[PassView], object] | str = "none",
        *,
        runtimes: Predictor | OnlinePredictor | str = REQUESTED,
        order_runtimes: Predictor | OnlinePredictor | str | None = None,
        correction: str | None = None,
        starvation: int | None = None,
        window: int | None = None,
        start_delay: float | None = None,
        retries: Retries | None = None,
        placement: str | None = None,
        name: str | None = None,
    ) -> None:
        queue_order, overtaking = as_policy(policy), as_backfill(backfill)
        if isinstance(overtaking, Easy) and overtaking.order == queue_order:
            overtaking = replace(overtaking, order=None)
        assumed = as_predictor(runtimes)
        ranking = assumed if order_runtimes is None else as_predictor(order_runtimes)
        if isinstance(overtaking, NoBackfill):
            assumed = ranking  # without backfilling, only the order depends on run times
        values = {
            "policy": queue_order,
            "backfill": overtaking,
            "runtimes": assumed,
            "order_runtimes": None if ranking == assumed else ranking,
            "correction": "incremental" if correction is None and assumed.learns else correction,
            "starvation": starvation,
            "window": window,
            "start_delay": start_delay,
            "retries": retries,
            "placement": placement,
            "name": None if name is None else checked_name(name),
        }
        for part, value in values.items():
            object.__setattr__(self, part, value)
        object.__setattr__(self, "_text", None)
        self._check()

    def _check(self) -> None:
        if self.correction is not None and not self.runtimes.learns:
            raise InputError(f"@{self.runtimes.text} is never corrected: remove /{self.correction}")
        if self.correction is not None and self.correction not in CORRECTIONS:
            near = did_you_mean(self.correction, CORRECTIONS)
            raise InputError(f"unknown correction /{self.correction}; known are /{' /'.join(CORRECTIONS)}{near}")
        for option in ("starvation", "window"):
            value = getattr(self, option)
            if value is not None and not isinstance(value, int):
                raise InputError(f"{option}={value!r} is not a whole number")
        if self.start_delay is not None and not 0 <= self.start_delay < LONGEST_START:
            raise InputError(f"start_delay={self.start_delay}: must be from 0 to {LONGEST_START} seconds")
        if self.starvation is not None and self.starvation < 0:
            raise InputError(f"starvation={self.starvation}: must be 0 seconds or more")
        if self.window is not None and self.window < 1:
            raise InputError(f"window={self.window}: must be at least 1 job")
        if self.retries is not None and not isinstance(self.retries, Retries):
            raise InputError(f"retries={self.retries!r}: give Retries(...) or None")
        if self.placement not in (None, *PLACEMENTS):
            raise InputError(f"placement={self.placement}: known are {' '.join(PLACEMENTS)}")
        if sentence := clash(features_of(self)):
            raise InputError(f"{self.text}: {sentence}")

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
        >>> Scheduler.parse("saf@similar+easy").text
        'saf@similar+easy@requested'
        """
        check_type(text, str, 'a scheduler text is written like "saf+easy"')
        name, rest = split_name(text)
        return cls(**parts_of(rest), name=name)

    @classmethod
    @explained
    def from_file(cls, text: str, source: str) -> Scheduler:
        """Read a scheduler text that a file holds: it names no code that the user has not allowed.

        Parameters
        ----------
        text
            The text.
        source
            The file, for messages.

        Raises
        ------
        InputError
            As `parse`; and if MODULE:NAME is not allowed.

        Examples
        --------
        >>> Scheduler.from_file("easy", "site.json").text
        'fcfs+easy'
        """
        check_imports([text], source)
        return cls.parse(text)

    @property
    def order(self) -> Policy | None:
        """The order in which EASY tries its candidates, if it is not the order of the queue."""
        return self.backfill.order if isinstance(self.backfill, Easy) else None

    @property
    def ranking(self) -> Predictor:
        """The run times that the policy and the order of candidates assume."""
        return self.runtimes if self.order_runtimes is None else self.order_runtimes

    @property
    def tries_again(self) -> bool:
        """Whether runs may fail at their requests and be retried, or reservations are fixed."""
        return self.retries is not None or (isinstance(self.backfill, Conservative) and self.backfill.fixed)

    @property
    def needs_distributions(self) -> bool:
        """Whether it is for workloads in which run times of some jobs follow a distribution."""
        return self.retries is not None

    @property
    def options(self) -> dict[str, str]:
        """The options that differ from the defaults, as texts by name, in the order of the canonical text."""
        found = {}
        for option in OPTIONS.values():
            holder = getattr(self, option.part) if option.part else self
            value = getattr(holder, option.attribute, option.usual)
            if value != option.usual:
                found[option.name] = option.write(value)
        return found

    @property
    def label(self) -> str:
        """Its name in tables and charts: its name, or its text."""
        return label_of(self.text)

    @property
    def text(self) -> str:
        """The canonical text, with the name before it if there is one; `Scheduler.parse` parses it."""
        if self._text is None:
            object.__setattr__(self, "_text", self._written())
        return str(self._text)

    def _written(self) -> str:
        parts = [self.policy.text if self.name is None else f"{self.name}={self.policy.text}"]
        if self.order_runtimes is not None:
            parts.append(f"@{self.order_runtimes.text}")
        if not isinstance(self.backfill, NoBackfill):
            parts.append(f"+{self.backfill.text}")
        if self.runtimes != REQUESTED or self.order_runtimes is not None:
            parts.append(f"@{self.runtimes.text}")
        if self.correction is not None:
            parts.append(f"/{self.correction}")
        return "".join([*parts, *(f",{name}={value}" for name, value in self.options.items())])

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        lines = [f"<code>{html.escape(self.text)}</code>"]
        for part, value in (("order", self.policy), ("backfilling", self.backfill)):
            meaning = " ".join((type(value).__doc__ or "").split("\n\n")[0].split())
            lines.append(f"{part}: {html.escape(meaning)}")
        return "<br>".join(lines)


def as_scheduler(given: object) -> Scheduler:
    """Return a scheduler, given as a text or as an object, as an object.

    Raises
    ------
    InputError
        If it is neither, or the text is not a scheduler.

    Examples
    --------
    >>> as_scheduler("easy").text
    'fcfs+easy'
    """
    if isinstance(given, str):
        return Scheduler.parse(given)
    if isinstance(given, Scheduler):
        return given
    if isinstance(given, Policy):
        raise InputError(f"{given!r} is a policy, not a whole scheduler: write Scheduler({given!r})")
    if callable(given):
        name = getattr(given, "__name__", type(given).__name__)
        wrapped = f"Scheduler({name})" if name.isidentifier() else "Scheduler(...) around it"
        raise InputError(f"{name} is not a scheduler: write {wrapped} for a policy")
    raise InputError(f"{given!r} is not a scheduler: give a text such as 'saf+easy', or a Scheduler")


def as_schedulers(
    given: str | Scheduler | Iterable[str | Scheduler] | Mapping[str, str | Scheduler],
) -> list[Scheduler]:
    """Return one or several schedulers, given as texts or objects, as objects; a mapping names them.

    Raises
    ------
    InputError
        If a text is not a scheduler, or a name is not valid.

    Examples
    --------
    >>> [str(one) for one in as_schedulers({"today": "easy", "tomorrow": Scheduler("saf", "easy")})]
    ['today=fcfs+easy', 'tomorrow=saf+easy']
    """
    if isinstance(given, str | Scheduler):
        given = [given]
    if not isinstance(given, Iterable):
        raise InputError(f"{given!r} names no schedulers: give texts such as 'saf+easy', or a Scheduler")
    if isinstance(given, Mapping):
        return [replace(one, name=name) for name, one in zip(given, as_schedulers(given.values()), strict=True)]
    return [as_scheduler(one) for one in given]
