"""`world.part is None` is decided by the type of the world, before types are inferred: absent parts are not compiled.

Numba decides only what it is asked about arguments themselves; of `world.part.runs[job]`, where there is no such part,
it would say that None has no field `runs`. This is a rewrite before inference, which both pipelines run before they
remove the branches that cannot be taken.

It looks where a value comes from: an argument, a field of a named tuple, or a local with one definition. A local that
is defined twice is left as it is, and does not compile if one of the two would have to be decided.
"""

from __future__ import annotations

import operator
from typing import Any

from numba.core import ir, types
from numba.core.ir_utils import get_definition, guard
from numba.core.rewrites.registry import Rewrite, register_rewrite

from schedlab.kernels.tuples_by_address import Addressed

_TUPLES = (Addressed, types.BaseNamedTuple)
_THERE = (*_TUPLES, types.BaseTuple, types.Array, types.Number, types.Boolean)
"""Types of what is never None."""


def field_of(kind: Any, name: str) -> Any:
    """Return the type of a field of a named tuple, by address or not; None if it is something else."""
    if isinstance(kind, Addressed):
        return kind.fields.get(name)
    if isinstance(kind, types.BaseNamedTuple):
        return dict(zip(kind.fields, kind.types, strict=True)).get(name)  # type: ignore[attr-defined]
    return None


class _KnownParts(Rewrite):
    """Replaces comparisons of fields with None by what they give."""

    def __init__(self, state: Any) -> None:
        self._kinds: tuple[Any, ...] = tuple(state.args or ())
        self._has_tuples = any(isinstance(kind, _TUPLES) for kind in self._kinds)
        self._answers: dict[Any, bool] = {}

    def match(self, func_ir: Any, block: Any, typemap: Any, calltypes: Any) -> bool:
        """Find the comparisons in a block."""
        self._ir, self._block, self._answers = func_ir, block, {}
        if self._has_tuples:
            for statement in block.find_insts(ir.Assign):
                answer = self._answer(statement.value)
                if answer is not None:
                    self._answers[statement] = answer
        return bool(self._answers)

    def apply(self) -> Any:
        """Replace them."""
        for statement, answer in self._answers.items():
            constant = ir.Const(answer, statement.loc)
            definitions = self._ir._definitions[statement.target.name]
            definitions[definitions.index(statement.value)] = constant
            statement.value = constant
        return self._block

    def _answer(self, value: Any) -> bool | None:
        """Return what `field is None` or `field is not None` gives; None for anything else, or if it is not known."""
        if not isinstance(value, ir.Expr) or value.op != "binop" or value.fn not in (operator.is_, operator.is_not):
            return None
        field, nothing = (guard(get_definition, self._ir, side) for side in (value.lhs, value.rhs))
        if not isinstance(nothing, ir.Const) or nothing.value is not None or not isinstance(field, ir.Expr):
            return None
        kind = self._kind(field)
        if isinstance(kind, types.NoneType):
            return bool(value.fn is operator.is_)
        return bool(value.fn is operator.is_not) if isinstance(kind, _THERE) else None

    def _kind(self, definition: Any) -> Any:
        """Return the type of an argument, or of a field of one; None for anything else."""
        if isinstance(definition, ir.Arg):
            return self._kinds[definition.index]
        if isinstance(definition, ir.Expr) and definition.op == "getattr":
            return field_of(self._kind(guard(get_definition, self._ir, definition.value)), definition.attr)
        return None


def decide_by_type() -> None:
    """Let Numba know the rewrite; it is told once."""
    register_rewrite("before-inference")(_KnownParts)
