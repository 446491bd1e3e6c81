"""The logs of a search, cut into windows: which of them are trained on, chosen on and judged on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.cli.traces import read_trace
from schedlab.errors import InputError
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.learn.training import Training
    from schedlab.workload.reading import Reading
    from schedlab.workload.workload import Workload

HELD_OUT = 1 / 3
"""Share of each log's windows, the last ones, that the test is about if no other log is given."""

VALIDATION = 3
"""Every third window of each log to learn from is only for the choice among the best of the families."""


@dataclass(frozen=True)
class SearchLog:
    """A log that is trained or tested on: some of its windows, by number, out of `total`."""

    path: Path
    sha256: str
    name: str
    windows: dict[int, Workload]
    total: int

    def only(self, numbers: list[int]) -> SearchLog:
        return SearchLog(self.path, self.sha256, self.name, {i: self.windows[i] for i in numbers}, self.total)


def read_logs(
    paths: list[Path], clean: str, reading: Reading, length: int, known: list[SearchLog] | None = None
) -> list[SearchLog]:
    """Read logs and cut them into windows; refuse what is given twice, or among those known already."""
    from schedlab.learn.training import STATE, usable_windows
    from schedlab.streams import file_sha256
    from schedlab.workload.sampling import windows

    logs: list[SearchLog] = []
    for path in paths:
        read = read_trace(path, clean, reading=reading)
        sha256 = file_sha256(path)
        if any(log.sha256 == sha256 for log in known or []):
            raise InputError(
                f"{path} is also used for training: a test or a choice needs a log the search has not seen"
            )
        if any(log.sha256 == sha256 for log in logs):
            raise InputError(f"{path} is given twice")
        if read.workload.processors is None:
            raise InputError(f"{path}: the size of the machine is unknown; convert the trace with --processors")
        with read.blamed():
            usable = usable_windows(read.workload, length)
        total = sum(1 for _ in windows(read.workload, length, STATE))
        logs.append(SearchLog(path, sha256, read.workload.name, usable, total))
    return logs


def hold_out(logs: list[SearchLog]) -> list[SearchLog]:
    """Take the last windows from each log of a list, and return the logs with these."""
    unseen = []
    for i, log in enumerate(logs):
        numbers = list(log.windows)
        taken = int(len(numbers) * HELD_OUT)
        if not taken:
            raise InputError(
                f"{log.path} has only {count_of(len(numbers), 'window')}, too few to hold some out for a test; take "
                "shorter --windows or another trace to --test"
            )
        unseen.append(log.only(numbers[-taken:]))
        logs[i] = log.only(numbers[:-taken])
    return unseen


def split(logs: list[SearchLog]) -> tuple[list[SearchLog], list[SearchLog]]:
    """Return the logs with the windows to train on, and with those for validation."""
    validation = [log.only(list(log.windows)[VALIDATION - 1 :: VALIDATION]) for log in logs]
    trained = [
        log.only([number for number in log.windows if number not in held_out.windows])
        for log, held_out in zip(logs, validation, strict=True)
    ]
    return trained, validation


def parts(logs: list[SearchLog]) -> list[Workload]:
    return [part for log in logs for part in log.windows.values()]


def used(logs: list[SearchLog], training: Training) -> list[SearchLog]:
    """Return the logs with the windows that the training has kept: where the baseline is at 0, it leaves them out."""
    kept = {id(part) for part in training.windows}
    return [log.only([number for number, part in log.windows.items() if id(part) in kept]) for log in logs]
