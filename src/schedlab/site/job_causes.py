"""Why one job of a schedule waited: for lack of what on the nodes that it may use, or behind which other jobs."""

from __future__ import annotations

import numpy as np

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.membership import users_of
from schedlab.engine.machine.requests import unchecked_inputs
from schedlab.engine.steps.priority_factors import Priorities
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.summary import duration
from schedlab.schedule.timeline import count_present
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site.explained import because
from schedlab.site.fitting import ROOM, STATES, Fitting
from schedlab.wording import count_of, table

NEAR = 3
"""Jobs above and below one in the order of the queue that are shown."""


def job_causes(schedule: Schedule, row: int, cluster: Cluster) -> dict[str, int]:
    """Return the seconds that a job waited by cause, as `schedlab.site.causes` has them, the longest first.

    Parameters
    ----------
    schedule
        On nodes.
    row
        Of the job.
    cluster
        The nodes.
    """
    placement = Scheduler.parse(schedule.scheduler).placement
    inputs = unchecked_inputs(schedule.workload, cluster, placement)
    begin, end = schedule.queued_since, schedule.start_time.astype(np.int64)
    alike = np.flatnonzero((inputs.shape == inputs.shape[row]) & (end > begin))
    if end[row] <= begin[row]:
        return {}
    steps = Fitting(schedule, inputs).states(int(inputs.shape[row]), count_present(begin[alike], end[alike]))
    mine = slice(row, row + 1)
    found = {
        state: round(float(steps.seconds(number, begin[mine], end[mine])[0])) for number, state in enumerate(STATES)
    }
    found["turn"] = found.pop(STATES[ROOM])
    return dict(sorted(((cause, one) for cause, one in found.items() if one), key=lambda each: -each[1]))


def causes_text(causes: dict[str, int]) -> str:
    """Return what a job waited for in words.

    Examples
    --------
    >>> causes_text({"memory": 864, "turn": 182})
    'on the nodes that it may use: 14.4 min for lack of free memory, 3.03 min behind other jobs, with room'
    """
    told = (f"{duration(seconds)} {because(cause).partition(' on nodes')[0]}" for cause, seconds in causes.items())
    return f"on the nodes that it may use: {', '.join(told)}"


def around(schedule: Schedule, ranked: Priorities, job: int) -> str:
    """Return the priorities of a job and of those next to it in the order of the queue, with names of users."""
    frame = ranked.to_frame().drop(columns="user_id")
    place = int(np.flatnonzero(ranked.job_id == job)[0])
    near = frame.iloc[max(place - NEAR, 0) : place + NEAR + 1]
    names = dict(zip(schedule.workload.job_id.tolist(), users_of(schedule.workload).texts(), strict=True))
    rows = []
    for number, *values in near.itertuples(index=False):
        mark = " <-" if number == job else ""
        rows.append([f"{number}{mark}", names[number] or "-", *(f"{value:,.0f}" for value in values)])
    before = f"{count_of(place, 'job') if place else 'no job'} of the {len(frame):,} that wait"
    has = "have" if place > 1 else "has"
    head = f"second {ranked.second:,}: {before} {has} a higher priority; --at {ranked.second} prints all"
    return f"{head}\n{table(['job', 'user', *near.columns[1:]], rows)}"
