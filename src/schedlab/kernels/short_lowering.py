"""Numba's translation of kernels to LLVM code, with shorter code for variables and for the elements of arrays.

Numba writes a block of its own for each index that might be negative, and takes each array apart in memory before it
uses it. Half of the code of a simulation was that, and LLVM had to find out that there is hardly anything in it.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from typing import Any

from llvmlite.ir import Constant
from numba.core import types
from numba.core.cgutils import alloca_once, get_item_pointer2, unpack_tuple
from numba.core.lowering import Lower
from numba.np.arrayobj import load_item, store_item


class ShortLower(Lower):
    """Numba's translation, of variables whose references nobody counts, and which no debugger shows."""

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store a value into a variable."""
        self._alloca_var(name, self.typeof(name))
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Return new space for a variable."""
        return alloca_once(self.builder, lltype, name=name, zfill=False)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Translate an expression; elements at a constant position are found like others."""
        if expr.op == "static_getitem" and self._is_element(expr.value, expr.index_var):
            return self.lower_getitem(resty, expr, expr.value, expr.index_var, None)
        return super().lower_expr(resty, expr)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Read an element of an array."""
        if not self._is_element(value, index):
            return super().lower_getitem(resty, expr, value, index, signature)
        array = self.typeof(value.name)
        item = load_item(self.context, self.builder, array, self._pointer(value, index))
        return self.context.cast(self.builder, item, array.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Write an element of an array."""
        if not self._is_element(target_var, index_var):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        array, kind = self.typeof(target_var.name), self.typeof(value_var.name)
        value = self.context.cast(self.builder, self.loadvar(value_var.name), kind, array.dtype)
        return store_item(self.context, self.builder, array, value, self._pointer(target_var, index_var))

    def _is_element(self, array: Any, index: Any) -> bool:
        """Return whether an index names one element of an array of numbers or records."""
        if index is None or not isinstance(kind := self.typeof(array.name), types.Array):
            return False
        return len(_axes(self.typeof(index.name))) == kind.ndim and isinstance(
            kind.dtype, (types.Number, types.Boolean, types.Record)
        )

    def _pointer(self, array: Any, index: Any) -> Any:
        """Return where an element stands; as in Python, negative positions count from the end."""
        context, builder = self.context, self.builder
        kind, value = self.typeof(array.name), self.loadvar(array.name)
        model = context.data_model_manager[kind]
        data, shape, strides = (
            builder.extract_value(value, model.get_field_position(name)) for name in ("data", "shape", "strides")
        )
        lengths = unpack_tuple(builder, shape, kind.ndim)
        position, asked = self.loadvar(index.name), self.typeof(index.name)
        positions = [position] if isinstance(asked, types.Integer) else unpack_tuple(builder, position)
        places = []
        for one, axis, length in zip(positions, _axes(asked), lengths, strict=True):
            place = context.cast(builder, one, axis, types.intp)
            if axis.signed and getattr(axis, "literal_value", -1) < 0:
                negative = builder.icmp_signed("<", place, Constant(place.type, 0))
                place = builder.select(negative, builder.add(place, length), place)
            places.append(place)
        steps = unpack_tuple(builder, strides, kind.ndim)
        return get_item_pointer2(context, builder, data, lengths, steps, kind.layout, places)


def _axes(index: Any) -> list[Any]:
    """Return the types of the whole numbers in an index, none if there is anything else in it."""
    kinds: list[Any] = [*index] if isinstance(index, types.BaseTuple) else [index]  # type: ignore[misc]
    return kinds if all(isinstance(kind, types.Integer) for kind in kinds) else []
