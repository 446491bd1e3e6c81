"""Which versions of Numba kernels are compiled with: `schedlab.linking` and its neighbours replace parts of Numba."""

from __future__ import annotations

import re

from schedlab.errors import InputError

OLDEST, BEYOND = (0, 63, 1), (0, 69, 0)
"""The oldest version that works, and the first that nobody has tried; `pyproject.toml` says the same."""


def refuse_other(version: str) -> None:
    """Raise InputError for a version of Numba with which kernels are not known to compile.

    Examples
    --------
    >>> refuse_other("0.66.0")
    >>> refuse_other("0.62.1")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    schedlab.errors.InputError: numba 0.62.1 is installed, whose compiler schedlab does not know; schedlab needs ...
    """
    found = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    if found is None or not OLDEST <= tuple(int(part or 0) for part in found.groups()) < BEYOND:
        raise InputError(
            f"numba {version} is installed, whose compiler schedlab does not know; schedlab needs numba >= 0.63.1 and "
            "< 0.69: pip install 'numba>=0.63.1,<0.69'"
        )
