"""Kernels that only kernels call: typed and lowered by Numba, but optimised only where they end up.

Numba makes machine code of each function, optimised together with everything that it calls; what lies seven calls
deep is optimised seven times. Two thirds of the compilation of a simulation went there. A kernel that is compiled
by `InnerCompiler` remains unoptimised LLVM code, which is linked into its callers; the outermost, compiled by
`OuterCompiler`, is optimised once.
"""

from __future__ import annotations

from typing import Any

from llvmlite.binding import Linkage, parse_assembly
from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import typed_passes, untyped_passes
from numba.core.cgutils import normalize_ir_text
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

NOT_NEEDED = (
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.InlineInlinables,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.LiteralUnroll,
    untyped_passes.LiteralPropagationSubPipelinePass,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
    typed_passes.NoPythonSupportedFeatureValidation,
    typed_passes.DumpParforDiagnostics,
)
"""Steps of Numba's compiler for what these kernels do not have: closures, exceptions, contexts, array expressions."""


class _Flags(Flags):
    """Numba's flags, compared at once: they are looked up at each call whose types are inferred."""

    def __hash__(self) -> int:
        return _HASH

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Flags) and self._values == other._values:
            return True
        return bool(super().__eq__(other))


_HASH = hash(Flags())  # that of all flags, as it is made from their names


class _QuickCompiler(CompilerBase):
    """Numba's compiler with quick flags."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags = _Flags(self.state.flags)


class _UnoptimisedLibrary(JITCodeLibrary):
    """The code of a kernel alone, to be linked into an outermost one beside that of all kernels that it calls."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Take code as it is: it is verified and optimised where it ends up."""
        module = parse_assembly(normalize_ir_text(str(ir_module)))
        module.name = ir_module.name
        module.data_layout = self._codegen._data_layout
        self._final_module.link_in(module)

    def finalize(self) -> None:
        """End: what it calls is linked beside it, once."""
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = Linkage.linkonce_odr
        self._shared_module = self._final_module
        self._finalize_dynamic_globals()
        self._finalized = True


class _WholeLibrary(JITCodeLibrary):
    """The code of an outermost kernel and of all that it calls."""

    def _optimize_final_module(self) -> None:
        """Optimise once; Numba does it twice, to drop counted references between the two, and here are none.

        LLVM copies what is called from one place, if nothing outside can call it, and otherwise what is short. What is
        private has no symbol: with an internal one, LLVM's loader finds another kernel's function of the same name,
        which may take other arguments, and the process crashes.
        """
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.private
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)


@register_pass(mutates_CFG=True, analysis_only=False)
class _LoweringWhole(NativeLowering):
    """Lower an outermost kernel, with all that it calls, to machine code."""

    _name = "lowering_whole"

    def __init__(self) -> None:
        NativeLowering.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.library = _WholeLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


class OuterCompiler(_QuickCompiler):
    """Numba's compiler, optimising once."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(_LoweringWhole if step is NativeLowering else step, why) for step, why in passes.passes]
        passes.finalize()
        return [passes]


@register_pass(mutates_CFG=True, analysis_only=False)
class _LoweringForCallers(NativeLowering):
    """Lower a kernel to LLVM code, and let other kernels find it there; there is no machine code to call it by."""

    _name = "lowering_for_callers"

    def __init__(self) -> None:
        NativeLowering.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.library = _UnoptimisedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        description = lowered.fndesc
        # Numba lists what a kernel calls once for each call, and here all that this calls in turn.
        libraries = tuple(dict.fromkeys((state.library, *state.library._linking_libraries)))
        key = _dynfunc.make_function(
            description.lookup_module(), description.qualname, "for kernels", 0, lowered.env, libraries
        )
        state.targetctx.insert_user_function(key, description, libraries)
        state["cr"] = _LowerResult(description, lowered.call_helper, cfunc=key, env=lowered.env)
        return True


class InnerCompiler(_QuickCompiler):
    """Numba's compiler, ending with LLVM code."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (_LoweringForCallers if step is NativeLowering else step, why)
            for step, why in passes.passes
            if step not in NOT_NEEDED
        ]
        passes.finalize()
        return [passes]
