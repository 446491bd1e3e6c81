"""Compare engine and reference on many random simulations; each must agree, within a minute.

    NUMBA_DISABLE_JIT=1 python tests/engine/engine_fuzzer.py --cases 50000

A case is a number, its seed: `--first SEED --cases 1` repeats it. The engine runs as plain Python, the same code
without compilation, so that no time goes into compiling each combination of features.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "gym")]

from drawn_cases import differences, differences_of_agent, drawn_case, found_by_engine, with_agent  # noqa: E402
from drawn_laws import broken_laws  # noqa: E402

from schedlab.engine.parts.heterogeneous import numbers  # noqa: E402
from schedlab.engine.parts.preemption import endless  # noqa: E402

SECONDS = 60
"""Of the processor, for a case."""

AGENTS = 20
"""One case of so many is scheduled by an agent."""

LAWS = 7
"""Of one case of so many, the schedule is held against the laws of schedules, too."""

PATIENCE = 1500
"""Seconds for which components of heterogeneous jobs wait for each other until they are said to do so for ever.

That is eight days outside of these tests, in which something may happen in each second.
"""

TOLD = 1_000
"""After so many cases, how far it is stands on the terminal."""

TIMES = 60
"""How often jobs are preempted until they are said to be so for ever: 10,000 times outside of these tests."""

UNSWEPT = 50_000
"""Objects after which Python looks for circles of them: at its own 700, a fourteenth of the time went there."""

Found = TypeVar("Found")


class Result(NamedTuple):
    """What came of a case: "agree", "refuse" (engine and reference, alike), "no case", or a finding."""

    seed: int
    kind: str
    told: str
    seconds: float

    @property
    def finding(self) -> bool:
        """Whether it must not be."""
        return self.kind in ("differ", "crash", "slow")


class TooLongError(Exception):
    """A case takes longer than a minute."""


def impatient() -> None:
    """Let what never ends be told sooner."""
    numbers.PATIENCE = PATIENCE
    endless.PATIENCE = TIMES


def result_of(seed: int, *, patient: bool = False) -> Result:
    """Draw and compare a case."""
    if not patient:
        impatient()
    begin = time.process_time()
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with warnings.catch_warnings(), tempfile.TemporaryDirectory() as directory:
            warnings.simplefilter("ignore")  # kernels as plain Python warn where compiled ones do not
            kind, told = _compared(seed, Path(directory))
    except TooLongError:
        case = drawn_case(seed)
        kind, told = "slow", "" if case is None else case.described
    except Exception:
        kind, told = "crash", traceback.format_exc()[-2000:]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return Result(seed, kind, told, time.process_time() - begin)


def _stop(*_: Any) -> None:
    raise TooLongError


def _compared(seed: int, directory: Path) -> tuple[str, str]:
    by_agent = seed % AGENTS == 0
    case = with_agent(seed, directory) if by_agent else drawn_case(seed)
    if case is None:
        return "no case", ""
    found = (differences_of_agent if by_agent else differences)(case, seed)
    found += broken_laws(case) if seed % LAWS == 0 else []
    if found:
        return "differ", f"{case.described}: {'; '.join(found)}"
    answer = found_by_engine(case) if by_agent else None
    return ("refuse", answer) if isinstance(answer, str) else ("agree", "")


def results(seeds: range, workers: int, run: Callable[[int], Found]) -> Iterator[Found]:
    """Yield what comes of cases, in this process or in several others."""
    if workers == 1:
        yield from map(run, seeds)
        return
    pools = multiprocessing.get_context("spawn")
    with pools.Pool(workers, gc.set_threshold, (UNSWEPT,), maxtasksperchild=2_000) as pool:
        yield from pool.imap_unordered(run, seeds, chunksize=10)


def main() -> int:
    """Run cases and print what was found; exit code 1 if there were findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--patient", action="store_true", help="as patient with what never ends as the engine is")
    given = parser.parse_args()
    seeds, begin = range(given.first, given.first + given.cases), time.monotonic()
    counts: Counter[str] = Counter()
    slowest = Result(given.first, "", "", 0.0)
    for result in results(seeds, given.workers, partial(result_of, patient=given.patient)):
        counts[result.kind] += 1
        slowest = max(slowest, result, key=lambda one: one.seconds)
        if result.finding:
            print(f"seed {result.seed}: {result.kind}, {result.told}", flush=True)
        if counts.total() % TOLD == 0:
            print(f"{counts.total():,} of {given.cases:,} cases", file=sys.stderr, flush=True)
    wrong = sum(counts[kind] for kind in ("differ", "crash", "slow"))
    parts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items()))
    print(f"{given.cases:,} cases from seed {given.first} on: {parts}")
    print(
        f"{wrong} findings in {time.monotonic() - begin:,.0f} s; seed {slowest.seed} took longest: "
        f"{slowest.seconds:.1f} s of the processor"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
