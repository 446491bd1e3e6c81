"""A policy in Python as the order of a simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.queue.past_of_users import PastOfUsers
from schedlab.errors import InputError
from schedlab.scheduler.function_policy import FREE, NOW, OF_JOBS, OF_USERS, RUNNING, USAGE, FunctionPolicy
from schedlab.scheduler.policy import Policy

Column = Callable[[str], NDArray[Any]]


class FunctionOrder:
    """A function in Python as the order of a simulation, called for some jobs at a time.

    Parameters
    ----------
    policy
        The function.
    seen, request
        As for `new_order`; what they hold may change.
    column
        Returns a column of the workload in order of submission.
    """

    def __init__(self, policy: FunctionPolicy, seen: NDArray[Any], request: NDArray[np.int64], column: Column) -> None:
        self.policy, self._column = policy, column
        fields = {"p": seen["estimate"], "q": seen["processors"], "R": request}
        names = [name for name in policy.arguments if name not in ("r", "w", FREE, NOW, *OF_USERS)]
        self._arrays = [(name, fields[name] if name in fields else column(OF_JOBS.get(name, name))) for name in names]
        self._submit = seen["submit"]
        self.past: PastOfUsers | None = None
        if any(name in policy.arguments for name in OF_USERS):
            self.past = PastOfUsers(column("user_id"), seen["processors"], policy.half_life)

    def take_over(self, other: FunctionOrder) -> None:
        """Go on from the state of the same order in another simulation, of which a copy is made."""
        self.policy = other.policy.for_one_simulation()
        if self.past is not None and other.past is not None:
            self.past.take_over(other.past)

    def scores(self, who: NDArray[np.int64], now: int, free: int) -> NDArray[np.float64]:
        """Return the scores of some jobs at second `now`, when `free` processors are free.

        Raises
        ------
        InputError
            If the function fails, or if a score is not a number; the message names the job.
        """
        try:
            scores = self._ask(who, now, free)
        except InputError as error:
            raise self._blamed(who, now, free, error) from error
        if np.isnan(np.minimum.reduce(scores)):
            job = self._column("job_id")[who[np.argmax(np.isnan(scores))]]
            raise InputError(f"policy {self.policy.text}, second {now}: the score of job {job} is not a number")
        return scores

    def _ask(self, who: NDArray[np.int64], now: int, free: int) -> NDArray[np.float64]:
        given: dict[str, Any] = {name: array[who] for name, array in self._arrays}  # copies, since it may change them
        arguments = self.policy.arguments
        if "w" in arguments:
            given["w"] = now - self._submit[who]
        if "r" in arguments:
            given["r"] = self._submit[who] - self._submit[0]
        if FREE in arguments:
            given[FREE] = free
        if NOW in arguments:
            given[NOW] = now
        if self.past is not None:
            known = {RUNNING: self.past.held(who), USAGE: self.past.used(who, now)}
            given |= {name: values for name, values in known.items() if name in arguments}
        return self.policy.ask(given, len(who))

    def _blamed(self, who: NDArray[np.int64], now: int, free: int, error: InputError) -> InputError:
        """Return the error of a function, naming the first job for which it fails by itself, if there is one."""
        names = self._column("job_id")
        for job in who:
            try:
                self._ask(np.array([job]), now, free)
            except InputError as alone:
                return InputError(f"{alone} (asked at {now} s about job {names[job]})")
        return InputError(f"{error} (asked at {now} s about {len(who)} jobs)")


def blame(policy: Policy, seen: NDArray[Any], request: NDArray[np.int64], job: int, now: int) -> None:
    """Raise InputError for a job whose score is not a number."""
    who = seen[job]
    raise InputError(
        f"policy {policy.text}: the score is not a number for the job submitted at {who['submit']} s "
        f"(p={who['estimate']}, q={who['processors']}, r={who['submit'] - seen['submit'][0]}, "
        f"w={max(0, now - who['submit'])}, R={request[job]}); guard the formula, for example with max(x, 1)"
    )
