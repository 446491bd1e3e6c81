"""One job as several pieces: an array whose elements do equal parts of its work."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import parse_time_limit
from schedlab.errors import InputError
from schedlab.wording import shown
from schedlab.workload.event_lines import EventLine, workload_of_events
from schedlab.workload.sbatch import request_of
from schedlab.workload.workload import Workload

MINUTE = 60
MOST = 1_000
PIECES, RESTART = "--pieces=", "--restart="
WRITTEN = re.compile(r"(\d{1,6})(?:%(\d{1,6}))?")


class Pieces(NamedTuple):
    """How a job is split.

    Parameters
    ----------
    number
        How many pieces there are.
    together
        How many of them run at a time; 0: all that can.
    restart
        Seconds that each piece takes beyond its part of the work, to begin or to read what another one has written.
    """

    number: int
    together: int = 0
    restart: int = 0

    def last(self, seconds: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how long each piece lasts of a job of so many seconds."""
        return -(-seconds // self.number) + self.restart

    def limit(self, seconds: int) -> int:
        """Return the time limit of each piece in seconds: its part of that of the job, in full minutes."""
        return -(-(-(-seconds // self.number) + self.restart) // MINUTE) * MINUTE

    def results(self, waits: NDArray[np.int64], lasts: NDArray[np.int64], limit: int) -> NDArray[np.float64]:
        """Return the seconds until the last piece is done, infinite where the pieces are killed at their limit.

        Parameters
        ----------
        waits
            int64 seconds of shape (forks, pieces).
        lasts
            int64 seconds per fork: how long each piece lasts.
        limit
            Seconds: the limit of each piece.
        """
        return np.where(lasts <= limit, waits.max(axis=1) + lasts, np.inf)


def pieces_in(words: Sequence[str]) -> tuple[Pieces | None, tuple[str, ...]]:
    """Return how options of sbatch and ours split a job, None if they do not, and those of sbatch.

    Ours are `--pieces=4`, `--pieces=4%1` for one after the other, as `--array` writes it, and `--restart=10:00`.

    Raises
    ------
    InputError
        If one of ours is not understood.

    Examples
    --------
    >>> pieces_in(["--pieces=4%1", "--restart=10:00", "--partition=short"])
    (Pieces(number=4, together=1, restart=600), ('--partition=short',))
    """
    split = [word.removeprefix(PIECES) for word in words if word.startswith(PIECES)]
    costs = [word.removeprefix(RESTART) for word in words if word.startswith(RESTART)]
    rest = tuple(word for word in words if not word.startswith((PIECES, RESTART)))
    if not split:
        if costs:
            raise InputError(f"{RESTART}{costs[-1]}: that is of a job in pieces, add {PIECES}4")
        return None, rest
    read = WRITTEN.fullmatch(split[-1])
    if read is None or not 2 <= int(read[1]) <= MOST or read[2] == "0":
        raise InputError(f"--pieces is {shown(split[-1])}: give 2 to {MOST:,}, such as 4, or 4%1 for one at a time")
    return Pieces(int(read[1]), int(read[2] or 0), parse_time_limit(costs[-1]) if costs else 0), rest


def asked_pieces(words: Sequence[str], user: str | None, pieces: Pieces) -> tuple[Workload, int]:
    """Return the pieces of a job as the elements of an array, and the seconds that the whole job asks for.

    Raises
    ------
    InputError
        If an option is not understood, or the job has no time, or is an array already.
    """
    whole = request_of(words)
    if whole.seconds < 1:
        raise InputError(f"{PIECES}{pieces.number} splits the time of the job, which has none: add --time")
    if whole.elements:
        raise InputError(f"{PIECES}{pieces.number}: the job is an array already, whose elements are its pieces")
    some = f"%{pieces.together}" if pieces.together else ""
    time = f"--time=0-0:0:{pieces.limit(whole.seconds)}"
    options = (*words, time, f"--array=0-{pieces.number - 1}{some}")
    line = EventLine(0, -1, user, "new", options, request_of(options))
    names: list[str | None] = ["the new job"] * pieces.number
    return workload_of_events([line] * pieces.number, "new", names), whole.seconds
