"""Schedules for the tests: from rows, and feasible ones of any shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload


def build(rows: Sequence[tuple[int, ...]], machine: int, **columns: list[int]) -> Schedule:
    """Return the schedule of rows (submit, start, run time, processors); other columns by name."""
    submit, start, run, processors = (list(column) for column in zip(*rows, strict=True)) if rows else ([],) * 4
    workload = Workload.from_columns(
        {"submit_time": submit, "run_time": run, "requested_processors": processors} | columns,
        name="by hand",
        processors=machine,
    )
    begins = np.array(start, dtype=np.int64)
    no = np.zeros(len(rows), dtype=bool)
    return Schedule(
        workload,
        start_time=begins,
        end_time=begins + workload.run_time,
        backfilled=no,
        killed=no,
        predicted_run_time=workload.run_time,
        corrections=np.zeros(len(rows), dtype=np.int64),
        scheduler="by hand",
        processors=machine,
    )


@st.composite
def feasible_schedules(draw: st.DrawFn) -> Schedule:
    """Draw jobs, ties and 0-second jobs among them, and start each at the first second at which it fits."""
    machine = draw(st.integers(1, 12))
    jobs = draw(
        st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(1, machine)), min_size=1, max_size=25)
    )
    busy = np.zeros(1_000, dtype=int)
    # What jobs of 0 seconds need free, at their second, of jobs that started before and run on.
    instant = np.zeros(1_000, dtype=int)
    rows = []
    submit = 0
    for gap, run, processors in jobs:
        submit += gap
        start = submit
        while (
            busy[start] + processors > machine
            or ((busy + instant)[start + 1 : start + run] + processors > machine).any()
        ):
            start += 1
        busy[start : start + run] += processors
        if run == 0:
            instant[start] = max(instant[start], processors)
        rows.append((submit, start, run, processors))
    users = draw(st.lists(st.integers(-1, 3), min_size=len(rows), max_size=len(rows)))
    return build(rows, machine, user_id=users)
