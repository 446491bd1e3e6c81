"""Functions of users, compiled by Numba's own pipeline: they may allocate, raise, and call what Numba knows.

Such a function is called by a kernel where it is, with a handle on the simulation, whose methods are functions of
schedlab's. Nothing that it raises leaves it: kernels do not look.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.errors import NumbaError, UnsupportedBytecodeError
from numba.extending import (
    intrinsic,
    make_attribute_wrapper,
    overload_attribute,
    overload_method,
    register_model,
    typeof_impl,
)

from schedlab.kernels.calls_by_address import address_of
from schedlab.kernels.numba_versions import config
from schedlab.kernels.tuples_by_address import ADDRESS, THERE_IS_NO, Addressed, words_of

Class = TypeVar("Class", bound=type)

_attribute: Any = overload_attribute
_method: Any = overload_method
_OPTIONS: Any = {"error_model": "numpy", "nogil": True}


class Handle(types.Type):
    """The type of what a user's function is given: a world and columns, by their addresses."""

    def __init__(self, world: types.Type, columns: types.Type) -> None:
        self.world, self.columns = world, columns
        super().__init__(f"Handle({world}, {columns})")


@register_model(Handle)
class _HandleModel(models.StructModel):
    def __init__(self, manager: Any, handle: Handle) -> None:
        super().__init__(manager, handle, [("world", handle.world), ("columns", handle.columns)])


make_attribute_wrapper(Handle, "world", "world")
make_attribute_wrapper(Handle, "columns", "columns")


def with_methods(described: Class) -> Class:
    """Let users' functions ask a handle what the properties and methods of a class say, in Numba's Python."""
    if config.DISABLE_JIT:
        return described
    for name, member in vars(described).items():
        if isinstance(member, property):
            _attribute(Handle, name, jit_options=_OPTIONS)(_meaning(member.fget))
        elif inspect.isfunction(member):
            _method(Handle, name, jit_options=_OPTIONS, prefer_literal=True)(_meaning(member))
    return described


def _meaning(function: Any) -> Callable[..., Any]:
    """Return what tells Numba that a function is meant, whatever the types."""
    return functools.wraps(function)(lambda *_: function)


class Given(tuple):  # type: ignore[type-arg]
    """What a user's function gets beside the world: its object, and columns of the workload, as named tuples."""

    _fields = ("own", "columns")


class Record(tuple):  # type: ignore[type-arg]
    """Values with names; the type of each is that of all with these names and types of values."""

    def __new__(cls, values: dict[str, Any]) -> Any:
        """Return values; names may begin with an underscore, which those of named tuples may not."""
        made = type("Record", (tuple,), {"_fields": tuple(values), "__module__": __name__})
        return made(values.values())


class UserCode:
    """A user's function of an object and a handle, compiled for one simulation.

    Parameters
    ----------
    function
        A method: of the object, whose numbers it reads and whose arrays it may change, and of the handle.
    world
        The simulation, a named tuple by address.
    """

    def __init__(self, function: Callable[..., Any], world: Any) -> None:
        self._function = function
        self._kinds = (typeof_impl(world, None), types.int64)  # once: this looks at hundreds of arrays
        self._kept: Any = None

    def addresses(self, kernels: Iterable[Any]) -> list[int]:
        """Return where kernels of the world and a number are, for `call_at` in the function."""
        return [address_of(kernel, self._kinds) for kernel in kernels]

    def given(self, attributes: dict[str, Any], columns: dict[str, Any]) -> int:
        """Return the address of what the function is given; it is kept alive by this object."""
        given = Given((Record(attributes), Record(columns)))
        self._kind, words = words_of(given)
        self._kept = given, words
        return int(words.ctypes.data)

    def address(self) -> int:
        """Return where the function is, for `call_at` with the world and what `given` returned; 1 is a failure.

        Raises
        ------
        TypeError
            If it does not compile: with what Numba says.
        """
        try:
            return address_of(_asked(self._function, self._kind), self._kinds)
        except (NumbaError, UnsupportedBytecodeError) as error:
            raise TypeError(_short(error, self._function)) from error


@functools.cache
def _asked(function: Any, kind: Addressed) -> Any:
    """Return a kernel that calls a user's function with what stands at an address, and catches what it raises."""
    decide = function if hasattr(function, "py_func") else numba.njit(function, **_OPTIONS)
    at = _standing_at(kind)

    def asked(world: Any, address: int) -> int:
        given = at(address)
        try:
            decide(given.own, _handle(world, given.columns))
        except Exception:
            return 1
        return 0

    return numba.njit(asked, **_OPTIONS)


def _standing_at(kind: Addressed) -> Any:
    """Return a function of kernels: the named tuple of a type whose words stand at an address."""

    def typed(context: Any, address: Any) -> Any:
        def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            return builder.inttoptr(given[0], ADDRESS)

        return kind(types.int64), write

    return intrinsic(typed)


def _type_handle(context: Any, world: Any, columns: Any) -> Any:
    """Return the signature of what makes a handle, and what writes its code."""

    def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        made = ir.Constant(context.get_value_type(signature.return_type), ir.Undefined)
        return builder.insert_value(builder.insert_value(made, given[0], 0), given[1], 1)

    return Handle(world, columns)(world, columns), write


_handle: Any = intrinsic(_type_handle)


def _short(error: Exception, function: Callable[..., Any]) -> str:
    """Return what Numba says in a line: without the ways that it has tried, and with the user's line."""
    message = str(error)
    file = inspect.unwrap(getattr(function, "py_func", function)).__code__.co_filename
    places = [int(line) for path, line in re.findall(r"(\S+) \((\d+)\)", message) if path == file]
    where = f"{Path(file).name}, line {places[0]}: " if places else ""
    missing = re.search(rf"{THERE_IS_NO} .*", message)
    if missing:
        return where + missing.group()
    attribute = re.search(r"Unknown attribute '(\w+)' of type Handle", message)
    if attribute:
        return f"{where}the view has no {attribute.group(1)}"
    refused = re.search(r">>> (.*)", message)
    if refused:
        return where + re.sub(r"Handle\([^)]*\)", "view", refused.group(1)) + " is not known for these types"
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    return where + next((line for line in lines if not line.startswith("Failed in")), type(error).__name__)
