"""Named tuples that kernels are given by address, instead of array by array.

Numba passes a named tuple as all that is in it, seven numbers for each array: a simulation has more than a thousand,
which every function takes apart and puts together for each that it calls. Most of the compilation went there. A kernel
that is called from Python gets the address of a block of 64-bit words instead; arrays are read from there when they are
used. What stands in a block does not change while a kernel runs, and LLVM is told so: what has been read once need not
be read again.

Named tuples that are made within kernels are Numba's own.
"""

from __future__ import annotations

import functools
import hashlib
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models, registry
from numba.core.errors import TypingError
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, typeof_impl, unbox

Class = TypeVar("Class", bound=type)

WORD = ir.IntType(64)
ADDRESS = ir.IntType(8).as_pointer()
DATA, SHAPE, STRIDES = 16, 32, 40
"""Where NumPy keeps these in an array, in bytes: they are part of its binary interface."""

THERE_IS_NO = "there is no"
"""How it is told that a tuple has no such field."""


class Addressed(types.Type):
    """The type of a named tuple that is known by its address.

    `places` says where each field begins, in words. An array has its address and its shape there (and its strides,
    where they do not follow), a number one word, None nothing, a named tuple its own fields.
    """

    def __init__(self, instance_class: type, fields: tuple[types.Type, ...]) -> None:
        self.instance_class = instance_class
        self.fields: dict[str, types.Type] = dict(zip(instance_class._fields, fields, strict=True))  # type: ignore[attr-defined]
        self.places: dict[str, int] = {}
        self.size = 0
        for name, field in self.fields.items():
            self.places[name] = self.size
            self.size += _words(field)
        facts = " ".join([instance_class.__module__, *(f"{name} {field}" for name, field in self.fields.items())])
        # A short name: it is part of the name of each function that gets such a tuple.
        digest = hashlib.sha256(facts.encode()).hexdigest()[:16]
        super().__init__(f"{instance_class.__qualname__}_{digest}")


def by_address(named_tuple: Class) -> Class:
    """Let kernels that are called from Python get values of a class of named tuples by address."""
    typeof_impl.register(named_tuple)(lambda value, context: _type_of(value))
    return named_tuple


_kind_of: Any = functools.lru_cache(maxsize=1024)(Addressed)
_kinds_of_arrays: dict[tuple[Any, ...], types.Type] = {}


def _type_of(value: Any) -> types.Type:
    """Return the type of a value; a simulation has hundreds of arrays of a few types, so they are remembered."""
    if hasattr(value, "_fields"):
        known: types.Type = _kind_of(type(value), tuple(_type_of(field) for field in value))
        return known
    if type(value) is not np.ndarray:
        kind: types.Type = typeof_impl(value, None)
        return kind
    facts = value.dtype, value.ndim, value.flags.num
    if facts not in _kinds_of_arrays:
        _kinds_of_arrays[facts] = typeof_impl(value, None)
    return _kinds_of_arrays[facts]


def words_of(value: Any) -> tuple[Addressed, Any]:
    """Return the type of a named tuple, and its words in an array; whoever uses them keeps the arrays in it alive."""
    kind = _type_of(value)
    assert isinstance(kind, Addressed)
    words = np.zeros(max(kind.size, 1), dtype=np.int64)
    _fill(kind, value, words)
    return kind, words


def _fill(kind: Addressed, value: Any, words: Any) -> None:
    for item, (name, field) in zip(value, kind.fields.items(), strict=True):
        place = words[kind.places[name] :]
        if isinstance(field, Addressed):
            _fill(field, item, place)
        elif isinstance(field, types.Array):
            facts = [item.ctypes.data, *item.shape, *(() if field.layout == "C" else item.strides)]
            place[: len(facts)] = facts
        elif not isinstance(field, types.NoneType):
            place[:1] = np.array([item], dtype=np.float64 if field == types.float64 else np.int64).view(np.int64)


def _words(field: types.Type) -> int:
    """Return how many words a field takes."""
    if isinstance(field, types.NoneType):
        return 0
    if isinstance(field, Addressed):
        return field.size
    if isinstance(field, types.Array):
        return 1 + field.ndim * (1 if field.layout == "C" else 2)
    if field in (types.int64, types.float64, types.boolean):
        return 1
    raise TypeError(f"kernels get no {field} by address")


registry.register_default(Addressed)(models.OpaqueModel)


@infer_getattr
class _Fields(AttributeTemplate):
    key = Addressed

    def generic_resolve(self, value: Any, name: str) -> Any:  # type: ignore[override]
        if name not in value.fields:
            known = ", ".join(field for field in value.fields if not field.startswith("_"))
            raise TypingError(f"{THERE_IS_NO} {name}; there are {known}")
        return value.fields[name]


@lower_getattr_generic(Addressed)
def _read(context: Any, builder: Any, tuple_type: Addressed, address: Any, name: str) -> Any:
    """Return a field."""
    field, place = tuple_type.fields[name], tuple_type.places[name]
    if isinstance(field, types.NoneType):
        return context.get_dummy_value()
    if isinstance(field, Addressed):
        return _behind(builder, address, place)
    if isinstance(field, types.Array):
        return _read_array(context, builder, field, address, place)
    return context.cast(builder, _word(builder, address, place, _kept_as(field)), *_as_kept(field))


def _kept_as(field: types.Type) -> Any:
    return ir.DoubleType() if field == types.float64 else WORD


def _as_kept(field: types.Type) -> tuple[types.Type, types.Type]:
    """Return the type in which a number is kept, and its own."""
    return (types.float64 if field == types.float64 else types.int64), field


def _behind(builder: Any, address: Any, place: int) -> Any:
    return builder.gep(address, [ir.Constant(WORD, 8 * place)], inbounds=True)


def _word(builder: Any, address: Any, place: int, kind: Any) -> Any:
    """Read a word; it is the same whenever it is read."""
    word = builder.load(builder.bitcast(_behind(builder, address, place), kind.as_pointer()))
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


@functools.cache
def _size_of(context: Any, kind: types.Type) -> int:
    """Return the size of an element in bytes; LLVM is asked with a module of its own each time."""
    return int(context.get_abi_sizeof(context.get_data_type(kind)))


def _read_array(context: Any, builder: Any, array: types.Array, address: Any, place: int) -> Any:
    model = context.data_model_manager[array]
    kind, size = model.get_value_type(), _size_of(context, array.dtype)
    places = {name: model.get_field_position(name) for name in ("nitems", "itemsize", "data", "shape", "strides")}
    parts = [ir.Constant(element, None) for element in kind.elements]
    parts[places["itemsize"]] = ir.Constant(WORD, size)
    value = ir.Constant(kind, parts)
    data = _word(builder, address, place, kind.elements[places["data"]])
    value = builder.insert_value(value, data, places["data"])
    shape = [_word(builder, address, place + 1 + axis, WORD) for axis in range(array.ndim)]
    strides, count = [], ir.Constant(WORD, size)
    for axis in reversed(range(array.ndim)):
        far = array.layout != "C"
        strides.append(_word(builder, address, place + 1 + array.ndim + axis, WORD) if far else count)
        if axis > 0:
            count = builder.mul(count, shape[axis])
    items = shape[0] if shape else ir.Constant(WORD, 1)
    for length in shape[1:]:
        items = builder.mul(items, length)
    value = builder.insert_value(value, items, places["nitems"])
    for axis, (length, stride) in enumerate(zip(shape, reversed(strides), strict=True)):
        value = builder.insert_value(value, length, [places["shape"], axis])
        value = builder.insert_value(value, stride, [places["strides"], axis])
    return value


@unbox(Addressed)
def _take(tuple_type: Addressed, value: Any, context: Any) -> Any:
    """Write a named tuple into a block on the stack of the call."""
    block = cgutils.alloca_once(context.builder, WORD, size=max(tuple_type.size, 1))
    wrong = cgutils.alloca_once_value(context.builder, cgutils.false_bit)
    _write(tuple_type, value, context, block, 0, wrong)
    return NativeValue(
        context.builder.bitcast(block, ADDRESS),
        is_error=context.builder.load(wrong),
    )


def _write(tuple_type: Addressed, value: Any, context: Any, block: Any, place: int, wrong: Any) -> None:
    builder = context.builder
    for i, (name, field) in enumerate(tuple_type.fields.items()):
        at = place + tuple_type.places[name]
        if isinstance(field, types.NoneType):
            continue
        item = context.pyapi.tuple_getitem(value, i)
        if isinstance(field, Addressed):
            _write(field, item, context, block, at, wrong)
        elif isinstance(field, types.Array):
            _write_array(field, item, builder, block, at)
        else:
            native = context.unbox(field, item)
            with builder.if_then(native.is_error, likely=False):
                builder.store(cgutils.true_bit, wrong)
            word = native.value
            if field == types.boolean:
                word = builder.zext(word, WORD)
            elif field == types.float64:
                word = builder.bitcast(word, WORD)
            builder.store(word, builder.gep(block, [ir.Constant(WORD, at)]))


def _write_array(array: types.Array, value: Any, builder: Any, block: Any, place: int) -> None:
    """Write an array, whose type is known, as NumPy keeps it."""

    def kept(offset: int) -> Any:
        where = builder.gep(builder.bitcast(value, ADDRESS), [ir.Constant(WORD, offset)])
        return builder.load(builder.bitcast(where, WORD.as_pointer()))

    words = [kept(DATA)]
    for offset in (SHAPE,) if array.layout == "C" else (SHAPE, STRIDES):
        lengths = builder.inttoptr(kept(offset), WORD.as_pointer())
        words += [builder.load(builder.gep(lengths, [ir.Constant(WORD, axis)])) for axis in range(array.ndim)]
    for i, word in enumerate(words):
        builder.store(word, builder.gep(block, [ir.Constant(WORD, place + i)]))
