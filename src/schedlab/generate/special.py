"""ScSF's special strings: bursts of equal jobs, with nothing else, that test a scheduler."""

from __future__ import annotations

import re

from schedlab.errors import InputError
from schedlab.generate.patterns import Burst, FixedJob, Pattern, Sequence
from schedlab.generate.triggers import Periodic

_SMALL = r"p(?P<p>\d+)-c(?P<c>\d+)-r(?P<r>\d+)-t(?P<t>\d+)-b(?P<b>\d+)"
_SATURATION = re.compile(rf"sp-sat-{_SMALL}")
_BACKFILL = re.compile(rf"sp-bf-{_SMALL}-g\d+-lc(?P<lc>\d+)-lr(?P<lr>\d+)-wc(?P<wc>\d+)-wr(?P<wr>\d+)")

FIRST = 1
"""Seconds from the beginning to the first burst."""

WIDE, SMALL = 60, 120
"""Seconds from the long job to the wide one, and to the burst of small ones."""


def special_pattern(text: str) -> tuple[Periodic, Pattern]:
    """Return the trigger, on a clock that is 0 at the beginning, and the pattern that a special string stands for.

    Parameters
    ----------
    text
        `sp-sat-p2-c24-r600-t4-b100`: each 100 s, 4 jobs, 2 s apart, of 24 processors and 600 s.
        `sp-bf-p2-c24-r600-t4-b9000-g60-lc240-lr1800-wc1024-wr600`: each 9,000 s, a long job (lc processors, lr
        seconds), after 60 s a wide one that cannot start before the long one ends, and 120 s after the long one the
        burst of small jobs. The number after g is read, and without effect, as in ScSF.

    Raises
    ------
    InputError
        If the text has another form, or a burst would begin before the one in front of it ends.

    Examples
    --------
    >>> trigger, burst = special_pattern("sp-sat-p2-c24-r600-t4-b100")
    >>> trigger.period, burst.count
    (100, 4)
    """
    match = _SATURATION.fullmatch(text) or _BACKFILL.fullmatch(text)
    if match is None:
        raise InputError(
            f"{text!r} is not a special pattern; write for example sp-sat-p2-c24-r600-t4-b100, or "
            "sp-bf-p2-c24-r600-t4-b9000-g60-lc240-lr1800-wc1024-wr600"
        )
    number = {name: int(digits) for name, digits in match.groupdict().items()}
    small = Burst(FixedJob(number["c"], number["r"]), number["t"], every=number["p"])
    shortest = number["t"] * number["p"]
    pattern: Pattern = small
    if "lc" in number:
        long, wide = FixedJob(number["lc"], number["lr"]), FixedJob(number["wc"], number["wr"])
        pattern = Sequence(((0, long), (WIDE, wide), (SMALL, small)))
        shortest = max(shortest, number["lr"] + number["wr"])
    if number["b"] < shortest:
        raise InputError(f"{text}: a burst lasts {shortest} s, so the next cannot begin after b = {number['b']} s")
    return Periodic(number["b"], first=FIRST), pattern
