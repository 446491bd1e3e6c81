"""What runs and has run of each user, as policies in Python are told: processors held, and decayed usage."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


class PastOfUsers:
    """The processors that the runs of each user hold, and the processor-seconds that they have used.

    What was used halves in `half_life` seconds, continuously: a run that holds q processors from s to t has used the
    integral of q * 2 ** -((now - x) / half_life) over x from s to t.

    Parameters
    ----------
    user
        int64: the user of each job; the jobs without one are of one user.
    processors
        int64: what each job holds.
    half_life
        In seconds.
    """

    def __init__(self, user: NDArray[np.int64], processors: NDArray[np.int64], half_life: float) -> None:
        self._users, self._number = np.unique(user, return_inverse=True)
        self._processors, self._half_life = processors, half_life
        self._full = half_life / math.log(2)  # the usage of a processor that is always held
        self._held = np.zeros(len(self._users), dtype=np.int64)
        self._used = np.zeros(len(self._users))
        self._since = np.zeros(len(self._users), dtype=np.int64)

    def run_begins(self, job: int, second: int) -> None:
        """Note a run that begins."""
        self._change(int(self._number[job]), second, int(self._processors[job]))

    def run_ends(self, job: int, second: int) -> None:
        """Note a run that ends."""
        self._change(int(self._number[job]), second, -int(self._processors[job]))

    def held(self, jobs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many processors the users of some jobs hold."""
        held: NDArray[np.int64] = self._held[self._number[jobs]]
        return held

    def used(self, jobs: NDArray[np.int64], second: int) -> NDArray[np.float64]:
        """Return how many processor-seconds the users of some jobs have used, as they count at a second."""
        user = self._number[jobs]
        left = np.exp2((self._since[user] - second) / self._half_life)
        used: NDArray[np.float64] = self._used[user] * left + self._held[user] * self._full * (1 - left)
        return used

    def take_over(self, other: PastOfUsers) -> None:
        """Go on from the past of some of these users."""
        place = np.searchsorted(self._users, other._users)
        self._held[place], self._used[place], self._since[place] = other._held, other._used, other._since

    def _change(self, user: int, second: int, processors: int) -> None:
        left = 2.0 ** ((int(self._since[user]) - second) / self._half_life)
        self._used[user] = self._used[user] * left + self._held[user] * self._full * (1 - left)
        self._since[user] = second
        self._held[user] += processors
