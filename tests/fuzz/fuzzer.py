"""Harm inputs and see what schedlab does about it: each case must end with a result or with one sentence.

    python tests/fuzz/fuzzer.py --cases 10000
    NUMBA_DISABLE_JIT=1 python tests/fuzz/fuzzer.py --cases 10000

A case is a number: the same number and seed harm the same input in the same way; with kernels as plain Python, other
inputs are harmed. A traceback, more than a minute, more than 2 GB of memory, or pages of error are findings; the files
of a finding are kept.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import random
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from numba import config
from typer.main import get_command

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "campaign")]

SECONDS = 60
"""Of the processor, so that a loaded machine makes no findings."""

PATIENCE = 1_800
"""Seconds until a case that waits for something counts as one that hangs."""

MEMORY = 2_000_000_000
ADDRESSES = 6_000_000_000
"""Bytes that a process may have for itself, so that a finding does not take the machine with it."""

LONGEST_MESSAGE = 1_600

LONGEST_ARGUMENT = 100_000
"""Characters; Linux allows 128 KiB."""


@dataclass(frozen=True)
class Outcome:
    """What came of a case: "accepted", "refused", or a finding."""

    case: int
    target: str
    kind: str
    told: str
    seconds: float
    memory: int

    @property
    def finding(self) -> bool:
        """Whether it must not be."""
        return self.kind not in ("accepted", "refused")


class Fuzzer:
    """Runs cases in this process.

    Parameters
    ----------
    directory
        Where sound files are, and where cases are made.
    seed
        Of all cases.
    only
        A part of the names of the targets to take; empty for all.
    """

    def __init__(self, directory: Path, seed: int, only: str = "") -> None:
        from targets import targets

        from schedlab.cli.app import app

        self.sound = directory / "sound"
        self.seed = seed
        how = ("either", "plain" if plain() else "compiled")
        shutil.rmtree(self.sound, ignore_errors=True)
        made = targets(self.sound, plain=plain())
        self.targets = [target for target in made if only in target.name and target.how in how]
        self._program = get_command(app)  # once: it takes longer than most cases

    def run(self, case: int, directory: Path) -> Outcome:
        """Make and run a case in an empty directory."""
        rng = random.Random(f"{self.seed}/{case}")
        target = self.targets[case % len(self.targets)]
        harmed = target.seal(target.harm(target.sound, rng))
        words = rng.choice(target.commands).split()
        file = ""
        if target.file:
            place = Path(target.file).parts[0]
            if place != target.file:
                shutil.copytree(self.sound / place, directory / place)
            shutil.copy(self.sound / "log.swf", directory)  # which the campaign names
            file = target.file.replace("CHECKSUM", hashlib.sha256(harmed).hexdigest()[:16])
            (directory / file).parent.mkdir(exist_ok=True)
            if "CHECKSUM" in target.file:
                for path in (directory / file).parent.glob(f"{Path(file).name[:32]}*"):
                    path.unlink()
            (directory / file).write_bytes(harmed)
        text = os.fsdecode(harmed.replace(b"\0", b""))[:LONGEST_ARGUMENT]
        values = {"DIR": str(self.sound), "FILE": file, "TEXT": text.replace("DIR", str(self.sound))}
        arguments = [values.get(word, word.replace("DIR", str(self.sound)).replace("FILE", file)) for word in words]
        (directory / "arguments.json").write_text(json.dumps(arguments))
        return self._called(case, target.name, arguments, directory)

    def _called(self, case: int, target: str, arguments: list[str], directory: Path) -> Outcome:
        _forget_peak()
        begin, held = time.process_time(), _peak()  # the process may have run other things before
        said = io.StringIO()
        before = os.getcwd()
        os.chdir(directory)
        try:
            with (
                contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")),
                contextlib.redirect_stderr(said),
                warnings.catch_warnings(),  # kernels as plain Python warn where compiled ones do not
            ):
                warnings.simplefilter("ignore")
                code, trace = self._schedlab(arguments)
        finally:
            os.chdir(before)
        seconds, memory = time.process_time() - begin, _peak() - held
        told = trace or said.getvalue()
        kind = "accepted" if code == 0 else "refused"
        if trace:
            kind = "traceback"
        elif memory > MEMORY:
            kind = "memory"
        elif seconds > SECONDS:
            kind = "slow"
        elif kind == "refused" and (len(told) > LONGEST_MESSAGE or not told.strip()):
            kind = "no sentence"
        return Outcome(case, target, kind, told[-3_000:], seconds, memory)

    def _schedlab(self, arguments: list[str]) -> tuple[int, str]:
        """Call the command line; return its exit code, and the traceback of what it did not catch."""
        from schedlab.errors import SchedlabError

        try:
            if arguments[0] == "resume":
                resume(*arguments[1:])
            else:
                self._program(arguments, prog_name="schedlab")
        except SystemExit as end:
            return (end.code if isinstance(end.code, int) else 1), ""
        except SchedlabError as error:
            print(error, file=sys.stderr)
            return 1, ""
        except BaseException:
            return 1, traceback.format_exc()
        return 0, ""


def plain() -> bool:
    """Return whether the kernels are plain Python here."""
    return config.DISABLE_JIT != 0  # type: ignore[attr-defined]


def resume(path: str) -> None:
    """Load a saved simulation and run it to its end, which no verb does."""
    from schedlab.engine.steps.stepwise import Simulation

    Simulation.load(path).run()


def _forget_peak() -> None:
    """Let the system measure the peak of memory anew."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def work(directory: Path, seed: int, only: str, begin: int, end: int, step: int) -> None:
    """Run every so manyth case of a range and print what came of each, one line of JSON each."""
    resource.setrlimit(resource.RLIMIT_DATA, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.stdin = open(os.devnull)  # noqa: SIM115 (for as long as the process lives)
    place = directory / f"worker-{begin % step}"
    fuzzer = Fuzzer(place, seed, only)
    report = os.fdopen(os.dup(1), "w")
    for case in range(begin, end, step):
        case_directory = place / "case"
        shutil.rmtree(case_directory, ignore_errors=True)
        case_directory.mkdir(parents=True)
        report.write(f"{json.dumps({'begin': case})}\n")
        report.flush()
        outcome = fuzzer.run(case, case_directory)
        if outcome.finding:
            shutil.copytree(case_directory, directory / "findings" / str(case), dirs_exist_ok=True, symlinks=True)
        report.write(f"{json.dumps(vars(outcome))}\n")
        report.flush()


class Worker:
    """A process that runs cases, and is replaced when it hangs or dies."""

    def __init__(self, directory: Path, seed: int, only: str, first: int, end: int, step: int) -> None:
        self._arguments = (str(directory), str(seed), only)
        self.end, self.step = end, step
        self.case = first
        self._start(first)

    def _start(self, first: int) -> None:
        words = [
            sys.executable,
            str(Path(__file__)),
            "--work",
            *self._arguments,
            str(first),
            str(self.end),
            str(self.step),
        ]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.since, self.used = time.monotonic(), 5.0 * SECONDS  # kernels are compiled, and sound files made, first

    def _seconds(self) -> float:
        """Return the seconds of the processor that the process has used."""
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    def outcome(self) -> Outcome | None:
        """Return the next outcome, if there is one now."""
        assert self.process.stdout is not None
        if select.select([self.process.stdout], [], [], 0.2)[0]:
            line = self.process.stdout.readline()
            if line:
                told = json.loads(line)
                if "begin" in told:
                    self.case, self.since, self.used = told["begin"], time.monotonic(), self._seconds()
                    return None
                return Outcome(**told)
            if self.process.wait() == 0:
                self.case = self.end
                return None
            return self._replaced("died", f"exit code {self.process.returncode}")
        if time.monotonic() - self.since > PATIENCE or self._seconds() - self.used > 2 * SECONDS:
            self.process.kill()
            return self._replaced("hang", "")
        return None

    def _replaced(self, kind: str, told: str) -> Outcome:
        lost = Outcome(self.case, "", kind, told, time.monotonic() - self.since, 0)
        if self.case + self.step < self.end:
            self._start(self.case + self.step)
        self.case += self.step
        return lost


def outcomes(directory: Path, cases: int, *, seed: int = 1, workers: int = 2, only: str = "") -> Iterator[Outcome]:
    """Run cases in processes of their own, and yield what came of each."""
    running = [Worker(directory, seed, only, first, cases, workers) for first in range(min(workers, cases))]
    try:
        while any(worker.case < cases for worker in running):
            for worker in running:
                if worker.case < cases and (outcome := worker.outcome()) is not None:
                    yield outcome
    finally:
        for worker in running:
            worker.process.kill()


def main() -> int:
    """Run cases and print what was found; exit code 1 if there were findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="a part of the names of targets")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"), help="where the files of findings are kept")
    parser.add_argument("--work", nargs=6, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        directory, seed, only, begin, end, step = given.work
        work(Path(directory), int(seed), only, int(begin), int(end), int(step))
        return 0
    begin = time.monotonic()
    counts: dict[str, Counter[str]] = {}
    found, slowest, largest = 0, 0.0, 0
    with tempfile.TemporaryDirectory() as temporary:
        for outcome in outcomes(Path(temporary), given.cases, seed=given.seed, workers=given.workers, only=given.only):
            counts.setdefault(outcome.target, Counter())[outcome.kind] += 1
            slowest, largest = max(slowest, outcome.seconds), max(largest, outcome.memory)
            if outcome.finding:
                found += 1
                print(f"case {outcome.case} ({outcome.target}): {outcome.kind}\n{outcome.told}\n", flush=True)
        if (Path(temporary) / "findings").exists():
            shutil.copytree(Path(temporary) / "findings", given.keep, dirs_exist_ok=True, symlinks=True)
    for name, count in sorted(counts.items()):
        print(f"{name:<18}", "  ".join(f"{kind} {number:,}" for kind, number in sorted(count.items())))
    total = sum(map(Counter.total, counts.values()))
    print(
        f"{total:,} cases, {found:,} findings, {time.monotonic() - begin:,.0f} s; seed {given.seed}; the slowest took"
    )
    print(f"{slowest:.1f} s, the largest {largest / 1e9:.2f} GB")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
