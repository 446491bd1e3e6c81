"""Scheduling passes in Python: what they are asked, what they see, and the texts MODULE:NAME(...) that name them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.kernels import config
from schedlab.scheduler.own_objects import copied_object, named_object, shown_object
from schedlab.wording import shown

FUTURE = ("run_time", "wait_time", "status", "average_cpu_time", "used_memory")
"""Columns of the workload that a pass may not see: of jobs that have ended, the view tells the run times."""


class Ended(NamedTuple):
    """Jobs that have ended, and how long they ran, in seconds."""

    job: NDArray[np.int64]
    run_time: NDArray[np.int64]


class PassView(ABC):
    """What a pass sees in one second, and what it may do. Jobs are numbers, 0 is the one that was submitted first.

    Columns are arrays over all jobs, to be indexed by these numbers; they must not be written to.
    """

    size: int
    """The processors of the machine."""

    now: int
    """The present second."""

    waiting: NDArray[np.int64]
    """The jobs that wait as the pass begins and may start, in the order of the policy."""

    @property
    @abstractmethod
    def free(self) -> int:
        """Free processors at present; on nodes, at least as many as a job can get."""

    @property
    @abstractmethod
    def free_nodes(self) -> NDArray[np.int64]:
        """int64: the idle nodes of each group of the cluster, in its order; empty on processors.

        No job runs there, and they are in service, outside of advance reservations.
        """

    @property
    @abstractmethod
    def free_gpus(self) -> NDArray[np.int64]:
        """int64: the free GPUs of each group of the cluster, in its order; empty on processors.

        No job has any of them, or their node to itself; their nodes are in service, outside of advance reservations.
        """

    @property
    @abstractmethod
    def running(self) -> NDArray[np.int64]:
        """The running jobs, by their expected ends, the soonest first."""

    @property
    @abstractmethod
    def submit(self) -> NDArray[np.int64]:
        """int64 seconds: when each job is submitted; of those to come, too."""

    @property
    @abstractmethod
    def processors(self) -> NDArray[np.int64]:
        """int64: how many processors each job gets, or has; of a malleable one, at present."""

    @property
    @abstractmethod
    def request(self) -> NDArray[np.int64]:
        """int64 seconds: the requested times, -1 where unknown."""

    @property
    @abstractmethod
    def predicted(self) -> NDArray[np.int64]:
        """int64 seconds: the run times that are assumed at present; the requests, unless they are predicted.

        Of a run, from its start to its expected end.
        """

    @property
    @abstractmethod
    def user(self) -> NDArray[np.int64]:
        """int64: the numbers of users, -1 where unknown."""

    @property
    @abstractmethod
    def start_time(self) -> NDArray[np.int64]:
        """int64 seconds: when each job has started, negative before."""

    @abstractmethod
    def column(self, name: str) -> NDArray[Any]:
        """Return another column of the workload, own ones among them, in order of submission.

        Raises
        ------
        InputError
            If the workload has no such column, or it tells what nobody knows before: one of `FUTURE`.
        """

    @abstractmethod
    def ended(self) -> Ended:
        """Return the jobs that have ended since this was last called, and how long they ran."""

    @abstractmethod
    def allowed(self, job: int) -> bool:
        """Return whether limits of users, accounts, partitions and licences let a waiting job start now."""

    @abstractmethod
    def fits(self, job: int) -> bool:
        """Return whether a waiting job is allowed to start, has room now, and delays no reservation of this pass."""

    @abstractmethod
    def earliest(self, job: int) -> int | None:
        """Return the earliest second at which a waiting job fits, if all runs end as expected, beside all reservations.

        None if it does not fit on the nodes that are in service, or known to come back. Limits of users or partitions
        are not looked at: nobody knows when they allow more.
        """

    @abstractmethod
    def reserve(self, job: int) -> int | None:
        """Reserve the earliest place for a waiting job, for the rest of this pass; return when it begins.

        None if there is no such place, see `earliest`. A job that has room but is not `allowed` to start has its place
        now: to reserve it keeps others out in vain.
        """

    @abstractmethod
    def cancel(self, job: int) -> None:
        """Cancel the reservation of a job."""

    @abstractmethod
    def start(self, job: int) -> None:
        """Start a waiting job now; if it has a reservation, that is cancelled first.

        Raises
        ------
        InputError
            If it does not wait, or does not fit (see `fits`).
        """

    @abstractmethod
    def sizes(self, job: int) -> NDArray[np.int64]:
        """Return the numbers of processors that a job may have, ascending; of one that is not malleable, its own."""

    @abstractmethod
    def can_resize(self, job: int, processors: int) -> bool:
        """Return whether a job may have so many processors now: one that waits, as it may start with any of its sizes.

        One that runs may if there is room now, and it delays no reservation of this pass.
        """

    @abstractmethod
    def resize(self, job: int, processors: int) -> None:
        """Give a malleable job another size: one that runs changes it now, one that waits will start with it.

        If a waiting job has a reservation, that is cancelled first. Of several changes in one second, the last counts.

        Raises
        ------
        InputError
            If it neither waits nor runs, or may not have that size (see `can_resize`).
        """

    @abstractmethod
    def wake_at(self, second: int) -> None:
        """Let a pass follow at a second, even if nothing happens then; an earlier pass forgets it."""


class Pass:
    """A scheduling pass in Python: derive a class from it, and decide which jobs start.

    It is called in every second in which something has happened (a job has ended or entered the queue, nodes came back)
    and jobs wait. Every simulation begins with a copy of the object, so that state on it is that of one simulation.

    Examples
    --------
    >>> class Greedy(Pass):
    ...     def decide(self, view):
    ...         for job in view.waiting:
    ...             if view.fits(job):
    ...                 view.start(job)
    >>> OwnPass(Greedy()).text
    '<Greedy>'
    """

    compiled: ClassVar[bool] = False
    """Whether `decide` is compiled by Numba and called by the compiled loop: see the page on passes of one's own."""

    def decide(self, view: PassView) -> None:
        """Start jobs, and reserve for others."""
        raise NotImplementedError("a pass needs a method decide(self, view)")


@dataclass(frozen=True, eq=False)
class OwnPass:
    """A scheduling pass in Python, in the place of backfilling.

    Parameters
    ----------
    decider
        A `Pass`, another object with a method `decide(view)`, or a function of the view.
    source
        The text "MODULE:NAME" or "MODULE:NAME(...)" that it was made from, if there is one.

    Raises
    ------
    InputError
        If it is none of these.
    """

    name: ClassVar[str] = "MODULE:NAME"
    decider: Any
    source: str | None = None

    def __post_init__(self) -> None:
        if not is_pass(self.decider):
            what = f"; make one with {self.decider.__name__}()" if isinstance(self.decider, type) else ""
            raise InputError(
                f"{shown(self.decider)} is not a pass: give an object with decide(view), or a function of view{what}"
            )

    @property
    def text(self) -> str:
        """The text that it was made from; otherwise its name in angle brackets, with its plain attributes."""
        return self.source or shown_object(self.decider)

    @property
    def in_loop(self) -> bool:
        """Whether it is compiled; not where compilation is switched off."""
        return bool(getattr(self.decider, "compiled", False)) and not config.DISABLE_JIT

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OwnPass):
            return NotImplemented
        return self.decider is other.decider or (self.source is not None and self.source == other.source)

    def __hash__(self) -> int:
        return hash(self.source or id(self.decider))


def known_column(name: str) -> str:
    """Return the name of a column that a pass may see, or raise InputError."""
    if name in FUTURE:
        raise InputError(
            f"column {name!r} is not known before a job has ended: take view.predicted (under @actual, run times), or "
            "view.ended()"
        )
    return name


def decided(decide: Callable[[PassView], object], view: PassView) -> None:
    """Ask a pass; raise InputError with its second if it fails."""
    try:
        result = decide(view)
    except InputError as error:
        raise InputError(f"second {view.now}: {error}") from error
    except (Exception, SystemExit) as error:
        raise InputError(f"second {view.now}: {type(error).__name__}: {error}") from error
    if result is not None:
        raise InputError(f"second {view.now}: decide(view) returned {shown(result)}: it starts jobs by view.start(job)")


def copied_decider(own: OwnPass) -> Callable[[PassView], object]:
    """Return what one simulation asks: a copy, whose state is its own.

    Raises
    ------
    InputError
        If it cannot be copied.
    """
    decider = copied_object(own.decider, f"pass {own.text}")
    decide: Callable[[PassView], object] = getattr(decider, "decide", decider)
    return decide


def is_pass(given: object) -> bool:
    """Return whether something is a `Pass`, or can be asked like one."""
    if isinstance(given, type):
        return False
    return callable(getattr(given, "decide", None)) or callable(given)


def pass_from_text(text: str) -> OwnPass:
    """Return the pass that a text such as "mine:Lookahead(k=3)" names, in the current directory or installed.

    Raises
    ------
    InputError
        If it cannot be imported, cannot be made from these arguments, or is no pass.
    """
    return OwnPass(*named_object(text, "pass", "decide"))
