"""What Slurm's passes know: when they are due, what the last one has planned, and how many jobs they look at."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, Kept, PerJob, Scratch
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.state import NO_JOB
from schedlab.engine.machine.profile import Profile, new_profile
from schedlab.engine.slurm.groups import GROUPS
from schedlab.engine.slurm.turn import TURN
from schedlab.kernels import by_address, new_records

NO_GROUP = -1
"""In `Depths.group`: there is no limit."""

# Positions in Passes.counters.
MAIN_DUE = 0  # second of the next main pass
LAST_MAIN = 1  # ... and of the last one
FULL_DUE = 2  # second of the next main pass that looks at the whole queue, after one that was cut short
LOOK_AGAIN = 3  # first second from which on a backfill pass could start a job; NEVER if only a change helps
LAST_CHANGE = 4  # last second in which anything happened
LAST_BACKFILL = 5  # second of the last backfill pass
BACKFILL_PASSES = 6  # backfill passes with plans so far
MAIN = 7  # 1 if a main pass is due now
BACKFILL = 8  # 1 if a backfill pass is due now
STEPS = 9  # seconds in which the plan of the present backfill pass changes
STEPS_CHANGE = 10  # second from which the same reservations would make another number of steps
MAIN_PASSES = 11  # main passes so far
RESTING = 12  # whether passes rest as the last one has changed nothing: AWAKE, ALONE or BESIDE
BEHIND = 13  # 1 if the last job that was planned is to begin when the reservation of another one ends
TESTED = 14  # 1 if the last job that was planned would fit at some time, had others no reservations
RECORDS = 15  # records that the plan of the present backfill pass has had so far, also those that have been joined
TWICE = 16  # 1 if one of its steps separates records with the same reserved nodes
EMPTY_FIRST_RECORD = 17  # 1 if a reservation begins with the plan, which puts an empty record before it
MARKED = 18  # 1 if the last backfill pass has marked nodes as planned; that the next one removes the marks is a change
FEW = 19  # 1 if so few jobs wait that the present backfill pass plans them all
IDLE = 20  # 1 if it has reserved nodes that are idle, which is taken for granted where many jobs wait
STANDS = 21  # a job that still has room now beside all reservations, on the nodes found for it; NO_JOB if none is known
ASLEEP = 22  # 1 if only jobs wait that have returned since the last other event, for which no backfill pass is made
SEARCHED = 23  # the request of the last search beside reservations ...
SEARCHED_IN = 24  # ... and the number of its view of the machine
USABLE_NODES = 25  # nodes in no reservation that a job would touch, by the last search ...
USABLE_CORES = 26  # ... and their cores
LISTED = 27  # running jobs that are listed by their ends ...
LISTED_AT = 28  # ... after so many starts and ends; -1 if none are
ROOMS = 29  # cohorts of `Passes.rooms`; before they are listed in a search, minus the moments to try until then
COUNTERS_SIZE = 30

# In RESTING.
AWAKE = 0  # passes do not rest
ALONE = 1  # the next one waits for a change
BESIDE = 2  # ... and the main passes of full minutes are changes, too


@by_address
class Depths(NamedTuple):
    """Where a pass considers limited numbers of jobs of a user, a partition ...: these numbers, and its counts.

    `most` has a number for each kind, a row of `group` the group of each turn (`schedlab.engine.slurm.queue_entries`);
    `looked_at` and `looked_in` say how many turns of a group a pass has considered, and which pass that was.
    """

    most: Fixed[NDArray[np.int64]]
    group: Fixed[NDArray[np.int64]]
    looked_at: Scratch[NDArray[np.int64]]
    looked_in: Scratch[NDArray[np.int64]]


@by_address
class Passes(NamedTuple):
    """When passes are due, and what the last backfill pass has planned.

    `submission` numbers what was submitted together, such as the elements of an array. `profile` holds the plan;
    `planned_end` (seconds) and `planned_in` give, per job, when it will have ended by the plan and in which pass that
    was computed; `begins` when it is to begin. `planning` and `starting` count the jobs of a user, a partition ... that
    a backfill pass and a main pass consider; `reserving` those of a partition and of an array for which a backfill pass
    reserves, which is none for jobs of a QOS with NoReserve.
    `steps` are the seconds between the records of a plan of limited size, in order. `turn` is where a pass is, see
    `schedlab.engine.slurm.turn`, and `groups` where it is among the ends of running jobs, see
    `schedlab.engine.slurm.groups`; `known` has what was found last for each request, see
    `schedlab.engine.slurm.known_plans`, and `runs` the running jobs by their ends, see
    `schedlab.engine.slurm.runs_by_end`, which lie on some cohorts of nodes, see
    `schedlab.engine.slurm.runs_on_cohorts`; `rooms` when each cohort has room for the job of a search, see
    `schedlab.engine.slurm.next_moment`.
    """

    counters: Kept[NDArray[np.int64]]
    submission: Fixed[NDArray[np.int64]]
    profile: Profile
    planned_end: PerJob[NDArray[np.int64]]
    planned_in: PerJob[NDArray[np.int64]]
    begins: PerJob[NDArray[np.int64]]
    planning: Depths
    starting: Depths
    reserving: Depths
    steps: Kept[NDArray[np.int64]]
    turn: Scratch[NDArray[Any]]
    groups: Scratch[NDArray[Any]]
    known: Scratch[NDArray[Any]]
    runs: Scratch[NDArray[Any]]
    lies_on: Scratch[NDArray[Any]]
    rooms: Scratch[NDArray[Any]]


def new_depths(most: NDArray[np.int64], group: NDArray[np.int64]) -> Depths:
    """Return the counts before the first pass: `most` of each kind, and a row of groups (from 0) for it."""
    groups = int(group.max(initial=-1)) + 1
    return Depths(most, group, np.zeros(groups, dtype=np.int64), np.zeros(groups, dtype=np.int64))


def new_passes(
    submission: NDArray[np.int64],
    depths: tuple[Depths, Depths, Depths],
    processors: int,
    steps: int,
    known: NDArray[Any],
    records: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
) -> Passes:
    """Return the state before the first pass; `depths` are those for planning, starting and reserving.

    There is room in `records` for running jobs, for the cohorts on which they lie, and for all cohorts.
    """
    jobs = len(submission)
    counters = np.zeros(COUNTERS_SIZE, dtype=np.int64)
    counters[STANDS] = NO_JOB
    counters[[MAIN_DUE, FULL_DUE, LOOK_AGAIN]] = NEVER
    counters[[LAST_MAIN, LAST_CHANGE, LAST_BACKFILL]] = -NEVER // 2
    return Passes(
        counters,
        submission,
        new_profile(2 * jobs, processors),
        planned_end=np.zeros(jobs, dtype=np.int64),
        planned_in=np.zeros(jobs, dtype=np.int64),
        begins=np.zeros(jobs, dtype=np.int64),
        planning=depths[0],
        starting=depths[1],
        reserving=depths[2],
        steps=np.empty(steps + 2, dtype=np.int64),
        turn=new_records(1, TURN),
        groups=new_records(1, GROUPS),
        known=known,
        runs=records[0],
        lies_on=records[1],
        rooms=records[2],
    )
