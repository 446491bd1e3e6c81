"""Jobs that ask for less than they may need: failed runs come back with the next request, and may run speculatively.

What a job needs is known to the simulation alone. It asks for the first request of its sequence; if that is too short,
the run fails when it is over, loses all its work, and the job is submitted again with the next request. A job may also
be run speculatively, in a gap that none of its requests fits: if it fails there, it goes back to the head of the queue
as it was before, and is known to need more.

References
----------
Gainaru, Pallez, Sun and Raghavan, "Speculative scheduling for stochastic HPC applications", ICPP 2019.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.state import ARRIVED, COMPLETED, NOW, STARTED, SUBMITTED, WAITING, State
from schedlab.kernels import bare_kernel, inlined
from schedlab.speculate.requests import NO_LAW, Laws

RUN = np.dtype([("job", "i8"), ("start", "i8"), ("end", "i8"), ("request", "i8"), ("speculative", "?"), ("done", "?")])
"""A run of a job. `end` is when it really ended, `done` whether the job was done then."""

# Positions in Attempts.counters.
RUNS = 0  # runs that have started
RETURNED = 1  # jobs that the last event has brought back to the end of the queue
ENTERED = 2  # submissions, first ones and others
COUNTERS_SIZE = 3


class Attempts(NamedTuple):
    """What jobs ask for, and what becomes of it; one entry per job, in order of submission, unless said otherwise.

    Parameters
    ----------
    counters
        The counters above.
    work
        int64 seconds that the job really needs.
    offsets, requests
        Its requests are `requests[offsets[j]:offsets[j + 1]]`, in seconds, ascending.
    place
        Which of them it asks for.
    asked
        Its present request: of the sequence or, when that is at its end, beyond.
    known
        Seconds that the job is known to exceed.
    most
        What it asks for at most.
    growth
        Where a sequence ends, the next request is so many times the last one; 0: the job is given up.
    law
        Its law, or NO_LAW.
    application, latest, seen, history
        Of each application, run times of its last jobs that were done, and how many there were; if `history` is not 0,
        jobs of an application ask at first for the longest of so many.
    laws
        The laws.
    runs, run
        All runs (RUN), and the number of each job's present or last one.
    first
        Whether a job goes before all others, because it has just failed speculatively.
    entered
        Number of the job's last submission.
    returned
        Scratch space for those that come back.
    """

    counters: NDArray[np.int64]
    work: NDArray[np.int64]
    offsets: NDArray[np.int64]
    requests: NDArray[np.int64]
    place: NDArray[np.int64]
    asked: NDArray[np.int64]
    known: NDArray[np.int64]
    most: NDArray[np.int64]
    growth: NDArray[np.float64]
    law: NDArray[np.int64]
    application: NDArray[np.int64]
    latest: NDArray[np.int64]
    seen: NDArray[np.int64]
    history: int
    laws: Laws
    runs: NDArray[Any]
    run: NDArray[np.int64]
    first: NDArray[np.bool_]
    entered: NDArray[np.int64]
    returned: NDArray[np.int64]


@bare_kernel
def come_back(jobs: NDArray[Any], state: State, attempts: Attempts, waiting: NDArray[np.int64]) -> None:
    """See what became of the runs that have just ended: jobs that are not done wait again."""
    clock = state.clock
    now = clock[NOW]
    attempts.counters[RETURNED] = 0
    for i in range(clock[COMPLETED]):
        job = state.ended[i]
        run = attempts.run[job]
        attempts.runs[run].end = now
        attempts.first[job] = False
        if now - attempts.runs[run].start >= attempts.work[job]:
            attempts.runs[run].done = True
            _remember(attempts, job)
            continue
        attempts.known[job] = max(attempts.known[job], attempts.runs[run].request)
        if attempts.runs[run].speculative:
            attempts.first[job] = True
            _ask(jobs, attempts, job, attempts.asked[job])
            # Back to its place by submission: who has waited longest is still in front.
            place = clock[WAITING]
            while place > 0 and attempts.entered[waiting[place - 1]] > attempts.entered[job]:
                waiting[place] = waiting[place - 1]
                place -= 1
            waiting[place] = job
            clock[WAITING] += 1
        else:
            request = _next_request(attempts, job)
            if request < 0:
                continue  # given up
            attempts.asked[job] = request
            _ask(jobs, attempts, job, request)
            jobs[job].submit = now
            attempts.returned[attempts.counters[RETURNED]] = job
            attempts.counters[RETURNED] += 1
        # The plan takes what is left of an ended run out of the profile: nothing, for it was as long as asked for.
        state.start[job] = now - jobs[job].estimate
    for i in range(attempts.counters[RETURNED]):
        waiting[clock[WAITING]] = attempts.returned[i]
        clock[WAITING] += 1


@bare_kernel
def ask_first(jobs: NDArray[Any], state: State, attempts: Attempts) -> None:
    """Let the jobs that are being submitted choose their first requests."""
    clock = state.clock
    for job in range(clock[SUBMITTED] - clock[ARRIVED], clock[SUBMITTED]):
        application = attempts.application[job]
        if attempts.history > 0 and application >= 0 and attempts.seen[application] > 0:
            longest = 1
            for i in range(min(attempts.history, attempts.seen[application])):
                longest = max(longest, attempts.latest[application, i])
            attempts.asked[job] = min(longest, attempts.most[job])
            attempts.place[job] = attempts.offsets[job + 1] - attempts.offsets[job] - 1  # from here on it grows
        _ask(jobs, attempts, job, attempts.asked[job])


@inlined
def _ask(jobs: NDArray[Any], attempts: Attempts, job: int, request: int) -> None:
    jobs[job].estimate = request
    jobs[job].duration = min(request, attempts.work[job])


@inlined
def _next_request(attempts: Attempts, job: int) -> int:
    """Return what a job asks for after a failure; -1 if it is given up."""
    last = attempts.asked[job]
    offset = attempts.offsets[job]
    while attempts.place[job] + 1 < attempts.offsets[job + 1] - offset:
        attempts.place[job] += 1
        request = attempts.requests[offset + attempts.place[job]]
        if request > attempts.known[job]:
            return request
    if attempts.growth[job] <= 0 or last >= attempts.most[job]:
        return -1
    return min(attempts.most[job], max(last + 1, int(last * attempts.growth[job])))


@inlined
def _remember(attempts: Attempts, job: int) -> None:
    """Note the run time of a job that is done, for those of its application that follow."""
    application = attempts.application[job]
    if attempts.history > 0 and application >= 0:
        attempts.latest[application, attempts.seen[application] % attempts.history] = attempts.work[job]
        attempts.seen[application] += 1


@bare_kernel
def note_runs(jobs: NDArray[Any], state: State, attempts: Attempts, before: int, speculative: bool) -> None:
    """Write down the runs that have started since there were `before` of them."""
    for i in range(before, state.clock[STARTED]):
        job = state.begun[i]
        run = attempts.counters[RUNS]
        attempts.counters[RUNS] += 1
        attempts.run[job] = run
        attempts.runs[run].job = job
        attempts.runs[run].start = state.start[job]
        attempts.runs[run].request = jobs[job].estimate
        attempts.runs[run].speculative = speculative
        attempts.runs[run].done = False


@bare_kernel
def useful_share(attempts: Attempts, job: int, processors: int, length: int, gap: int) -> float:
    """Return the expected share of a gap that a speculative run would use well.

    The expected work of a run that succeeds within `length` seconds, given that the job needs more than it is known to
    exceed, over the `gap` processors for that long (Gainaru et al., section 4.3).
    """
    law = attempts.law[job]
    known = attempts.known[job]
    if law == NO_LAW or length <= known:
        return 0.0
    below, part = _law_at(attempts.laws, law, float(known))
    _, more = _law_at(attempts.laws, law, float(length))
    if below >= 1.0:
        return 0.0
    return processors * (more - part) / ((1.0 - below) * gap * length)


@inlined
def _law_at(laws: Laws, law: int, second: float) -> tuple[float, float]:
    """Return the probability of at most so many seconds, and the expectation over those runs, interpolated."""
    last = laws.below.shape[1] - 1
    at = (second - laws.begin[law]) / laws.step[law]
    if at <= 0:
        return (laws.below[law, 0], laws.part[law, 0]) if at == 0 else (0.0, 0.0)
    if at >= last:
        return laws.below[law, last], laws.part[law, last]
    k = int(at)
    rest = at - k
    return (
        laws.below[law, k] + rest * (laws.below[law, k + 1] - laws.below[law, k]),
        laws.part[law, k] + rest * (laws.part[law, k + 1] - laws.part[law, k]),
    )
