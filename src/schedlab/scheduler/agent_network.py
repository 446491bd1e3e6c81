"""What a trained agent computes: a value for each job that could start now, and one for waiting; the largest wins.

All rows go through the same small network, as in the kernel network of SC'20, so that it does not matter how many jobs
are visible and where they stand. Two things differ from there: waiting is a row of its own, and each row says what the
machine and its queue look like. Small requests and widths are told apart on a logarithmic scale beside the plain one.

References
----------
Zhang, Dai, He, Bao and Xie, "RLScheduler: an automated HPC batch job scheduler using reinforcement learning", SC 2020,
section IV-C.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

JOB_FEATURES = ("wait", "request", "processors", "memory", "user", "group", "executable", "possible")
"""What an observation says of a job, in this order; see the page on environments."""

WAIT, REQUEST, PROCESSORS, POSSIBLE = (
    JOB_FEATURES.index(name) for name in ("wait", "request", "processors", "possible")
)

LONG_WAIT = 43_200
"""Seconds of waiting that count as 1 in observations: 12 h, as in SC'20."""

CONTEXT = 6
"""So many numbers of the summary are seen: not how much of the episode is left, which no scheduler knows."""

INPUTS = (
    *("wait", "log wait", "request", "log request", "processors", "log processors", "is waiting", "free afterwards"),
    *("free", "queue", "queued processors", "queued area", "mean wait", "next end"),
)
"""The columns of a row that says what the machine looks like, in this order."""

JOB_INPUTS = ("wait", "request", "processors", "possible")

VIEWS = {"context": INPUTS, "job": JOB_INPUTS}
"""What a network may see: the columns of a row. "job" is what SC'20's sees, but for numbers of users and programs."""

LOGARITHMIC = 1e4
"""Shares x are seen as log(1 + s x) / log(1 + s) too, with this s."""

Floats = NDArray[np.float32]


def inputs(jobs: Floats, summary: Floats, waits: NDArray[np.bool_], names: tuple[str, ...] = INPUTS) -> Floats:
    """Return the rows that a network sees.

    Parameters
    ----------
    jobs
        float32 of shape (rows, 8): what observations say of jobs; what stands there of waiting does not matter.
    summary
        float32 of shape (rows, 8): what they say of the machine and its queue.
    waits
        bool of shape (rows,): which rows are for waiting.
    names
        What it sees, one of `VIEWS`. In the view "job", the row for waiting is zeros.

    Returns
    -------
    numpy.ndarray
        float32 of shape (rows, columns).
    """
    if names == JOB_INPUTS:
        return np.where(waits[:, None], np.float32(0), jobs[:, [WAIT, REQUEST, PROCESSORS, POSSIBLE]])
    rows = np.zeros((len(jobs), len(INPUTS)), dtype=np.float32)
    shares = np.where(waits[:, None], np.float32(0), jobs[:, [WAIT, REQUEST, PROCESSORS]])
    rows[:, 0:6:2] = shares
    rows[:, 1:6:2] = np.log1p(np.float32(LOGARITHMIC) * shares) / np.float32(np.log1p(LOGARITHMIC))
    rows[:, 6] = waits
    rows[:, 7] = summary[:, 0] - shares[:, 2]
    rows[:, 8:] = summary[:, :CONTEXT]
    return rows


class Network(NamedTuple):
    """Layers of weights, float32 of shape (inputs, outputs), and biases; all but the last are rectified.

    `names` are the columns of the rows that it sees, one of `VIEWS`.

    Examples
    --------
    >>> network = Network((np.ones((2, 1), np.float32),), (np.zeros(1, np.float32),))
    >>> network.values(np.array([[1, 2], [3, 4]], np.float32)).tolist()
    [3.0, 7.0]
    """

    weights: tuple[Floats, ...]
    biases: tuple[Floats, ...]
    names: tuple[str, ...] = INPUTS

    def values(self, rows: Floats) -> Floats:
        """Return a value per row."""
        last = len(self.weights) - 1
        for layer, (weights, biases) in enumerate(zip(self.weights, self.biases, strict=True)):
            rows = rows @ weights + biases
            if layer < last:
                rows = np.maximum(rows, np.float32(0))
        return rows[:, 0]

    def choose(self, jobs: Floats, summary: Floats, mask: NDArray[np.bool_]) -> int:
        """Return the action with the largest value, of those that are possible.

        Parameters
        ----------
        jobs
            float32 of shape (slots, 8), the observation "jobs".
        summary
            float32 of shape (8,), the observation "summary".
        mask
            bool of shape (slots + 1,): what is possible; the last action is to wait.
        """
        possible = np.flatnonzero(mask)
        waits = possible == len(jobs)
        shown = jobs[np.where(waits, 0, possible)]
        rows = inputs(shown, np.broadcast_to(summary, (len(possible), len(summary))), waits, self.names)
        return int(possible[np.argmax(self.values(rows))])
