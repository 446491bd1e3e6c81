"""Weights of trackable resources as slurm.conf has them: `CPU=1.0,Mem=0.25G,GRES/gpu=2.0`."""

from __future__ import annotations

import re

from schedlab.errors import InputError
from schedlab.wording import shown

_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_WEIGHT = re.compile(r"(\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})([KMGTP]?)", re.IGNORECASE)


def tres_weights(text: str) -> tuple[tuple[str, float], ...]:
    """Read weights; that of memory is per MiB, or per unit of its suffix, that of others per piece.

    Returns
    -------
    tuple of pairs
        Resource in lower case, and weight.

    Raises
    ------
    InputError
        If it is not written like that.

    Examples
    --------
    >>> tres_weights("CPU=1.5,Mem=0.25G,GRES/gpu=4")
    (('cpu', 1.5), ('mem', 0.000244140625), ('gres/gpu', 4.0))
    """
    found: dict[str, float] = {}
    for word in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = word.partition("=")
        matched = _WEIGHT.fullmatch(value.strip())
        if matched is None or not name.strip():
            raise InputError(f"weight {shown(word)}: must be written RESOURCE=NUMBER, such as GRES/gpu=2.0")
        unit = matched[2].upper()
        own = 2 if name.strip().lower() == "mem" else 0
        found[name.strip().lower()] = float(matched[1]) * 1024.0 ** ((own - _UNITS[unit]) if unit else 0)
    return tuple(found.items())
