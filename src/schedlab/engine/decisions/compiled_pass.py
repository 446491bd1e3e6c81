"""A compiled pass of the user's own in a simulation: made for it, and called by the loop."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from schedlab.engine.decisions.compiled_view import ASKED, KERNELS, KNOWN_RUNS, TOLD_SIZE
from schedlab.engine.decisions.own_pass import in_vain
from schedlab.engine.jobs.clock import NOW
from schedlab.engine.passes.own_pass import MOST_WAKES
from schedlab.engine.passes.own_plan import ACTIONS, DECIDE, DECISIONS, FAILED, GIVEN, IN_VAIN, REFUSED
from schedlab.engine.prepared import Prepared
from schedlab.engine.world import World
from schedlab.errors import InputError
from schedlab.kernels import UserCode
from schedlab.scheduler.own_objects import copied_object
from schedlab.scheduler.own_pass import FUTURE, OwnPass
from schedlab.workload.workload import FIELDS

NOTHING_REFUSED = -(2**62)


class CompiledPass:
    """A compiled pass in a simulation.

    Parameters
    ----------
    prepared, world
        The simulation.
    own
        The pass; numbers and arrays on it become what `self` has in `decide`.
    """

    def __init__(self, prepared: Prepared, own: OwnPass, world: World) -> None:
        self._prepared, self._text, self._words = prepared, own.text, world.plan.own
        self._world = world
        self._decider = copied_object(own.decider, f"pass {own.text}")
        self._code = UserCode(_function_of(own), world)
        self._told = np.zeros(TOLD_SIZE + 3 * len(prepared.jobs), dtype=np.int64)
        self._words[REFUSED] = NOTHING_REFUSED
        self._words[ACTIONS:] = self._code.addresses(KERNELS)
        self._give()
        try:
            self._words[DECIDE] = self._code.address()
        except TypeError as error:
            raise InputError(
                f"pass {own.text} does not compile: {error} (Numba does not know all of Python; without "
                "`compiled`, the pass is plain Python)"
            ) from error

    def _give(self) -> None:
        columns = {**_columns_of(self._prepared), "_told": self._told}
        self._words[GIVEN] = self._code.given(_attributes_of(self._decider, self._text), columns)

    @property
    def decisions(self) -> int:
        """How often it was asked."""
        return int(self._words[DECISIONS])

    def take_over(self, other: CompiledPass) -> None:
        """Go on from the state of another simulation's pass, of which a copy is made."""
        self._decider = copy.deepcopy(other._decider)
        self._words[DECISIONS] = other.decisions
        seen = TOLD_SIZE + int(other._told[KNOWN_RUNS])  # jobs that run keep their numbers
        self._told[:seen] = other._told[:seen]
        self._told[ASKED] = 0
        self._told[-len(self._prepared.jobs) :][self._told[TOLD_SIZE:seen]] = 1
        self._give()

    def refuse(self) -> None:
        """Raise InputError if it was the pass at which the loop stopped."""
        where = f"pass {self._text}, second {self._world.state.clock[NOW]}"
        if self._words[FAILED]:
            raise InputError(f"{where}: {self._why()}")
        if self._words[IN_VAIN] > MOST_WAKES:
            raise InputError(f"{where}: {in_vain(self._world.state.clock)}")

    def _why(self) -> str:
        job = int(self._words[REFUSED])
        if job == NOTHING_REFUSED:
            return "decide raised an error; without `compiled`, the same pass says which"
        if not 0 <= job < len(self._prepared.jobs):
            return f"there is no job {job}: jobs are numbered from 0 to {len(self._prepared.jobs) - 1}"
        name = f"job {self._prepared.column('job_id')[job]} (number {job})"
        return f"{name} cannot start: it does not wait, or does not fit beside what runs and is reserved"


def _function_of(own: OwnPass) -> Any:
    """Return what is compiled: the method of the class, a function of the object and the view."""
    decide = getattr(type(own.decider), "decide", None)
    if decide is None:
        raise InputError(f"pass {own.text}: `compiled` is for classes with a method decide(self, view)")
    return decide


def _attributes_of(decider: Any, text: str) -> dict[str, Any]:
    """Return the attributes of a pass as numbers and arrays; what is neither is refused."""
    found = {}
    for name, value in vars(decider).items():
        plain = value.item() if isinstance(value, np.generic) else value
        numbers = isinstance(plain, np.ndarray) and plain.dtype.kind in "bif"
        if not numbers and not isinstance(plain, bool | int | float):
            raise InputError(
                f"pass {text}: {name} is a {type(value).__name__}; a compiled pass has numbers and arrays of numbers"
            )
        found[name] = plain
    return found


def _columns_of(prepared: Prepared) -> dict[str, Any]:
    """Return the columns that a pass may see and that hold numbers, its own ones among them."""
    workload = prepared.workload
    names = [*FIELDS, *(() if workload.own is None else workload.own.columns)]
    columns = {name: prepared.column(name) for name in names if name not in FUTURE}
    return {name: np.ascontiguousarray(values) for name, values in columns.items() if values.dtype.kind in "bif"}
