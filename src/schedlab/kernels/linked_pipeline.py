"""Kernels that only kernels call: typed and lowered by Numba, but optimised only where they end up.

Numba makes machine code of each function, optimised together with everything that it calls; what lies seven calls
deep is optimised seven times. Two thirds of the compilation of a simulation went there. A kernel that is compiled
by `InnerCompiler` remains unoptimised LLVM code, which is linked into its callers; the outermost, compiled by
`OuterCompiler`, is optimised once.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import threading
from typing import Any

from llvmlite.binding import Linkage, parse_assembly
from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import ir, typed_passes, types, untyped_passes
from numba.core.cgutils import alloca_once, normalize_ir_text
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.errors import UnsupportedError
from numba.core.imputils import builtin_registry
from numba.core.ir_utils import build_definitions
from numba.core.rewrites.registry import rewrite_registry
from numba.core.ssa import reconstruct_ssa
from numba.core.typed_passes import NativeLowering

from schedlab.kernels.beside import Part, load, possible
from schedlab.kernels.short_lowering import ShortLower

NOT_NEEDED = (
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.InlineInlinables,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.LiteralUnroll,
    untyped_passes.LiteralPropagationSubPipelinePass,
    untyped_passes.IRProcessing,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
    typed_passes.NoPythonSupportedFeatureValidation,
    typed_passes.IRLegalization,
    typed_passes.DumpParforDiagnostics,
)
"""Steps of Numba's compiler for what these kernels do not have: closures, exceptions, contexts, array expressions,
generators, counted references, which must be dropped where the life of a variable ends."""

MOMENT = 0.05  # s in which LLVM has begun


class _Flags(Flags):
    """Numba's flags, told apart at once: they are looked up at each call whose types are inferred."""

    def __hash__(self) -> int:
        return hash((self.forceinline, self.no_cfunc_wrapper))  # in which those of kernels differ

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Flags) and self._values == other._values:
            return True
        return bool(super().__eq__(other))


_of_plain: dict[Any, Any] = {}
"""What an operator, or a function like it, gives for numbers and arrays of some types."""

_PLAIN = (types.Number, types.Boolean, types.IntegerLiteral, types.BooleanLiteral, types.Array)
_LIKE_OPERATORS = (bool, int, range, min, max)


class _Remembering:
    """Numba's inference of types, which tries all that an operator can mean only once for the same plain types."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call."""
        ask = self._context.resolve_function_type
        meant = getattr(function, "typing_key", function)  # `a[i]` is asked for as the function itself
        known = getattr(meant, "__module__", "") == "_operator" or meant in _LIKE_OPERATORS
        if kws or not known or not all(isinstance(kind, _PLAIN) for kind in args):
            return ask(function, args, kws)
        key = function, tuple(args)
        if key not in _of_plain:
            _of_plain[key] = ask(function, args, kws)
        return _of_plain[key]


class _QuickCompiler(CompilerBase):
    """Numba's compiler with quick flags, and a memory."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags = _Flags(self.state.flags)
        self.state.typingctx = _Remembering(self.state.typingctx)


class LibraryBeside(JITCodeLibrary):
    """The name of a kernel that another process optimises, with all that it calls but for what a third has."""

    def __init__(self, kernel: JITCodeLibrary, name: str) -> None:
        """Begin; the part gets a name of its own, by which it is called."""
        super().__init__(kernel.codegen, name)
        kernel._ensure_finalized()
        module = kernel._final_module.clone()
        for library in dict.fromkeys(kernel._linking_libraries):
            module.link_in(library._get_module_for_linking(), preserve=True)
            self._reload_init.update(library._reload_init)
        for function in module.functions:
            if not function.is_declaration:
                function.linkage = Linkage.private
        entry = module.get_function(name)
        entry.name = f"{name}_{hashlib.sha256(module.as_bitcode()).hexdigest()[:20]}"
        entry.linkage = Linkage.external
        self.part = Part(entry.name, module.as_bitcode())

    def finalize(self) -> None:
        """Load the part, once it is made."""
        load(self.part.name, self.part.code)
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        return self._final_module  # which is empty


class _Library(JITCodeLibrary):
    """A library that may call parts which are not made yet."""

    def add_linking_library(self, library: Any) -> None:
        """Take what is called; Numba's own would wait for parts."""
        if isinstance(library, LibraryBeside):
            self._linking_libraries.append(library)
        else:
            super().add_linking_library(library)


class _UnoptimisedLibrary(_Library):
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


class _WholeLibrary(_Library):
    """The code of an outermost kernel and of all that it calls."""

    def _finalize_final_module(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            library._ensure_finalized()  # parts by now
        super()._finalize_final_module()

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
        # LLVM needs no interpreter. While it works, garbage is collected, which otherwise would take time afterwards.
        collector = threading.Timer(MOMENT, gc.collect)
        collector.start()
        passes.run(self._final_module, builder)
        collector.cancel()  # of a small kernel, which is done by now
        collector.join()


@register_pass(mutates_CFG=True, analysis_only=False)
class _LoweringWhole(NativeLowering):
    """Lower an outermost kernel, with all that it calls, to machine code."""

    _name = "lowering_whole"
    lowering_class = ShortLower

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


def _call_of(description: Any, libraries: tuple[Any, ...]) -> Any:
    """Return how a kernel is called that raises nothing: nobody looks at its status, as Numba would after each call."""

    def call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        convention, returned = context.call_conv, description.restype
        space = alloca_once(builder, convention.get_return_type(returned).pointee)
        given = convention._get_arg_packer(description.argtypes).as_arguments(builder, arguments)
        raised = convention._get_excinfo_argument(builder.function)
        builder.call(context.declare_function(builder.module, description), [space, raised, *given])
        if isinstance(returned, types.NoneType):
            return context.get_dummy_value()
        return context.get_returned_value(builder, returned, builder.load(space))

    call.libs = libraries  # type: ignore[attr-defined]
    return call


@register_pass(mutates_CFG=True, analysis_only=False)
class _LoweringForCallers(NativeLowering):
    """Lower a kernel to LLVM code, and let other kernels find it there; there is no machine code to call it by."""

    _name = "lowering_for_callers"
    lowering_class = ShortLower

    def __init__(self) -> None:
        NativeLowering.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.library = _UnoptimisedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags = _Flags(state.flags)  # the former ones are the key under which others find what it calls
        state.flags.no_compile = True
        context = state.targetctx
        # Numba asks all registries whenever an array is used, and in vain; only intrinsics are registered meanwhile.
        context.refresh = functools.partial(context.install_registry, builtin_registry)
        try:
            super().run_pass(state)
        finally:
            del context.refresh
        lowered = state["cr"]
        description = lowered.fndesc
        libraries = self._libraries(state.library, description)
        key = _dynfunc.make_function(
            description.lookup_module(), description.qualname, "for kernels", 0, lowered.env, libraries
        )
        if isinstance(state.return_type, types.Optional):  # None is a status
            context.insert_user_function(key, description, libraries)
        else:
            context.insert_func_defn([(_call_of(description, libraries), key, description.argtypes)])
        state["cr"] = _LowerResult(description, lowered.call_helper, cfunc=key, env=lowered.env)
        return True

    def _libraries(self, kernel: JITCodeLibrary, description: Any) -> tuple[JITCodeLibrary, ...]:
        """Return what is linked into callers."""
        # Numba lists what a kernel calls once for each call, and here all that this calls in turn.
        return tuple(dict.fromkeys((kernel, *kernel._linking_libraries)))


@register_pass(mutates_CFG=True, analysis_only=False)
class _LoweringBeside(_LoweringForCallers):
    """Lower a kernel to LLVM code, and let another process optimise it."""

    _name = "lowering_beside"

    def _libraries(self, kernel: JITCodeLibrary, description: Any) -> tuple[JITCodeLibrary, ...]:
        if not possible():
            return super()._libraries(kernel, description)
        apart = LibraryBeside(kernel, description.mangled_name)
        description.mangled_name = apart.part.name
        called = (one for one in super()._libraries(kernel, description) if isinstance(one, LibraryBeside))
        return *called, apart  # in the order in which they can be loaded


@register_pass(mutates_CFG=True, analysis_only=False)
class _Rewrites(untyped_passes.GenericRewrites):
    """Numba's rewrites, without the lives of variables afterwards."""

    _name = "rewrites_for_callers"

    def run_pass(self, state: Any) -> bool:
        blocks = state.func_ir.blocks
        if raised := [one for block in blocks.values() for one in block.find_insts((ir.Raise, ir.StaticRaise))]:
            raise UnsupportedError("kernels for kernels cannot raise: nobody would look", loc=raised[0].loc)
        for rewrite in [kind(state) for kind in rewrite_registry.rewrites["before-inference"]]:
            for key in list(blocks):
                while rewrite.match(state.func_ir, blocks[key], state.typemap, state.calltypes):
                    blocks[key] = rewrite.apply()
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _SingleAssignments(untyped_passes.ReconstructSSA):
    """Numba's single assignments, without the lives of variables afterwards."""

    _name = "single_assignments_for_callers"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = reconstruct_ssa(state.func_ir)
        self._patch_locals(state)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _WithoutPhis(typed_passes.PreLowerStripPhis):
    """Numba's removal of phi nodes, without the lives of variables afterwards."""

    _name = "strip_phis_for_callers"

    def run_pass(self, state: Any) -> bool:
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


_INSTEAD: dict[Any, Any] = {
    untyped_passes.GenericRewrites: _Rewrites,
    untyped_passes.ReconstructSSA: _SingleAssignments,
    typed_passes.PreLowerStripPhis: _WithoutPhis,
}


class InnerCompiler(_QuickCompiler):
    """Numba's compiler, ending with LLVM code."""

    lowering = _LoweringForCallers

    def define_pipelines(self) -> list[Any]:
        instead = {**_INSTEAD, NativeLowering: self.lowering}
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(instead.get(step, step), why) for step, why in passes.passes if step not in NOT_NEEDED]
        passes.finalize()
        return [passes]


class BesideCompiler(InnerCompiler):
    """Numba's compiler, ending with a process that optimises."""

    lowering = _LoweringBeside
