"""Where the jobs of a workload come from: the file, its fingerprint, how it was read, and what cleaning did to it."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import TypeAdapter

from schedlab.streams import file_sha256

if TYPE_CHECKING:
    from schedlab.workload.cleaning_report import Step
    from schedlab.workload.workload import Workload

FilePath = str | os.PathLike[str]
Reader = TypeVar("Reader", bound="Callable[..., Workload]")


@dataclass(frozen=True, slots=True)
class AppliedRule:
    """A rule that was applied to jobs, and how many of them it dropped or changed."""

    rule: str
    dropped: int = 0
    changed: int = 0


@dataclass(frozen=True, slots=True)
class Origin:
    """Where jobs come from.

    Parameters
    ----------
    file
        Name of the file that was read, without its directory; "" for jobs that were made in memory.
    sha256
        SHA-256 of the file's bytes, compressed if it is; "" if it could be read only once.
    format
        The format that it was read as.
    reading
        Options of reading that were used.
    cleaning
        The rules that were applied after that, in order, also those that concerned no job.
    made_from
        The origins of the jobs that were written to the file, or joined.

    Examples
    --------
    >>> origin = Origin("april.swf", "5d41402a...", "swf", cleaning=(AppliedRule("never-ran", dropped=3),))
    >>> print(*origin.lines(), sep="\\n")
    jobs from april.swf (swf, SHA-256 5d41402a...)
    cleaning: never-ran (dropped 3)
    """

    file: str = ""
    sha256: str = ""
    format: str = ""
    reading: dict[str, Any] = field(default_factory=dict)
    cleaning: tuple[AppliedRule, ...] = ()
    made_from: tuple[Origin, ...] = ()

    def cleaned(self, steps: Sequence[Step]) -> Origin:
        """Return the origin of jobs to which rules were applied."""
        applied = (AppliedRule(step.rule, step.dropped, step.changed) for step in steps)
        return replace(self, cleaning=(*self.cleaning, *applied))

    def read_with(self, **options: Any) -> Origin:
        """Return the origin with these options of reading, less those that are None, False or empty."""
        return replace(self, reading=self.reading | {name: value for name, value in options.items() if value})

    @property
    def stored(self) -> Origin | None:
        """The origin that the file itself names, for jobs that were only put aside in it; None if it names none."""
        return self.made_from[0] if self.made_from else None

    def to_dict(self) -> dict[str, Any]:
        """Return dictionaries, lists, texts and numbers, without what is empty."""
        found = {name: value for name, value in asdict(self).items() if value and name != "made_from"}
        found |= {name: list(value) for name, value in found.items() if isinstance(value, tuple)}
        return found | ({"made_from": [one.to_dict() for one in self.made_from]} if self.made_from else {})

    def lines(self) -> Iterator[str]:
        """Yield sentences: the file, how it was read, and the rules with what they did."""
        if self.file:
            known = f", SHA-256 {self.sha256}" if self.sha256 else ""
            yield f"jobs from {self.file} ({self.format}{known})"
        for one in self.made_from:
            yield from one.lines()
        if self.reading:
            yield "read with " + ", ".join(f"{name} {value}" for name, value in self.reading.items())
        if self.cleaning:
            yield "cleaning: " + ", ".join(map(_rule_text, self.cleaning))


def _rule_text(applied: AppliedRule) -> str:
    did = [f"{what} {count:,}" for what, count in (("dropped", applied.dropped), ("changed", applied.changed)) if count]
    return f"{applied.rule} ({', '.join(did)})" if did else applied.rule


ORIGIN: TypeAdapter[Origin | None] = TypeAdapter(Origin | None)
"""To read what `to_dict` returned."""


def joined_origin(first: Origin | None, second: Origin | None) -> Origin | None:
    """Return the origin of jobs that were put together.

    Examples
    --------
    >>> april, may = Origin("april.swf"), Origin("may.swf")
    >>> joined_origin(april, april) == april, [one.file for one in joined_origin(april, may).made_from]
    (True, ['april.swf', 'may.swf'])
    """
    parts: list[Origin] = []
    for one in (first, second):
        alone = one is not None and replace(one, made_from=()) != Origin()
        for part in () if one is None else (one,) if alone else one.made_from:
            if part not in parts:
                parts.append(part)
    return None if not parts else parts[0] if len(parts) == 1 else Origin(made_from=tuple(parts))


def names_its_file(form: str) -> Callable[[Reader], Reader]:
    """Let a reader of a format give its workloads their origin; what the file says of its own is kept below it."""

    def decorated(read: Reader) -> Reader:
        @functools.wraps(read)
        def reader(path: FilePath, *args: Any, **kwargs: Any) -> Workload:
            workload = read(path, *args, **kwargs)
            below = () if workload.origin is None else (workload.origin,)
            return workload.replace(origin=origin_of(path, form, below))

        return cast(Reader, reader)

    return decorated


def origin_of(path: FilePath, form: str, made_from: tuple[Origin, ...] = ()) -> Origin:
    """Return the origin of the jobs in a file; a pipe, which can be read only once, has no fingerprint."""
    sha256 = file_sha256(path) if Path(path).is_file() else ""
    return Origin(Path(path).name, sha256, form, made_from=made_from)
