"""Small random workloads that are rich in what breaks schedulers: ties, zero run times, jobs as wide as the machine."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from schedlab.scheduler import FunctionPolicy, Scheduler
from schedlab.workload.workload import Workload


@st.composite
def workloads(
    draw: st.DrawFn,
    *,
    shortest: int = 0,
    enforced: bool | None = None,
    users: int = 1,
    units: tuple[int, ...] = (1,),
    widest: int = 8,
) -> Workload:
    """Draw up to 20 jobs on up to 8 processors (or so many); requests may be too short, and then are enforced or not.

    Times are a few of one of the `units`, in seconds.
    """
    processors = draw(st.integers(1, widest))
    unit = draw(st.sampled_from(units))
    period = draw(st.sampled_from([0, 3, 40]))
    jobs = draw(
        st.lists(
            st.tuples(
                st.integers(0, period),
                st.integers(shortest, 9),
                st.integers(1, 12),
                st.integers(1, processors),
                st.integers(1, users),
            ),
            min_size=1,
            max_size=20,
        )
    )
    submit, run, request, width, user = (np.array(column) for column in zip(*jobs, strict=True))
    return Workload.from_columns(
        {
            "submit_time": unit * submit,
            "run_time": unit * run,
            "requested_time": unit * request,
            "requested_processors": width,
            "user_id": user,
        },
        processors=processors,
        requests_enforced=draw(st.booleans()) if enforced is None else enforced,
    )


def small_work_and_age(p, q, w):
    """A policy of a user's own that changes with time and that only Python can compute."""
    return p * q - 3.0 * w


SCHEDULERS = [
    "fcfs",
    "lcfs",
    "spf",
    "lqf",
    "fcfs+easy",
    "fcfs+easy@actual",
    "fcfs+easy:sjf",
    "fcfs+easy:sjf@actual",
    "saf+easy",
    "lcfs+easy:sqf",
    "f1+easy",
    '"p - 2*q"+easy:laf',
    "laf+easy,starvation=10",
    "saf+easy:lpf,starvation=3",
    "wfp3",
    "wfp3+easy",
    "unicef+easy:sjf",
    "fcfs+easy:wfp3,starvation=5",
    "fcfs+easy,window=2",
    "saf+easy,window=3,starvation=8",
    "wfp3+easy:sjf,window=4",
    "fcfs+conservative",
    "saf+conservative",
    "wfp3+conservative",
    "lcfs+conservative@actual",
    "fcfs+easy@ave2",
    "fcfs+easy:sjf@ave(1)/doubling",
    "wfp3+easy@mean/requested,starvation=10",
    "saf+conservative@median",
    Scheduler(FunctionPolicy(lambda q: -q), "easy"),
    Scheduler(FunctionPolicy(small_work_and_age), "easy"),
    Scheduler(FunctionPolicy(small_work_and_age), "easy", window=3),
    Scheduler(FunctionPolicy(small_work_and_age), "conservative"),
]
"""Every kind of order, backfilling, run-time knowledge and option."""
