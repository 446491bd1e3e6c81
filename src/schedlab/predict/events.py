"""What happens to jobs whose starts are known: submissions, starts and ends, one after the other."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.parts.forecasts.history import note_start
from schedlab.engine.parts.forecasts.kernels import Forecast, learn, predict
from schedlab.kernels import bare_kernel

# The order within a second: that of the engine's passes. A job without length ends after it has started.
END, SUBMISSION, START, END_AT_ONCE = range(4)


class Events(NamedTuple):
    """Events in the order in which they happen; entry i: what happens (`kind`), to which job, in which second."""

    time: NDArray[np.int64]
    kind: NDArray[np.int64]
    job: NDArray[np.int64]

    def until(self, second: int, *, of: int) -> int:
        """Return how many events of the first jobs there are up to the last submission of a second."""
        past = (self.time < second) | ((self.time == second) & (self.kind <= SUBMISSION))
        return int(np.count_nonzero(past & (self.job < of)))


def events_of(submit: NDArray[np.int64], start: NDArray[np.int64], duration: NDArray[np.int64]) -> Events:
    """Return the events of jobs, given in order of submission, all times in seconds."""
    number = np.arange(len(submit))
    time = np.concatenate([submit, start, start + duration])
    kind = np.repeat([SUBMISSION, START, END], len(submit))
    kind[2 * len(submit) :][duration == 0] = END_AT_ONCE
    job = np.tile(number, 3)
    # The ends of one second in the order of the starts, as in the engine.
    rank = np.where(kind == SUBMISSION, 0, start[job])
    order = np.lexsort([job, rank, kind, time])
    return Events(time[order], kind[order], job[order])


@bare_kernel
def follow(
    jobs: NDArray[Any], start: NDArray[np.int64], forecast: Forecast, events: Events, first: int, last: int
) -> None:
    """Let a compiled predictor live through the events from `first` to before `last`."""
    for i in range(first, last):
        job = events.job[i]
        if events.kind[i] == SUBMISSION:
            forecast.first[job] = predict(jobs, start, forecast, job, events.time[i])
        elif events.kind[i] == START:
            note_start(forecast.history, job)
        else:
            learn(jobs, forecast, job, events.time[i])
