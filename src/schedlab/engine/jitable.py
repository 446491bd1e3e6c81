"""Functions that make arrays, for plain Python and for kernels alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba.extending import overload, register_jitable

from schedlab.kernels import config, new_records

Function = TypeVar("Function", bound=Callable[..., Any])


def jitable(function: Function) -> Function:
    """Let kernels call a function too; from Python it is called as it is."""
    if config.DISABLE_JIT:
        return function
    marked: Function = register_jitable(function)
    return marked


def _new_records(length: Any, dtype: Any) -> Any:
    def records(length, dtype):  # type: ignore[no-untyped-def]
        return np.empty(length, dtype)

    return records


if not config.DISABLE_JIT:
    overload(new_records, strict=False)(_new_records)
