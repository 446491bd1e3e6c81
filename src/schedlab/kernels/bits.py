"""Many numbers compared at once; the answers are the bits of an integer.

Processors compare eight numbers or more with one instruction; LLVM finds it only where all are looked at, not in a
search that stops at the first match.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.cpython.unsafe.numbers import trailing_zeros
from numba.extending import intrinsic

from schedlab.kernels.decorators import chosen, operation

BITS = 63
"""How many numbers are compared at once: the bits of an integer that is not negative."""

ALL = (1 << BITS) - 1

ROOM = BITS + 1
"""How many elements more than it uses an array needs that is compared in a kernel; what they hold does not matter."""


@operation
def below(array: Any, place: int, count: int, value: int) -> int:
    """Return which of the `count` elements of integers from a position on are below a value, of at most `BITS`.

    Bit k belongs to the element at `place + k`.
    """
    raise NotImplementedError


@chosen(below)
def _below(array: Any, place: Any, count: Any, value: Any) -> Any:
    def in_python(array, place, count, value):  # type: ignore[no-untyped-def]
        return sum(1 << k for k in range(min(count, BITS)) if array[place + k] < value)

    def in_a_kernel(array, place, count, value):  # type: ignore[no-untyped-def]
        return _compare(array, place, value) & ((1 << min(count, BITS)) - 1)  # type: ignore[call-arg]

    return in_a_kernel if isinstance(array, types.Type) else in_python


@intrinsic
def _compare(typing: Any, array: Any, place: Any, value: Any) -> Any:
    """Compare `ROOM` elements of a contiguous array; nothing is checked."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        elements, lanes = ir.VectorType(source.type.pointee, ROOM), ir.VectorType(ir.IntType(32), ROOM)
        loaded = builder.load(builder.bitcast(builder.gep(source, [arguments[1]]), elements.as_pointer()), align=8)
        nothing = ir.Constant(elements, ir.Undefined)
        single = builder.insert_element(nothing, arguments[2], ir.Constant(ir.IntType(32), 0))
        repeated = builder.shuffle_vector(single, nothing, ir.Constant(lanes, [0] * ROOM))
        return builder.bitcast(builder.icmp_signed("<", loaded, repeated), ir.IntType(ROOM))

    return types.int64(array, types.int64, types.int64), generate


@operation
def lowest(bits: int) -> int:
    """Return the position of the lowest bit that is set; at least one has to be."""
    raise NotImplementedError


@chosen(lowest)
def _lowest(bits: Any) -> Any:
    def in_python(bits):  # type: ignore[no-untyped-def]
        return (bits & -bits).bit_length() - 1

    def in_a_kernel(bits):  # type: ignore[no-untyped-def]
        return trailing_zeros(bits)  # type: ignore[call-arg]

    return in_a_kernel if isinstance(bits, types.Type) else in_python
