"""Requests of jobs with uncertain run times, retries after a run fails at its request, and speculative runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.scheduler.request_method import request_method

GIVE_UP = "give-up"

GROWTH = 1.5
"""A job whose requests have all failed requests this multiple of its last one, as in the experiments of ICPP'19."""

LARGEST_GROWTH = 1_000


@explained
@dataclass(frozen=True, slots=True)
class Retries:
    """How jobs with a run-time distribution choose their requests, and whether they run speculatively.

    Parameters
    ----------
    requests
        The method for the requests of such jobs: "classic", "neuroscience(k=10)", "toptimal", "atoptimal(zeta=0.1)" or
        "given", see `schedlab.speculate.requests`. None: as given by the workload.
    exhausted
        The next request after all requests have failed, as a multiple of the last one, repeated as often as necessary.
        0: the job is abandoned. Only with `requests`.
    speculation
        Run such jobs speculatively in gaps of which more than this share is expected to be put to use; None: never.

    Raises
    ------
    InputError
        If a value is invalid, or neither requests nor speculation is given.

    Examples
    --------
    >>> Retries("neuroscience").requests
    'neuroscience(k=10)'
    """

    requests: str | None = None
    exhausted: float = GROWTH
    speculation: float | None = None

    def __post_init__(self) -> None:
        if self.speculation is not None and not 0 <= self.speculation < 1:
            raise InputError(f"speculation={self.speculation}: the share of a gap must be at least 0 and below 1")
        if self.requests is not None:
            object.__setattr__(self, "requests", request_method(self.requests))
        elif self.exhausted != GROWTH:
            raise InputError("exhausted= needs a method of requests: give requests=")
        elif self.speculation is None:
            raise InputError("retries need requests= or speculation=: give one of the two")
        if self.exhausted != 0 and not 1 < self.exhausted <= LARGEST_GROWTH:
            raise InputError(
                f"exhausted={self.exhausted}: must be {GIVE_UP}, or a factor above 1 (at most {LARGEST_GROWTH:,}) by "
                "which requests grow"
            )


def parse_exhausted(text: str) -> float:
    """Read the option for jobs whose last request has failed: "give-up", which is 0, or a factor.

    Raises
    ------
    InputError
        If it is neither.
    """
    if text.strip().lower() == GIVE_UP:
        return 0.0
    if not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,12})?", text.strip()) or not float(text):
        raise InputError(f"exhausted={text}: write {GIVE_UP}, or a factor such as {GROWTH}")
    return float(text)
