"""In which kernels the time of a simulation goes: `python benchmarks/kernels.py [site|fcfs|queue]`, with Linux's perf.

Compiled kernels have no names outside of the library that they end in, and the short ones are copied into their
callers. Here those that are called keep their names, nothing is taken from the cache, and perf finds them in the map
that it looks for (/tmp/perf-PID.map). Shares are of the samples in kernels; compilation is not among them.
"""

from __future__ import annotations

import argparse
import os
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MEASURED = "SCHEDLAB_KERNELS_MEASURED"
"""In the environment: this is the process that perf looks at."""

SAMPLES = "499"
"""In a second."""

LONG_QUEUE = 1_500
"""Jobs that wait at once for 5,860 nodes."""

SHARE = re.compile(r"\s*([0-9.]+)%\s+\[\.\]\s+(schedlab\S+)")
SYMBOLS, FUNCTION, GLOBAL = 2, 2, 1
"""Numbers in ELF files: of a section with symbols, of a symbol of a function, and of one known outside."""


def simulated(work: str) -> None:
    """Simulate UB CCR's week, under the scheduler of the site or first come, first served; or a long queue."""
    from nodes import ARCHER2, SITE, year

    import schedlab as sl

    if work == "queue":
        cluster, jobs = year(LONG_QUEUE)
        sl.simulate(jobs.replace(submit_time=jobs.submit_time * 0), ARCHER2, cluster=cluster)
        return

    traces = Path(os.environ.get("SCHEDLAB_TRACES", "../shared/traces"))
    site, week = traces.parent / "slurm-sites" / "ubccr-medium", traces / "modern" / "workload_week.events.gz"
    if work == "fcfs":
        sl.simulate(sl.read_workload(week), SITE, cluster=sl.read_cluster(site))
        return
    found = sl.site.import_site(site, week)
    sl.simulate(found.replayable().jobs, found.scheduler, cluster=found.cluster)


def keep_names() -> list[bytes]:
    """Let kernels that others call keep names; return the list to which each compiled library is added."""
    from llvmlite.binding import Linkage
    from numba.core.codegen import JITCodeLibrary

    from schedlab.kernels import linked_pipeline

    linked_pipeline.possible = lambda: False
    libraries: list[bytes] = []

    def optimised(library: Any) -> None:
        for number, function in enumerate(library._final_module.functions):
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
                function.name = f"of{len(libraries)}x{number}_{function.name}"  # twice the same name would be mixed up
                if b"alwaysinline" not in b" ".join(function.attributes):
                    function.add_function_attribute("noinline")
        passes, builder = library._codegen._module_pass_manager()
        passes.run(library._final_module, builder)

    def note(_: Any, module: Any, code: bytes) -> None:
        libraries.append(bytes(code))

    linked_pipeline._WholeLibrary._optimize_final_module = optimised  # type: ignore[method-assign]
    JITCodeLibrary._object_compiled_hook = classmethod(note)
    return libraries


def functions_of(code: bytes) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield the name of each function of an ELF file, how it is known, its section, its place there and its size."""
    (table,) = struct.unpack_from("<Q", code, 0x28)
    size, count = struct.unpack_from("<HH", code, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, table + i * size) for i in range(count)]
    for section in sections:
        if section[1] == SYMBOLS:
            names = sections[section[6]][4]
            for place in range(section[4], section[4] + section[5], 24):
                name, kind, _, where, begin, length = struct.unpack_from("<IBBHQQ", code, place)
                if kind & 15 == FUNCTION and length:
                    text = code[names + name : code.index(b"\0", names + name)].decode()
                    yield text, kind >> 4, where, begin, length


def plain_name(name: str) -> str:
    """Return the module and the function of a mangled name."""
    found, rest = [], name.partition("_ZN")[2]
    while (digits := re.match(r"\d+", rest)) is not None:
        begin, length = digits.end(), int(digits.group())
        found.append(rest[begin : begin + length])
        rest = rest[begin + length :]
    return ".".join(found).replace("_2e", ".") or name


def write_map(libraries: list[bytes]) -> None:
    """Tell perf where the kernels of this process are."""
    from numba.core.registry import cpu_target

    engine = cpu_target.target_context.codegen()._engine
    with Path(f"/tmp/perf-{os.getpid()}.map").open("w") as file:
        for code in libraries:
            found = list(functions_of(code))
            known = next((one for one in found if one[1] == GLOBAL and engine.get_function_address(one[0])), None)
            if known is not None:
                base = engine.get_function_address(known[0]) - known[3]
                for name, _, section, begin, length in found:
                    if section == known[2]:
                        file.write(f"{base + begin:x} {length:x} {plain_name(name)}\n")


def measure(work: str, most: int) -> None:
    """Let perf look at a simulation, and print the kernels that take most of the time."""
    with tempfile.TemporaryDirectory() as place:
        file = f"{place}/samples"
        command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", SAMPLES, "-o", file, "--", sys.executable, __file__]
        subprocess.run([*command, work], check=True, env={**os.environ, MEASURED: "1", "SCHEDLAB_CACHE": "off"})
        asked = ["perf", "report", "-i", file, "--sort", "symbol", "--stdio", "-g", "none"]
        told = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    shares = [(float(one[1]), one[2]) for line in told.splitlines() if (one := SHARE.match(line))]
    total = sum(share for share, _ in shares)
    for share, name in shares[:most]:
        print(f"{100 * share / total:5.1f} %  {name}")


def main() -> None:
    """Measure, or be measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", nargs="?", choices=("site", "fcfs", "queue"), default="site")
    parser.add_argument("--most", type=int, default=25, help="how many kernels are shown")
    asked = parser.parse_args()
    if MEASURED not in os.environ:
        measure(asked.work, asked.most)
        return
    libraries = keep_names()
    simulated(asked.work)
    write_map(libraries)


if __name__ == "__main__":
    main()
