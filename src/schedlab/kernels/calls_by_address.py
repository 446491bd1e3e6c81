"""Kernels that other kernels call where they are, compiled once and for all.

What a kernel calls otherwise becomes part of it, and is compiled with it. Long kernels that Python calls too, and other
kernels, need not be compiled twice: `compiled_for` returns where one is, and `call` goes there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from schedlab.kernels.numba_versions import config


def compiled_for(kernel: Callable[..., int], *arguments: Any) -> Any:
    """Return where a kernel is that returns a whole number, compiled for arguments like these; see `call`."""
    if config.DISABLE_JIT:
        return kernel
    kinds = tuple(typeof(argument) for argument in arguments)
    return np.array([(address_of(kernel, kinds),)], dtype=_record(_name(kinds)))


def address_of(kernel: Any, kinds: tuple[types.Type, ...]) -> int:
    """Return where a kernel that returns an int64 is, compiled for arguments of some types; see `call_at`."""
    kernel.compile(kinds)
    compiled = kernel.overloads[kinds]
    if types.unliteral(compiled.signature.return_type) != types.int64:
        raise TypingError(f"{kernel} returns {compiled.signature.return_type}, not int64")
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def nowhere(kernel: Callable[..., int], *arguments: Any) -> Any:
    """Return what `compiled_for` returns, but for kernels that will not be called: nothing is compiled."""
    if config.DISABLE_JIT:
        return kernel
    return np.zeros(1, dtype=_record(_name(tuple(typeof(argument) for argument in arguments))))


def without_dispatch(kernel: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """Return a kernel that is called from Python again and again, for arguments of the types of these alone.

    Looking at the types of a thousand arrays takes longer than many a pass; here they are not looked at again.
    """
    if config.DISABLE_JIT:
        return kernel
    dispatcher: Any = kernel
    kinds = tuple(typeof(argument) for argument in arguments)
    dispatcher.compile(kinds)
    entry: Callable[..., Any] = dispatcher.overloads[kinds].entry_point
    return entry


def settled(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel for arguments of the types that those of its first call have; see `without_dispatch`."""
    entry: Callable[..., Any] | None = None

    def call(*arguments: Any) -> Any:
        nonlocal entry
        if entry is None:
            entry = without_dispatch(kernel, *arguments)
        return entry(*arguments)

    return call


@lru_cache
def _record(name: str) -> np.dtype[Any]:
    """Return the type of an address; what may be given to the kernel there is part of it."""
    return np.dtype([(name, "i8")])


def _name(kinds: tuple[types.Type, ...]) -> str:
    return "called_with_" + hashlib.sha256(" ".join(map(str, kinds)).encode()).hexdigest()[:16]


def _type_call(context: Any, where: Any, arguments: Any) -> Any:
    """Return the signature of a call, and what writes its code."""
    kinds = tuple(arguments)
    if where.dtype.fields.keys() != {_name(kinds)}:
        raise TypingError(f"this kernel has been compiled for other arguments than {arguments}")

    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = context.data_model_manager[where].get_field_position("data")
        word = builder.bitcast(builder.extract_value(values[0], data), ir.IntType(64).as_pointer())
        return _write_call(context, builder, kinds, builder.load(word), values[1])

    return types.int64(where, arguments), write


def _type_call_at(context: Any, address: Any, arguments: Any) -> Any:
    """Return the signature of a call at an address, and what writes its code."""

    def write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return _write_call(context, builder, tuple(arguments), *values)

    return types.int64(types.int64, arguments), write


def _write_call(context: Any, builder: Any, kinds: tuple[types.Type, ...], address: Any, arguments: Any) -> Any:
    """Write the code of a call, with the arguments in a tuple; return its result."""
    convention = context.call_conv
    kernel = builder.inttoptr(address, convention.get_function_type(types.int64, kinds).as_pointer())
    given = [builder.extract_value(arguments, i) for i in range(len(kinds))]
    status, result = convention.call_function(builder, kernel, types.int64, kinds, given)
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return result


def _call(where: Callable[..., int], arguments: tuple[Any, ...]) -> int:
    """Call a kernel where it is; see `compiled_for`."""
    return where(*arguments)


call: Any = _call if config.DISABLE_JIT else intrinsic(_type_call)


def _call_at(address: int, arguments: tuple[Any, ...]) -> int:
    """Call what is at an address that `address_of` gave for these types, which nobody checks.

    The type of a world cannot name the types of a kernel that gets that world.
    """
    raise AssertionError("nothing has an address where nothing is compiled")


call_at: Any = _call_at if config.DISABLE_JIT else intrinsic(_type_call_at)
