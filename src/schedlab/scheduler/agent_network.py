"""The network of an agent: a value for each job that could start now, and one for waiting; the largest wins.

All rows go through the same small network, as in the kernel network of SC'20, so that the number of visible jobs and
their positions do not matter. There are two differences: waiting has its own row, and each row includes the state of
the machine and of its queue. A logarithmic scale besides the linear one separates small requests and widths.

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
"""The features of a job in an observation, in this order; see the documentation of environments."""

WAIT, REQUEST, PROCESSORS, POSSIBLE = (
    JOB_FEATURES.index(name) for name in ("wait", "request", "processors", "possible")
)

LONG_WAIT = 43_200
"""Seconds of waiting that count as 1 in observations: 12 h, as in SC'20."""

CONTEXT = 6
"""The number of summary features in use, without the remaining part of the episode, which no scheduler knows."""

INPUTS = (
    *("wait", "log wait", "request", "log request", "processors", "log processors", "is waiting", "free afterwards"),
    *("free", "queue", "queued processors", "queued area", "mean wait", "next end"),
)
"""The columns of a row that describe the machine, in this order."""

JOB_INPUTS = ("wait", "request", "processors", "possible")

VIEWS = {"context": INPUTS, "job": JOB_INPUTS}
"""The possible inputs of a network, as columns of a row. "job" has SC'20's, without user and program numbers."""

LOGARITHMIC = 1e4
"""Shares x are also given as log(1 + s x) / log(1 + s), with this s."""

Floats = NDArray[np.float32]


def inputs(jobs: Floats, summary: Floats, waits: NDArray[np.bool_], names: tuple[str, ...] = INPUTS) -> Floats:
    """Return the input rows of a network.

    Parameters
    ----------
    jobs
        float32 of shape (rows, 8): the features of jobs; those of rows for waiting are ignored.
    summary
        float32 of shape (rows, 8): the features of the machine and its queue.
    waits
        bool of shape (rows,): which rows are for waiting.
    names
        The inputs, one of `VIEWS`. In the view "job", the row for waiting is zeros.

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

    `names` are the columns of its input rows, one of `VIEWS`.

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
        """Return the possible action with the largest value.

        Parameters
        ----------
        jobs
            float32 of shape (slots, 8), the observation "jobs".
        summary
            float32 of shape (8,), the observation "summary".
        mask
            bool of shape (slots + 1,): the possible actions; the last one is to wait.
        """
        possible = np.flatnonzero(mask)
        waits = possible == len(jobs)
        shown = jobs[np.where(waits, 0, possible)]
        rows = inputs(shown, np.broadcast_to(summary, (len(possible), len(summary))), waits, self.names)
        return int(possible[np.argmax(self.values(rows))])
