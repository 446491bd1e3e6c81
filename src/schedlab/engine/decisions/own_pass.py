"""A pass in Python in a simulation: it is asked where a compiled pass would be made."""

from __future__ import annotations

import copy
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.decisions.free_nodes import FreeNodes
from schedlab.engine.jobs.calendar import NEVER, SOONEST
from schedlab.engine.jobs.clock import BLAMED, FREE, NOW, STARTED, WAITING
from schedlab.engine.passes.conservative_plan import NEXT_START
from schedlab.engine.passes.own_pass import (
    MOST_WAKES,
    begin_pass,
    cancel_reservation,
    earliest_start,
    end_pass,
    fits_beside_plan,
    is_allowed,
    reserve_earliest,
    start_beside_plan,
)
from schedlab.engine.passes.resizing import can_resize, resize
from schedlab.engine.prepared import Prepared
from schedlab.engine.world import World
from schedlab.errors import InputError, whole_number
from schedlab.kernels import without_dispatch
from schedlab.scheduler.own_pass import Ended, OwnPass, PassView, copied_decider, decided, known_column


class PassPlayer:
    """A pass in Python in a simulation.

    Parameters
    ----------
    prepared
        The simulation.
    own
        The pass; a copy is asked.
    """

    def __init__(self, prepared: Prepared, own: OwnPass) -> None:
        self.decisions = 0
        self._text = own.text
        self._decide = copied_decider(own)
        self._view = _View(prepared)

    def play(self, world: World) -> None:
        """Let the pass decide about the jobs that wait in this second."""
        view, before = self._view, int(world.state.clock[STARTED])
        asked = view.begin(world) > 0 or view.resizes
        if asked:
            self.decisions += 1
            try:
                decided(self._decide, view)
            except InputError as error:
                raise InputError(f"pass {self._text}, {error}") from error
        if view.end(before, asked) > MOST_WAKES:  # it is woken for ever
            raise InputError(f"pass {self._text}, second {view.now}: {in_vain(world.state.clock)}")

    def take_over(self, other: PassPlayer) -> None:
        """Go on from the state of another simulation's pass, of which a copy is made."""
        self._decide = copy.deepcopy(other._decide)
        self.decisions = other.decisions
        self._view.take_over(other._view)


def in_vain(clock: NDArray[np.int64]) -> str:
    """Return what is wrong with a pass that is woken for ever."""
    return f"it was called {MOST_WAKES:,} times in a row, and nothing has started or ended; {clock[WAITING]} jobs wait"


class _View(PassView):
    """The view of a simulation; its calls into kernels are bound to the types of its world."""

    def __init__(self, prepared: Prepared) -> None:
        self.size = prepared.processors
        self._prepared = prepared
        self._free_nodes = FreeNodes(prepared)
        self._columns: dict[str, NDArray[Any]] = {}
        self._listed = np.empty(len(prepared.jobs), dtype=np.int64)
        self._known: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._begun = 0
        self._bound = False

    def begin(self, world: World) -> int:
        """Begin a pass; return how many jobs may start."""
        if not self._bound:
            self._bind(world)
        self._world, self._clock = world, world.state.clock
        count = self._begin(world, self._listed)
        if self._clock[BLAMED] >= 0:
            return 0
        self.now, self.waiting = int(self._clock[NOW]), self._listed[:count].copy()
        return count

    def _bind(self, world: World) -> None:
        """Have kernels called without a look at the types of all arrays each time."""
        self._begin = without_dispatch(begin_pass, world, self._listed)
        self._end = without_dispatch(end_pass, world, 0, 0)
        asking = (is_allowed, fits_beside_plan, earliest_start)
        acting = (reserve_earliest, cancel_reservation, start_beside_plan)
        bound = (without_dispatch(kernel, world, 0) for kernel in (*asking, *acting))
        self._allowed, self._fits, self._earliest, self._reserve, self._cancel, self._start = bound
        if world.malleable is not None:
            self._can_resize, self._resize = (without_dispatch(kernel, world, 0, 0) for kernel in (can_resize, resize))
        self._bound = True

    @property
    def resizes(self) -> bool:
        """Whether the pass is asked though no job waits: it may resize those that run."""
        world, clock = self._world, self._clock
        over = clock[STARTED] >= world.rules.in_order and clock[BLAMED] < 0
        return world.malleable is not None and bool(over and world.state.running.status[SOONEST] != NEVER)

    def end(self, before: int, asked: bool) -> int:
        """End a pass before which so many runs had started; return how often it was asked in vain, in a row."""
        return self._end(self._world, before, int(asked))

    def take_over(self, other: _View) -> None:
        self._known, self._begun = other._known, other._begun

    @property
    def free(self) -> int:
        return int(self._clock[FREE])

    @property
    def free_nodes(self) -> NDArray[np.int64]:
        return self._free_nodes.nodes(self._world)

    @property
    def free_gpus(self) -> NDArray[np.int64]:
        return self._free_nodes.gpus(self._world)

    @property
    def running(self) -> NDArray[np.int64]:
        jobs: NDArray[np.int64] = self._world.state.running.members()["job"]
        return jobs

    @property
    def submit(self) -> NDArray[np.int64]:
        return _fixed(self._world.jobs["submit"])

    @property
    def processors(self) -> NDArray[np.int64]:
        return _fixed(self._world.jobs["processors"])

    @property
    def request(self) -> NDArray[np.int64]:
        return _fixed(self._world.state.request)

    @property
    def predicted(self) -> NDArray[np.int64]:
        return _fixed(self._world.jobs["estimate"])

    @property
    def user(self) -> NDArray[np.int64]:
        return self.column("user_id")

    @property
    def start_time(self) -> NDArray[np.int64]:
        return _fixed(self._world.state.start)

    def column(self, name: str) -> NDArray[Any]:
        if name not in self._columns:
            self._columns[name] = _fixed(self._prepared.column(known_column(name)))
        return self._columns[name]

    def ended(self) -> Ended:
        state, started = self._world.state, int(self._clock[STARTED])
        known = np.union1d(self._known, state.begun[self._begun : started])
        self._known = np.intersect1d(known, state.completions.members()["job"])
        self._begun = started
        over = np.setdiff1d(known, self._known)
        over = over[state.start[over] >= 0]  # the others wait for another run
        return Ended(over, self._world.jobs["duration"][over])

    def allowed(self, job: int) -> bool:
        return bool(self._allowed(self._world, self._waiting_job(job)))

    def fits(self, job: int) -> bool:
        return bool(self._fits(self._world, self._waiting_job(job)))

    def earliest(self, job: int) -> int | None:
        return _known(self._earliest(self._world, self._waiting_job(job)))

    def reserve(self, job: int) -> int | None:
        return _known(self._reserve(self._world, self._waiting_job(job)))

    def cancel(self, job: int) -> None:
        self._cancel(self._world, self._waiting_job(job))

    def start(self, job: int) -> None:
        number = self._waiting_job(job)
        if not self._start(self._world, number):
            raise InputError(self._why_not(number))

    def sizes(self, job: int) -> NDArray[np.int64]:
        number = self._job(job)
        malleable = self._world.malleable
        if malleable is None:
            return self._world.jobs["processors"][number : number + 1].copy()
        return _fixed(malleable.processors[malleable.offsets[number] : malleable.offsets[number + 1]])

    def can_resize(self, job: int, processors: int) -> bool:
        number, size = self._active_job(job), whole_number("processors", processors)
        if self._world.malleable is None:
            return size == int(self._world.jobs[number]["processors"])
        return bool(self._can_resize(self._world, number, size))

    def resize(self, job: int, processors: int) -> None:
        number, size = self._active_job(job), whole_number("processors", processors)
        if self._world.malleable is None:
            if size == int(self._world.jobs[number]["processors"]):
                return
            raise InputError(f"{self._named(number)} is not malleable: it has one size")
        if not self._resize(self._world, number, size):
            raise InputError(self._why_not_resized(number, size))

    def _why_not_resized(self, job: int, size: int) -> str:
        known, held = self.sizes(job), int(self._world.jobs[job]["processors"])
        if size not in known:
            return f"{self._named(job)} cannot have {size} processors, only {' '.join(map(str, known))}"
        if size - held > self.free:
            return f"{self._named(job)} needs {size - held} processors more, but {self.free} are free"
        return f"{self._named(job)} cannot have {size} processors beside what is reserved"

    def wake_at(self, second: int) -> None:
        when = operator.index(second)
        if when <= self.now:
            raise InputError(f"wake_at({when}): must be after second {self.now}")
        counters = self._world.plan.counters
        counters[NEXT_START] = min(int(counters[NEXT_START]), when)

    def _job(self, job: int) -> int:
        """Return the number of a job, or raise InputError."""
        try:
            number = operator.index(job)
        except TypeError:
            raise InputError(f"{job!r} is not the number of a job: take one of view.waiting") from None
        if not 0 <= number < len(self._listed):
            raise InputError(f"there is no job {number}: jobs are numbered from 0 to {len(self._listed) - 1}")
        return number

    def _active_job(self, job: int) -> int:
        """Return the number of a job that waits or runs, or raise InputError."""
        number = self._job(job)
        start = int(self._world.state.start[number])
        runs = start == self.now or (start >= 0 and start + int(self._world.jobs["duration"][number]) > self.now)
        if not self._world.plan.listed[number] and not runs:
            raise InputError(f"{self._named(number)} neither waits nor runs")
        return number

    def _waiting_job(self, job: int) -> int:
        """Return the number of a job that waits, or raise InputError."""
        number = self._job(job)
        if not self._world.plan.listed[number]:
            raise InputError(f"{self._named(number)} does not wait: take one of view.waiting")
        return number

    def _why_not(self, job: int) -> str:
        """Return why a waiting job does not fit."""
        needed = int(self._world.jobs[job]["processors"])
        if needed > self.free:
            return f"{self._named(job)} needs {needed} processors, but {self.free} are free"
        begins = self.earliest(job)
        if begins is None:
            return f"{self._named(job)} does not fit on the nodes in service"
        if begins > self.now:
            return f"{self._named(job)} does not fit before second {begins}, beside what runs and is reserved"
        return f"{self._named(job)} would exceed a limit now"

    def _named(self, job: int) -> str:
        return f"job {self.column('job_id')[job]} (number {job})"


def _known(second: int) -> int | None:
    return None if second == NEVER else int(second)


def _fixed(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array that cannot be written to, without a copy."""
    view = values.view()
    view.flags.writeable = False
    return view
