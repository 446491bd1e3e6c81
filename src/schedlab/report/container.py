"""Columns of numbers inside a page: typed arrays, compressed, as text that HTML can carry.

A block holds one column. Numbers become differences to the one before where that makes them small, their bytes are
sorted into planes (all lowest bytes first, then the second ones and so on, so that equal bytes stand together), and the
planes are compressed (zlib). `report/web/src/container.js` reads what this module writes.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = 2
"""Version of the container; the script refuses others."""

LEVEL = 6
"""Of the compression: level 9 takes four times as long for 2 % less."""


@dataclass(slots=True)
class Container:
    """Blocks, and the index that says what they mean.

    Examples
    --------
    >>> container = Container()
    >>> column = container.add(np.array([100, 101, 103]), differences=True)
    >>> column["type"], column["length"], container.read(column).tolist()
    ('u1', 3, [100, 101, 103])
    """

    blocks: list[bytes] = field(default_factory=list)

    def add(self, values: NDArray[Any], *, differences: bool = False) -> dict[str, Any]:
        """Put a column in, and return what the index says of it.

        Parameters
        ----------
        values
            One dimension: truth values, whole numbers, or floating-point numbers. Whole numbers of more than 32 bits
            are kept as float64, exact up to 2^53.
        differences
            Whether neighbours are alike, as in a column that ascends.
        """
        if len(values) and bool((values == values[0]).all()):
            return {"constant": float(values[0]), "length": len(values)}
        kind, array = _narrow(values)
        if differences and kind == "i4":
            # Differences wrap around at 32 bits, and so do their sums.
            array = np.diff(array.view(np.uint32), prepend=np.uint32(0)).view(np.int32)
        planes = array.view(np.uint8).reshape(-1, array.itemsize).T
        block = {"block": self._keep(np.ascontiguousarray(planes).tobytes()), "type": kind, "length": len(values)}
        return block | ({"differences": True} if differences and kind == "i4" else {})

    def _keep(self, content: bytes) -> int:
        """Return the number of the block that holds a content: run times are the same under most schedulers."""
        block = zlib.compress(content, LEVEL)
        if block not in self.blocks:
            self.blocks.append(block)
        return self.blocks.index(block)

    def read(self, column: dict[str, Any]) -> NDArray[Any]:
        """Return a column that was put in: what the script in the page does."""
        if "constant" in column:
            return np.full(column["length"], column["constant"])
        kind = np.dtype(f"<{column['type']}" if column["type"] != "u1" else "u1")
        raw = np.frombuffer(zlib.decompress(self.blocks[column["block"]]), np.uint8)
        array = np.ascontiguousarray(raw.reshape(kind.itemsize, column["length"]).T).view(kind).ravel()
        return np.cumsum(array.view(np.uint32), dtype=np.uint32).view(np.int32) if "differences" in column else array

    def texts(self) -> list[str]:
        """Return the blocks as base64."""
        return [base64.b64encode(block).decode("ascii") for block in self.blocks]

    @property
    def size(self) -> int:
        """Bytes of all blocks."""
        return sum(len(block) for block in self.blocks)


def _narrow(values: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    """Return the smallest of u1, i4 and f8 that holds the values, and the values in it."""
    if values.dtype.kind == "b":
        return "u1", np.ascontiguousarray(values, dtype="u1")
    if values.dtype.kind in "iu":
        low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
        if low >= 0 and high < 2**8:
            return "u1", np.ascontiguousarray(values, dtype="u1")
        if low >= -(2**31) and high < 2**31:
            return "i4", np.ascontiguousarray(values, dtype="<i4")
    return "f8", np.ascontiguousarray(values, dtype="<f8")
