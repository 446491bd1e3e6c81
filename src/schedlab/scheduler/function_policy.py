"""Policies in Python: functions of arrays, objects that score and remember, and the texts that name them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import DAY
from schedlab.errors import InputError, check_positive
from schedlab.scheduler.formula import COLUMNS
from schedlab.scheduler.own_objects import copied_object, module_of, named_object, names_an_object, shown_object
from schedlab.scheduler.policy import ALIASES, POLICIES, Policy, Scores
from schedlab.wording import shown
from schedlab.workload.workload import Workload

OF_JOBS = {
    "user": "user_id",
    "account": "group_id",
    "executable": "executable_id",
    "queue": "queue_id",
    "partition": "partition_id",
}
"""Further arguments of functions, and their columns of the workload; -1 is unknown."""

FREE = "free"
"""The processors that are free when a scheduling pass begins: one number."""

NOW = "now"
"""The present second: one number."""

RUNNING, USAGE = "running", "usage"
"""Of the job's user: the processors that its runs hold, and the decayed processor-seconds that they have used."""

OF_USERS = (RUNNING, USAGE)

KNOWN = (*COLUMNS, *OF_JOBS, FREE, NOW, *OF_USERS)
"""The arguments that a function may have, besides the names of other columns of the workload."""

ARGUMENTS = f"{', '.join(KNOWN)} and columns of the workload, own ones among them"

HALF_LIFE = 7.0 * DAY
"""Usage halves in this time, in seconds, unless the policy has an attribute `half_life`: as Slurm has it."""

TOLD = ("on_start", "on_end")


@dataclass(frozen=True, eq=False)
class FunctionPolicy(Policy):
    """A policy in Python: a function of arrays, or an object with a method `score` that is one.

    Parameters
    ----------
    function
        Takes some of these by name, NumPy arrays with an element per job, and returns a score per job: p, q, r, w, R as
        in a formula; user, account, executable, queue, partition (numbers of the workload, -1 unknown); any other
        column of the workload, own ones among them; running and usage, the processors that the job's user holds, and
        the processor-seconds that it has used, which halve in `half_life` seconds (an attribute of the function or the
        object, 7 days without one); and as numbers, free processors and now, the second. If it takes w, running, usage,
        free or now, it is called at every scheduling pass. It may be compiled by Numba. An object may also have
        `on_start(job, now)` and `on_end(job, now, run_time)`, which are called for each run with a
        `schedlab.predict.JobView`; each simulation has a copy of it.
    source
        The text "MODULE:NAME" or "MODULE:NAME(...)" that it was made from, if there is one.

    Raises
    ------
    InputError
        If it cannot be called, or takes no arguments.

    Examples
    --------
    >>> def widest_first(q):
    ...     return -q
    >>> FunctionPolicy(widest_first).changes_with_time
    False
    >>> def users_in_turn(running, usage):
    ...     return running + usage / 86400
    >>> FunctionPolicy(users_in_turn).changes_with_time
    True
    """

    name: ClassVar[str] = "function"
    function: Any
    source: str | None = None
    arguments: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not is_policy(self.function):
            what = f"; make one with {self.function.__name__}()" if isinstance(self.function, type) else ""
            raise InputError(
                f"{shown(self.function)} is not a policy: give a function of arrays, or an object with a method "
                f"score{what}"
            )
        try:
            arguments = tuple(inspect.signature(self.score).parameters)
        except (TypeError, ValueError):
            raise InputError(f"policy {self.text}: the arguments of the function cannot be determined") from None
        if not arguments:
            raise InputError(
                f"policy {self.text}: the function has no arguments; a policy is a function of some of {ARGUMENTS}"
            )
        check_positive(f"policy {self.text}: half_life", self.half_life)
        object.__setattr__(self, "arguments", arguments)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FunctionPolicy):
            return NotImplemented
        return self.function is other.function or (self.source is not None and self.source == other.source)

    def __hash__(self) -> int:
        return hash(self.source or id(self.function))

    @property
    def text(self) -> str:
        """The text that it was made from; otherwise its name in angle brackets, which cannot be parsed."""
        return self.source or shown_object(self.function)

    @property
    def score(self) -> Callable[..., Any]:
        """What is called for scores."""
        scores: Callable[..., Any] = getattr(self.function, "score", self.function)
        return scores

    @property
    def half_life(self) -> float:
        """In how many seconds the usage of users halves."""
        seconds: float = getattr(self.function, "half_life", HALF_LIFE)
        return seconds

    @property
    def is_told(self) -> bool:
        """Whether it wants to hear of runs as they begin and end."""
        return any(hasattr(self.function, name) for name in TOLD)

    @property
    def knows_runs(self) -> bool:
        """Whether its scores depend on what runs and has run."""
        return self.is_told or any(name in self.arguments for name in OF_USERS)

    def for_one_simulation(self) -> FunctionPolicy:
        """Return the policy with a copy of an object that has state; a function is shared."""
        if not hasattr(self.function, "score"):
            return self
        return replace(self, function=copied_object(self.function, f"policy {self.text}"))

    @property
    def program(self) -> None:
        """None: only Python can compute the scores."""
        return None

    @property
    def changes_with_time(self) -> bool:
        """Whether scores depend on the second, on what is free, or on what runs and has run."""
        return self.knows_runs or any(name in self.arguments for name in ("w", FREE, NOW))

    @property
    def of_jobs(self) -> tuple[str, ...]:
        """The arguments that are columns of the workload."""
        return tuple(name for name in self.arguments if name not in (*COLUMNS, FREE, NOW, *OF_USERS))

    def check(self, workload: Workload) -> None:
        """Raise InputError if the function takes an argument that a workload does not have."""
        for name in self.of_jobs:
            try:
                workload[OF_JOBS.get(name, name)]
            except InputError:
                raise InputError(
                    f"policy {self.text}: the argument {name!r} is not a column of {workload.name}; a policy "
                    f"is a function of some of {ARGUMENTS}"
                ) from None

    @property
    def uses_request(self) -> bool:
        """Whether the function takes the requested time."""
        return "R" in self.arguments

    def scores(
        self,
        p: NDArray[np.int64],
        q: NDArray[np.int64],
        r: NDArray[np.int64],
        w: NDArray[np.int64],
        R: NDArray[np.int64] | None = None,
        statistics: NDArray[np.float64] | None = None,
    ) -> Scores:
        """Call the function, if it takes no other arguments, and check its result."""
        values = dict(zip(COLUMNS, (p, q, r, w, p if R is None else R), strict=True))

        for name in self.arguments:
            if name not in values:
                raise InputError(f"policy {self.text} takes {name}, but only {', '.join(COLUMNS)} are available here")
        # changes by the function must not reach the scheduler
        return self.ask({name: values[name].copy() for name in self.arguments}, len(p))

    def ask(self, given: Mapping[str, Any], jobs: int) -> Scores:
        """Call the function with its arguments, and check its result.

        Parameters
        ----------
        given
            Its arguments by name: arrays, which it may change, and the number of free processors.
        jobs
            The number of jobs.

        Raises
        ------
        InputError
            If the function fails or does not return a number per job.
        """
        try:
            scores = np.asarray(self.score(**given), dtype=np.float64)
        except (Exception, SystemExit) as error:
            raise InputError(f"policy {self.text} failed: {type(error).__name__}: {error}") from error
        if scores.shape != (jobs,):
            raise InputError(
                f"policy {self.text} returned shape {scores.shape} for {jobs} jobs: return an array, one score per job"
            )
        return scores

    def tell(self, method: str, *about: Any) -> None:
        """Call `on_start` or `on_end`, if it has that.

        Raises
        ------
        InputError
            If it fails.
        """
        listen = getattr(self.function, method, None)
        if listen is not None:
            try:
                listen(*about)
            except (Exception, SystemExit) as error:
                raise InputError(
                    f"policy {self.text}: {method} failed for job {about[0].job_id} at {about[1]} s: "
                    f"{type(error).__name__}: {error}"
                ) from error


def is_policy(given: object) -> bool:
    """Return whether something is a function, or an object with a method `score`."""
    return not isinstance(given, type) and (callable(getattr(given, "score", None)) or callable(given))


def names_a_function(text: str) -> bool:
    """Return whether a text has the form MODULE:NAME or MODULE:NAME(...), rather than that of a policy with a suffix.

    Examples
    --------
    >>> names_a_function("mine.orders:widest_first"), names_a_function("mine:Fair(days=3)")
    (True, True)
    >>> names_a_function("saf:fcfs"), names_a_function('"p*q"')
    (False, False)
    """
    return names_an_object(text) and module_of(text) not in (*POLICIES, *ALIASES)


def function_from_text(text: str) -> FunctionPolicy:
    """Return the policy that a module of the current directory, or an installed one, has under a name.

    Raises
    ------
    InputError
        If it cannot be imported, or is neither a function of known arguments nor an object or class with `score`.
    """
    source = text.strip()
    # A function is not called here: reading a text must not run the function that it names.
    found, source = named_object(source, "policy", "score")
    if not is_policy(found):
        hint = f"; a pass stands behind a policy: fcfs+{source}" if hasattr(found, "decide") else ""
        raise InputError(f"policy {source}: {shown(found)} is not a function of arrays, and has no method score{hint}")
    return FunctionPolicy(found, source)
