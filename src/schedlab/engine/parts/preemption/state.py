"""Preempted runs during a simulation; compiled away without preemption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import ByPart, Fixed, Kept, PerJob, Scratch
from schedlab.engine.jobs.calendar import NEVER, latest_place, record_at, sooner_place
from schedlab.engine.jobs.clock import EXEMPTION_ENDED, NOW, WAITING
from schedlab.engine.parts.preemption.numbers import PreemptionInputs
from schedlab.kernels import inlined, inner_kernel, new_records
from schedlab.schedule.runs import PAUSE

if TYPE_CHECKING:
    from schedlab.engine.world import World

# Positions in Preemption.counters.
YOUNGEST = 0  # whether the runs that began last are preempted first
REORDER = 1  # how often the order of the preempted runs is improved
REPLAN = 2  # 1 if runs have been preempted since the last plan was made
EXEMPTS = 3  # 1 if any class exempts runs for a time
SUSPENDED = 4  # runs that are suspended
PAUSES = 5  # suspensions in the log
SUSPENDS = 6  # 1 if runs of any class are suspended where they give way
AHEAD = 7  # 1 if waiting jobs may go before others whose runs they may preempt
COUNTERS_SIZE = 8

# What becomes of a preempted run: Preemption.fate.
STAYS, COMES_BACK, IS_LOST = 0, 1, 2


class Preemption(NamedTuple):
    """The state of preemption.

    Parameters
    ----------
    counters
        The counters above.
    may, ahead, cancels, suspends, grace, exempt, rank, of_option
        See `PreemptionInputs`.
    fate
        int64, one per job: what becomes of its run, the constants above.
    ending
        bool, one per job: whether its run is being preempted.
    who, use
        int64: runs that may be preempted, in the order of preemption, and how many of the chosen nodes they have.
    chosen
        bool, one per node: whether it is among those of the last choice.
    there
        bool, one per class: whether its runs may be preempted.
    over
        int64, one per job: the class in which its run began in place of runs that were suspended; -1 if it did not.
    suspended, since
        bool and int64 seconds, one per job: whether its run is suspended, and since when.
    stood
        int64 seconds, one per job: how long its present run has been suspended in all, up to its last resumption.
    latest
        int64, one per job: the last suspension of its present run in the log; -1 for none.
    pauses
        All suspensions (PAUSE), by the second in which they began.
    lenders
        int64: runs of which others may use the cores.
    used
        int64, one per node: cores in use, while it is found out which runs may go on.
    """

    counters: Kept[NDArray[np.int64]]
    may: Fixed[NDArray[np.bool_]]
    ahead: Fixed[NDArray[np.bool_]]
    cancels: Fixed[NDArray[np.bool_]]
    suspends: Fixed[NDArray[np.bool_]]
    grace: Fixed[NDArray[np.int64]]
    exempt: Fixed[NDArray[np.int64]]
    rank: Fixed[NDArray[np.int64]]
    of_option: Fixed[NDArray[np.int64]]
    fate: PerJob[NDArray[np.int64]]
    ending: PerJob[NDArray[np.bool_]]
    who: Scratch[NDArray[np.int64]]
    use: Scratch[NDArray[np.int64]]
    chosen: Scratch[NDArray[np.bool_]]
    there: Kept[NDArray[np.bool_]]
    over: PerJob[NDArray[np.int64]]
    suspended: PerJob[NDArray[np.bool_]]
    since: PerJob[NDArray[np.int64]]
    stood: PerJob[NDArray[np.int64]]
    latest: PerJob[NDArray[np.int64]]
    pauses: ByPart[NDArray[Any]]
    lenders: Scratch[NDArray[np.int64]]
    used: Scratch[NDArray[np.int64]]


def new_preemption(inputs: PreemptionInputs, jobs: int, nodes: int) -> Preemption:
    """Return the state of preemption before the first start."""
    counters = np.zeros(COUNTERS_SIZE, dtype=np.int64)
    counters[[YOUNGEST, REORDER]] = inputs.youngest, inputs.reorder
    counters[EXEMPTS], counters[SUSPENDS] = inputs.exempt.any(), inputs.suspends.any()
    counters[AHEAD] = inputs.ahead.any()
    names = ("may", "ahead", "cancels", "suspends", "grace", "exempt", "rank", "of_option")
    fixed = {name: getattr(inputs, name).copy() for name in names}
    for array in fixed.values():
        array.flags.writeable = False
    of_jobs = ("fate", "who", "use", "stood", "since", "lenders")
    rest: dict[str, Any] = {name: np.zeros(jobs, np.int64) for name in of_jobs}
    rest |= {
        "over": np.full(jobs, -1),
        "latest": np.full(jobs, -1),
        "pauses": new_records(2 * jobs, PAUSE),
        "used": np.zeros(nodes, np.int64),
    }
    flags = {"ending": jobs, "chosen": nodes, "there": len(inputs.rank), "suspended": jobs}
    rest |= {name: np.zeros(size, dtype=np.bool_) for name, size in flags.items()}
    return Preemption(counters, **fixed, **rest)


@inner_kernel
def next_end_of_exemption(world: World) -> int:
    """Return when the next exemption of a run ends while jobs wait, NEVER if none does."""
    first, running = NEVER, world.state.running
    if world.state.clock[WAITING] > 0 and world.preemption.counters[EXEMPTS] > 0:
        place = latest_place(running)
        while place >= 0:
            job = record_at(running, place).job
            place = sooner_place(running, place)
            ends = world.state.start[job] + world.preemption.exempt[class_of_run(world, job)] + 1
            if ends > world.state.clock[NOW] and not world.preemption.ending[job]:
                first = min(first, ends)
    return first


@inlined
def note_end_of_exemption(world: World, now: int) -> None:
    """Record, before the clock moves to a second, whether an exemption of a run ends then."""
    world.state.clock[EXEMPTION_ENDED] = next_end_of_exemption(world) == now


@inlined
def class_of_run(world: World, job: int) -> int:
    """Return the class of a job in the partition in which it runs: the first one with the request of the run."""
    if world.preemption.over[job] >= 0:
        return world.preemption.over[job]
    request = world.nodes.places[world.nodes.offsets[world.nodes.run[job]]].request
    option = world.limits.options[job]
    while world.nodes.machine.shape[option] != request:
        option += 1
    return world.preemption.of_option[option]


def with_more_pauses(preemption: Preemption) -> Preemption:
    """Return the state of preemption with room for twice as many suspensions."""
    longer = new_records(2 * len(preemption.pauses), PAUSE)
    longer[: len(preemption.pauses)] = preemption.pauses
    return preemption._replace(pauses=longer)


@inlined
def lacks_pauses(preemption: Preemption) -> bool:
    """Return whether the log may be too short for the suspensions of one event: one for each job."""
    return preemption.pauses.shape[0] - preemption.counters[PAUSES] < preemption.stood.shape[0]


@inlined
def stood_still(world: World, job: int) -> int:
    """Return for how many seconds a run was suspended, up to its last resumption."""
    if world.preemption is not None:
        return world.preemption.stood[job]
    return 0


@inlined
def has_preemption(world: World) -> bool:
    """Return whether runs may be preempted."""
    return world.preemption is not None


@inlined
def take_fate(world: World, job: int) -> int:
    """Return what becomes of a job whose run is over, and reset it."""
    if world.preemption is not None:
        fate = world.preemption.fate[job]
        world.preemption.fate[job] = STAYS
        world.preemption.ending[job] = False
        world.preemption.stood[job] = 0
        world.preemption.latest[job] = -1
        world.preemption.over[job] = -1
        return fate
    return STAYS


@inlined
def take_replan(world: World) -> bool:
    """Return whether runs have been preempted since the last call, for which the plan has to be made again."""
    if world.preemption is not None:
        again = world.preemption.counters[REPLAN] > 0
        world.preemption.counters[REPLAN] = 0
        return again
    return False
