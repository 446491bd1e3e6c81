"""The decorators that make kernels of functions.

Python calls some kernels; others are called by kernels only. Schedlab's own pipeline makes the latter a part of the
former: they are neither optimised nor kept by themselves.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import sigutils, types
from numba.extending import overload, typeof_impl

from schedlab.kernels.disk_cache import KernelCache, cache_directory
from schedlab.kernels.known_parts import decide_by_type
from schedlab.kernels.numba_versions import config, pipeline
from schedlab.kernels.plain_records import plain_records
from schedlab.kernels.while_compiling import listen

Function = TypeVar("Function", bound=Callable[..., Any])

_OUTER: Any = {"_nrt": False}
_INNER: Any = {
    "forceinline": False,  # said, because Numba hands it on from a caller that is compiled with it
    "_nrt": False,
    "error_model": "numpy",
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
if pipeline().own:  # its modules are not even imported elsewhere: what they import of Numba may not be there
    from schedlab.kernels.linked_pipeline import BesideCompiler, InnerCompiler, OuterCompiler

    _OUTER["pipeline_class"], _INNER["pipeline_class"] = OuterCompiler, InnerCompiler
_INLINED: Any = {**_INNER, "forceinline": True}
_BESIDE: Any = {**_INNER, "pipeline_class": BesideCompiler} if pipeline().own else _INNER

_CACHE = cache_directory()
listen()
decide_by_type()


def kernel(function: Function) -> Function:
    """Compile a function of arrays with Numba, cached on disk, with NumPy's rules for division by zero.

    Like all kernels, it lets other threads run meanwhile.
    """
    return _compile(function)


def bare_kernel(function: Function) -> Function:
    """Compile a function that allocates nothing, without reference counting.

    Where arrays travel in tuples, counting their references costs more than the work: EASY on the 28,481 jobs of
    KTH-SP2 takes 16 ms with it and 6 ms without.
    """
    return _compile(function, **_OUTER)


_general: Callable[[Any], Any] = types.unliteral
"""The type of a constant's value, such as int64."""


class _Inner:
    """A function for kernels, which becomes one of Numba's when a kernel that calls it is compiled.

    There are hundreds, and a process that finds its kernels on disk needs none of them.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.py_func = function
        self.options = options

    @functools.cached_property
    def compiled(self) -> Any:
        """The function of Numba's, in the own pipeline compiled once for all constants."""
        compiled = numba.njit(self.py_func, **self.options)
        if not pipeline().own:
            return compiled
        resolve = compiled.get_call_template

        def without_constants(args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
            return resolve(tuple(map(_general, args)), {name: _general(kind) for name, kind in kws.items()})

        def compile_for_callers(sig: Any) -> Any:
            # Numba's own would measure the time of each, by a listener to all that happens within: a tenth of all time.
            args, return_type = sigutils.normalize_signature(sig)
            found = compiled.overloads.get(tuple(args))
            if found is None:
                with compiled._compiling_counter:
                    found = compiled._compiler.compile(args, return_type)
                    compiled.add_overload(found)
            return found.entry_point

        compiled.get_call_template = without_constants
        compiled.compile = compile_for_callers
        return compiled


@typeof_impl.register(_Inner)
def _type_of_inner(function: _Inner, context: Any) -> Any:
    return typeof_impl(function.compiled, context)


def _inner(function: Function, options: dict[str, Any]) -> Function:
    return function if config.DISABLE_JIT else cast(Function, _Inner(function, options))


def inner_kernel(function: Function) -> Function:
    """Compile like `bare_kernel`, for other kernels only: optimised where it is called, and not kept by itself."""
    return _inner(function, _INNER)


def inlined(function: Function) -> Function:
    """Compile like `inner_kernel`, as part of its callers: LLVM copies it. For steps of a few machine instructions.

    Numba could copy it before it infers types (`inline="always"`), but would do all its work again for each copy.
    """
    return _inner(function, _INLINED)


def compiled_beside(function: Function) -> Function:
    """Compile like `inner_kernel`; another process optimises it, while its callers are compiled.

    For long steps, of which a simulation makes few: what such a kernel calls is not shared with what its callers call.
    """
    return _inner(function, _BESIDE)


def for_python(kernel: Function) -> Function:
    """Return a kernel that is for kernels only so that Python can call it."""
    return bare_kernel(getattr(kernel, "py_func", kernel))


def new_records(length: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return records of zeros whose fields kernels reach as attributes, as plain Python, too."""
    records = np.zeros(length, dtype=dtype)  # never what memory held before, of which a saved simulation has a digest
    return plain_records(records) if config.DISABLE_JIT else records


def operation(function: Function) -> Function:
    """Mark a function that means something else for each type of its arguments, see `chosen`; its body is not used."""
    if not config.DISABLE_JIT:
        return function

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return call.choose(*arguments)(*arguments)  # type: ignore[attr-defined]

    return cast(Function, call)


def chosen(marked: Callable[..., Any]) -> Callable[[Callable[..., Callable[..., Any]]], Callable[..., Any]]:
    """Return a decorator for the function that chooses what an operation means, by the types of its arguments.

    The choice is made while a kernel is compiled. Where compilation is switched off (NUMBA_DISABLE_JIT), it is made by
    the arguments themselves; `kind_of` tells the kind of both.
    """

    def decorate(choose: Callable[..., Callable[..., Any]]) -> Callable[..., Any]:
        if config.DISABLE_JIT:
            marked.choose = choose  # type: ignore[attr-defined]
            return choose
        return cast(
            Callable[..., Any],
            overload(marked, jit_options=_INLINED, strict=False)(choose),
        )

    return decorate


def kind_of(argument: Any) -> Any:
    """Return the class of a named tuple, or None for None: of a value, or of its type while a kernel is compiled."""
    if isinstance(argument, types.Type):
        return getattr(argument, "instance_class", None)
    return None if argument is None else type(argument)


def _compile(function: Function, **options: Any) -> Function:
    compiled = numba.njit(function, error_model="numpy", nogil=True, **options)
    if _CACHE is not None and not config.DISABLE_JIT:
        compiled._cache = KernelCache(function, Path(_CACHE))
    return cast(Function, compiled)
