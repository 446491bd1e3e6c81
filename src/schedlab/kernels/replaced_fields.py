"""A named tuple with other arrays in some fields, made within a kernel, for another one that is called where it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from schedlab.kernels.numba_versions import config
from schedlab.kernels.tuples_by_address import ADDRESS, WORD, Addressed


def replacing(*names: str) -> Callable[[Any, tuple[Any, ...]], Any]:
    """Return a kernel that returns a named tuple with other arrays in the fields of these names, in a new block.

    Only a kernel that is called where it is (`schedlab.kernels.call`) may get it: LLVM is told that what stands in a
    block does not change while a function runs.
    """
    if config.DISABLE_JIT:
        return lambda value, arrays: value._replace(**dict(zip(names, arrays, strict=True)))

    def replaced(context: Any, value: Any, arrays: Any) -> Any:
        fields = [value.fields.get(name) for name in names] if isinstance(value, Addressed) else None
        if fields != [*arrays] or not all(isinstance(field, types.Array) and field.layout == "C" for field in fields):
            raise TypingError(f"the fields {', '.join(names)} of {value} cannot be replaced by {arrays}")

        def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            block = cgutils.alloca_once(builder, WORD, size=value.size)
            source = builder.bitcast(given[0], WORD.as_pointer())
            cgutils.raw_memcpy(builder, block, source, ir.Constant(WORD, value.size), 8)
            for i, name in enumerate(names):
                words = _words(context, builder, value.fields[name], builder.extract_value(given[1], i))
                for k, word in enumerate(words):
                    builder.store(word, builder.gep(block, [ir.Constant(WORD, value.places[name] + k)]))
            return builder.bitcast(block, ADDRESS)

        return value(value, arrays), write

    made: Any = intrinsic(replaced)
    return made  # type: ignore[no-any-return]


def _words(context: Any, builder: Any, kind: types.Array, array: Any) -> list[Any]:
    """Return what stands in a block for an array: its address and its shape."""
    model = context.data_model_manager[kind]
    data, shape = (builder.extract_value(array, model.get_field_position(name)) for name in ("data", "shape"))
    return [builder.ptrtoint(data, WORD), *cgutils.unpack_tuple(builder, shape, kind.ndim)]
