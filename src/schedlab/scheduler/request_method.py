"""The methods by which jobs with a run-time distribution choose their requests, as texts."""

from __future__ import annotations

import re

from schedlab.errors import InputError

METHODS = {
    "classic": "the longest run time of the distribution",
    "neuroscience(k=10)": "the longest of the last k completed jobs of the same distribution",
    "neuroscience(k=10,listed)": "the longest of the k jobs before it in the workload, completed or not",
    "toptimal": "the sequence of requests with the least expected time per job",
    "atoptimal(zeta=auto)": "the same, beside small jobs that need the share zeta of the machine",
    "given": "the sequence that the workload gives for the distribution",
}
"""The request of a job under each method, by its text with the default parameter."""


def request_method(text: str) -> str:
    """Return the canonical text of a method.

    Raises
    ------
    InputError
        If it is unknown, or its parameter is invalid.

    Examples
    --------
    >>> request_method("Neuroscience( 5 )"), request_method("atoptimal"), request_method("atoptimal(zeta=0.10)")
    ('neuroscience(k=5)', 'atoptimal(zeta=auto)', 'atoptimal(zeta=0.1)')
    >>> request_method("neuroscience(k=5, listed)")
    'neuroscience(k=5,listed)'
    """
    plain = re.sub(r"\s", "", text.lower())
    if plain in ("classic", "toptimal", "given"):
        return plain
    if match := re.fullmatch(r"neuroscience(?:\((?:k=)?([0-9]{1,6})(,listed)?\))?", plain):
        k = int(match[1] or 10)
        if k < 1:
            raise InputError(f"requests={text}: k, the number of last run times, must be at least 1")
        return f"neuroscience(k={k}{match[2] or ''})"
    if match := re.fullmatch(r"atoptimal(?:\((?:zeta=)?(auto|[0-9.]+(?:e-?[0-9]+)?)\))?", plain):
        if match[1] in (None, "auto"):
            return "atoptimal(zeta=auto)"
        try:
            zeta = float(match[1])
        except ValueError:
            zeta = 1.0
        if not 0 <= zeta < 1:
            raise InputError(f"requests={text}: zeta, the share of small jobs, must be at least 0 and below 1")
        return f"atoptimal(zeta={zeta:g})"
    raise InputError(f"unknown method requests={text}; known are {', '.join(METHODS)}")
