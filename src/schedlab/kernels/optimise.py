"""Machine code of LLVM code: a program that reads from its input, and imports nothing else of schedlab.

A process that compiles a kernel lets others optimise parts of it meanwhile; see `schedlab.kernels.beside`.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any, NamedTuple

from llvmlite import binding


class Target(NamedTuple):
    """For what machine LLVM optimises, and how much: as Numba tells it."""

    triple: str
    machine: dict[str, Any]
    tuning: dict[str, Any]


def machine_code(bitcode: bytes, target: Target) -> bytes:
    """Return a library of machine code, such as compilers write into a file."""
    module = binding.parse_bitcode(bitcode)
    machine = binding.Target.from_triple(target.triple).create_target_machine(**target.machine)
    options = binding.create_pipeline_tuning_options()
    for name, value in target.tuning.items():
        setattr(options, name, value)
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


if __name__ == "__main__":
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    code, *target = pickle.load(sys.stdin.buffer)
    sys.stdout.buffer.write(machine_code(code, Target(*target)))
