"""Many episodes side by side as flat arrays: what the compiled steps of the environments work on.

Everything that an episode changes stands in line e of these arrays, and what an agent gets is written where it reads
it. The rules of time (what ends, who is submitted, when a job is expected to fit) are the engine's own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import BLOCK, DUE, NEVER, Calendar
from schedlab.engine.jobs.clock import CLOCK_SIZE
from schedlab.engine.jobs.state import JOB, State
from schedlab.engine.prescored.simulation import Formulas
from schedlab.engine.queue.orders import Program
from schedlab.kernels import by_address, inlined, new_records
from schedlab.scheduler.formula import CHUNK

FEATURES = 8
"""Numbers that an observation has for each visible job."""
SUMMARY = 8
"""Numbers that an observation has for the machine and its queue."""

# Features of a job.
WAIT, REQUEST, PROCESSORS, MEMORY, USER, GROUP, EXECUTABLE, ALLOWED = range(FEATURES)

# Positions in Pool.progress.
JOBS = 0  # jobs of the episode
QUEUED = 1  # jobs in the queue
PASSED = 2  # 1 if nothing more is to be decided in this second
CHOSEN = 3  # the policy of the present period
UNTIL = 4  # when the period, or the pause after a skip, is over; NEVER if there is none
COMMITTED = 5  # the job that is waited for, or NO_JOB
PROPOSED = 6  # the job that may be accepted, or NO_JOB
SHOWN = 7  # rows of the observation that are filled
OVER = 8  # 1 once all jobs have started
WRONG = 9  # 1 if the last action was masked
BLAMED = 10  # a job whose score is not a number, or NO_JOB
DECISIONS = 11  # actions taken so far
LEVEL = 12  # waiting jobs that cost what they did at first
MASKED = 13  # number of visible jobs that the mask covers
LACKING = 14  # with at most this many free processors, no visible job that waited at the last check fits; -1: not known
FITTING = 15  # 1 if a job that needs no more than is free has entered the queue since then
PROGRESS = 16

# Positions in Pool.cost.
ACCRUED = 0  # of the metric so far, as a sum over the jobs ...
TOLD = 1  # ... and as far as rewards have told
SLOPE = 2  # what it grows by in a second, but for the jobs at LEVEL
COSTS = 3

NO_JOB = -1


@by_address
class Pool(NamedTuple):
    """Episodes side by side; each array has a line for each.

    Parameters
    ----------
    jobs
        Records of type JOB, in order of submission.
    clock, start, noticed, backfilled, begun
        As in `schedlab.engine.jobs.state.State`; `running_*` and `ending_*` are its calendars.
    queue
        int64: the jobs that wait, in the order in which they are shown.
    score
        float64 of shape (episodes, policies, jobs): by what policies order the queue, smallest first.
    feature
        float32 of shape (episodes, jobs, FEATURES): what an observation says of a job; two are filled in later.
    growth
        float64 of shape (episodes, jobs, 3): after t seconds of waiting, a job has cost max(floor, (t + a) b); a, b and
        floor.
    progress, cost
        Where the episode stands, see the positions above.
    stack, columns
        Scratch space for formulas.
    shown, summary, mask
        What the agent sees: float32 (episodes, slots, FEATURES), float32 (episodes, SUMMARY), bool (episodes, actions).
    reward
        float64: of the last step.
    """

    jobs: NDArray[Any]
    clock: NDArray[np.int64]
    start: NDArray[np.int64]
    noticed: NDArray[np.int64]
    backfilled: NDArray[np.bool_]
    begun: NDArray[np.int64]
    ended: NDArray[np.int64]
    running_records: NDArray[Any]
    running_order: NDArray[np.int32]
    running_counts: NDArray[np.int32]
    running_status: NDArray[np.int64]
    ending_records: NDArray[Any]
    ending_order: NDArray[np.int32]
    ending_counts: NDArray[np.int32]
    ending_status: NDArray[np.int64]
    queue: NDArray[np.int64]
    score: NDArray[np.float64]
    feature: NDArray[np.float32]
    growth: NDArray[np.float64]
    progress: NDArray[np.int64]
    cost: NDArray[np.float64]
    stack: NDArray[np.float64]
    columns: NDArray[np.int64]
    shown: NDArray[np.float32]
    summary: NDArray[np.float32]
    mask: NDArray[np.bool_]
    reward: NDArray[np.float64]


def new_pool(episodes: int, jobs: int, *, policies: int, slots: int, actions: int, depth: int, processors: int) -> Pool:
    """Allocate a number of episodes with a maximum number of jobs each; `depth` is that of the formulas' stack."""
    most = min(jobs, processors) + 1
    blocks = most // (BLOCK // 4) + 4

    def line(*shape: int, dtype: type = np.int64) -> Any:
        return np.zeros((episodes, *shape), dtype=dtype)

    def calendar() -> tuple[Any, ...]:
        return (
            new_records((episodes, blocks * BLOCK), DUE),  # type: ignore[arg-type]
            line(blocks, dtype=np.int32),
            line(blocks, dtype=np.int32),
            line(2),
        )

    return Pool(  # type: ignore[call-arg]
        new_records((episodes, jobs), JOB),  # type: ignore[arg-type]
        line(CLOCK_SIZE),
        line(jobs),
        line(jobs),
        line(jobs, dtype=np.bool_),
        line(jobs),
        line(most),
        *calendar(),
        *calendar(),
        line(jobs),
        line(policies, jobs, dtype=np.float64),
        line(jobs, FEATURES, dtype=np.float32),
        line(jobs, 3, dtype=np.float64),
        line(PROGRESS),
        line(COSTS, dtype=np.float64),
        line(max(depth, 1), CHUNK if depth else 1, dtype=np.float64),
        line(5, CHUNK if depth else 1),
        line(slots, FEATURES, dtype=np.float32),
        line(SUMMARY, dtype=np.float32),
        line(actions, dtype=np.bool_),
        np.zeros(episodes),
    )


def size_of(pool: Pool) -> int:
    """Return the bytes that a pool takes."""
    return sum(array.nbytes for array in pool)


@inlined
def state_of(pool: Pool, e: int) -> State:
    """Return the engine's state of an episode; it has no part that an environment does not need."""
    running = Calendar(pool.running_records[e], pool.running_order[e], pool.running_counts[e], pool.running_status[e])
    ending = Calendar(pool.ending_records[e], pool.ending_order[e], pool.ending_counts[e], pool.ending_status[e])
    queue = pool.queue[e]
    return State(
        pool.clock[e],
        pool.start[e],
        pool.noticed[e],
        pool.backfilled[e],
        pool.backfilled[e],  # planned: there are no passes of Slurm that ask
        running,
        ending,
        pool.ended[e],
        pool.begun[e],
        running,  # alarms: nothing is watched
        queue,
        queue,
        queue,
    )


@inlined
def empty_calendar(order: NDArray[np.int32], counts: NDArray[np.int32], status: NDArray[np.int64]) -> None:
    """Make a calendar what it was when it was new."""
    for block in range(len(order)):
        order[block] = block
        counts[block] = 0
    status[0] = 0
    status[1] = NEVER


@inlined
def program_of(pool: Pool, e: int, formulas: Formulas, number: int) -> Program:
    """Return the formula of a policy, to be evaluated for the jobs of an episode."""
    return Program(
        formulas.codes[formulas.code[number] : formulas.code[number + 1]],
        formulas.constants[formulas.constant[number] : formulas.constant[number + 1]],
        pool.stack[e],
        pool.columns[e],
        pool.columns[e, 0],
        pool.jobs[e, 0].submit,
        None,
    )
