"""Policies that are Python functions of arrays, and the texts MODULE:FUNCTION that name them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.imports import load_named
from schedlab.scheduler.formula import COLUMNS
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

KNOWN = (*COLUMNS, *OF_JOBS, FREE)
"""The arguments that a function may have, besides the names of other columns of the workload."""

ARGUMENTS = f"{', '.join(KNOWN)} and columns of the workload, own ones among them"

_FUNCTION = re.compile(r"(?P<module>[A-Za-z_][\w.]*):[A-Za-z_]\w*")


@dataclass(frozen=True)
class FunctionPolicy(Policy):
    """A policy given by a Python function of arrays.

    Parameters
    ----------
    function
        Takes some of these by name, NumPy arrays with an element per job, and returns a score per job: p, q, r, w, R as
        in a formula; user, account, executable, queue, partition (numbers of the workload, -1 unknown); any other
        column of the workload, own ones among them; and free, the number of free processors. If it takes w or free, it
        is called at every scheduling pass. It may be compiled by Numba.
    source
        The text "MODULE:FUNCTION" that it was made from, if there is one.

    Raises
    ------
    InputError
        If the function takes no arguments.

    Examples
    --------
    >>> def widest_first(q):
    ...     return -q
    >>> FunctionPolicy(widest_first).changes_with_time
    False
    """

    name: ClassVar[str] = "function"
    function: Callable[..., Any]
    source: str | None = None
    arguments: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            arguments = tuple(inspect.signature(self.function).parameters)
        except (TypeError, ValueError):
            raise InputError(f"policy {self.text}: the arguments of the function cannot be determined") from None
        if not arguments:
            raise InputError(
                f"policy {self.text}: the function has no arguments; a policy is a function of some of {ARGUMENTS}"
            )
        object.__setattr__(self, "arguments", arguments)

    @property
    def text(self) -> str:
        """The text that it was made from; otherwise the function's name in angle brackets, which cannot be parsed."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return self.source or f"<{name.strip('<>')}>"

    @property
    def program(self) -> None:
        """None: only Python can compute the scores."""
        return None

    @property
    def changes_with_time(self) -> bool:
        """Whether the function takes the waiting time or the free processors."""
        return "w" in self.arguments or FREE in self.arguments

    @property
    def of_jobs(self) -> tuple[str, ...]:
        """The arguments that are columns of the workload."""
        return tuple(name for name in self.arguments if name not in (*COLUMNS, FREE))

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
            scores = np.asarray(self.function(**given), dtype=np.float64)
        except Exception as error:
            raise InputError(f"policy {self.text} failed: {type(error).__name__}: {error}") from error
        if scores.shape != (jobs,):
            raise InputError(
                f"policy {self.text} returned shape {scores.shape} for {jobs} jobs: return an array, one score per job"
            )
        return scores


def names_a_function(text: str) -> bool:
    """Return whether a text has the form MODULE:FUNCTION, rather than that of a policy with a suffix.

    Examples
    --------
    >>> names_a_function("mine.orders:widest_first"), names_a_function("saf:fcfs"), names_a_function('"p*q"')
    (True, False, False)
    """
    match = _FUNCTION.fullmatch(text.strip())
    return match is not None and match["module"].lower() not in (*POLICIES, *ALIASES)


def function_from_text(text: str) -> FunctionPolicy:
    """Return the policy that is a function in a module of the current directory, or an installed one.

    Raises
    ------
    InputError
        If it cannot be imported, or is not a function of known arguments.
    """
    source = text.strip()
    function = load_named(source, "policy")
    # The function is not called here: reading a text must not run the function that it names.
    if isinstance(function, type) or not callable(function):
        hint = f"; a pass stands behind a policy: fcfs+{source}" if hasattr(function, "decide") else ""
        raise InputError(f"policy {source}: {shown(function)} is not a function of arrays{hint}")
    return FunctionPolicy(function, source)
