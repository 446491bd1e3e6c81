"""What episodes side by side have in common, on processors and on nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.gym.pool import OVER
from schedlab.gym.sources import Episode, Source

TRIES = 50
"""How many episodes are drawn until there is something to decide in one."""


class SideBySide:
    """Episodes side by side, each at its own decision; `pool` holds what agents see, a line for each.

    Parameters
    ----------
    number
        How many.
    source
        Where they come from.
    """

    pool: Any
    rules: Any

    def __init__(self, number: int, source: Source) -> None:
        if not isinstance(number, int) or number < 1:
            raise InputError(f"number={number!r}: give a whole number, at least 1")
        self.number, self.source = number, source
        self._drawn: list[Episode | None] = [None] * number

    @property
    def over(self) -> NDArray[np.bool_]:
        """Which episodes are over."""
        over: NDArray[np.bool_] = self.pool.progress[:, OVER] == 1
        return over

    def begin(self, e: int, rng: np.random.Generator, options: Mapping[str, Any] | None = None) -> Episode:
        """Draw an episode in which something is to be decided; parameters and errors as for `Source.draw`."""
        for _ in range(TRIES):
            episode = self.source.draw(rng, options)
            self.begin_with(e, episode)
            if not self.pool.progress[e, OVER]:
                return episode
        raise InputError(
            f"no episode with a decision: in {TRIES} windows, such as the one from job {episode.low} of "
            f"{episode.table.workload.name}, nothing has to be decided: raise load= or window="
        )

    def begin_with(self, e: int, episode: Episode) -> None:
        """Bring an episode to its first decision."""
        raise NotImplementedError

    def drawn(self, e: int) -> Episode:
        """Return the episode in a place."""
        episode = self._drawn[e]
        if episode is None:
            raise InputError("no episode has begun: call reset() first")
        return episode
