"""Read the events file of UB CCR's Slurm simulator: submissions with the options of sbatch."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.streams import open_input
from schedlab.wording import shown
from schedlab.workload._accounting import numbered_names
from schedlab.workload.origin import names_its_file
from schedlab.workload.resources import CHECKPOINTS, LABELS, NUMBERS, Resources
from schedlab.workload.sbatch import Request, notes_on_gres, requests_of
from schedlab.workload.workload import Workload

EVENT_LINE = re.compile(r"-dt\s+(\S+)\s+-e\s+(\S+)\s*\|(.*)")
FOR_EVER = 10 * 365 * 86400
"""Seconds: the run time of a job that runs until it is killed."""


MOST_JOBS = 10_000_000
"""Elements of all arrays of a file."""


@dataclass(frozen=True, slots=True)
class EventLine:
    """A submission.

    Parameters
    ----------
    second
        The second on the clock of the file.
    run_time
        Seconds; FOR_EVER for a job that runs until it is killed.
    user, name
        None and "job" if not given.
    options
        The options of sbatch, without the user, the name and the script.
    request
        The parsed request; of a heterogeneous job, that of the first component.
    components
        Those of its further components.
    """

    second: int
    run_time: int
    user: str | None
    name: str
    options: tuple[str, ...]
    request: Request
    components: tuple[Request, ...] = ()


def event_lines(path: str | os.PathLike[str]) -> Iterator[EventLine]:
    """Yield the submissions of a file, plain or compressed.

    Raises
    ------
    InputError
        If a line is not an event, or an option is not valid.
    """
    with open_input(path) as stream:
        for number, line in enumerate(stream.read().decode(errors="replace").splitlines(), 1):
            if line.strip() and not line.lstrip().startswith("#"):
                matched = EVENT_LINE.match(line.strip())
                where = f"{os.fspath(path)}:{number}"
                if matched is None or matched[2] != "submit_batch_job":
                    raise InputError(
                        f"{where}: not an event of the form '-dt SECONDS -e submit_batch_job | OPTIONS'", line=number
                    )
                try:
                    yield _event(matched)
                except (ValueError, StopIteration, OverflowError) as error:
                    what = error if isinstance(error, InputError) else "a number or a value is missing or no number"
                    raise InputError(f"{where}: {what}", line=number) from None


def _event(matched: re.Match[str]) -> EventLine:
    run_time, user, name = FOR_EVER, None, "job"
    kept: list[str] = []
    unused: list[str] = []
    words = iter(shlex.split(matched[3]))
    for word in words:
        if word in ("-sim-walltime", "-cancel-in"):
            value = _seconds(next(words))
            if word == "-cancel-in":
                unused.append("cancel-in")
            else:
                run_time = FOR_EVER if value < 0 else value
        elif word.startswith("--uid="):
            user = word.removeprefix("--uid=")
        elif word in ("-J", "--job-name"):
            name = next(words)
        elif not word.endswith(".job"):
            kept.append(word)
    request, *components = requests_of(kept)
    request = replace(request, unused=(*request.unused, *unused))
    return EventLine(_seconds(matched[1]), run_time, user, name, tuple(kept), request, tuple(components))


def _seconds(text: str) -> int:
    seconds = round(float(text))
    if abs(seconds) >= 2**53:
        raise InputError(f"{shown(text)} seconds are too many")
    return seconds


@names_its_file("events")
@explained
def read_event_lines(path: str | os.PathLike[str]) -> Workload:
    """Read the events file of UB CCR's Slurm simulator, plain or gzip-compressed.

    Parameters
    ----------
    path
        The file, with one submission per line: `-dt SECONDS -e submit_batch_job | OPTIONS`, with the options of sbatch
        and `-sim-walltime`, the run time (-1: the job runs until it is killed at its limit, 0: it ends at once). An
        array (`--array=0-9%2`) is as many jobs as it has elements, of which so many run at a time. A heterogeneous
        job, with a colon between the options of its components, has a row for each of them.

    Returns
    -------
    Workload
        Requests are in `resources`, names of users in the header. A run time is at most the time limit.

    Raises
    ------
    InputError
        If the file has no event, a line is not an event, or an option is not valid, with the line; or if its arrays
        have more than `MOST_JOBS` elements.

    References
    ----------
    Simakov et al., "A Slurm simulator: implementation and parametric analysis", PMBS 2017.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.events"
    >>> start = "-dt 0 -e submit_batch_job | -sim-walltime"
    >>> lines = [f"{start} 60 --uid=ann -n 4 --mem=8G -t 5 x.job", f"{start} -1 --uid=bob -N 2 -t 9 x.job"]
    >>> written = path.write_text("\\n".join(lines))
    >>> jobs = read_event_lines(path)
    >>> jobs.run_time.tolist(), jobs.requested_processors.tolist(), jobs.resources.memory_per_node.tolist()
    ([60, 540], [4, 2], [8192, 0])
    """
    events = list(event_lines(path))
    for row, event in enumerate(events):
        if event.components and event.request.elements:
            raise InputError(f"{os.fspath(path)}: event {row + 1} is an array of heterogeneous jobs, which Slurm lacks")
    if sum(event.request.elements for event in events) > MOST_JOBS:
        raise InputError(f"{os.fspath(path)}: its arrays have more than {MOST_JOBS:,} elements in all")
    place: list[int] = []
    jobs: list[EventLine] = []
    for row, event in enumerate(events):
        parts = [event, *(replace(event, request=request) for request in event.components)]
        jobs += parts * max(event.request.elements, 1)
        place += [row] * (len(jobs) - len(place))
    arrays = [str(row + 1) if events[row].request.elements else None for row in place]
    het_jobs = [str(row + 1) if events[row].components else None for row in place]
    return workload_of_events(jobs, path, arrays, het_jobs)


def workload_of_events(
    events: list[EventLine],
    path: str | os.PathLike[str],
    arrays: list[str | None] | None = None,
    het_jobs: list[str | None] | None = None,
) -> Workload:
    """Return the workload of the submissions in a file.

    `arrays` has the array of each, and `het_jobs` the heterogeneous job; None: each is one job.
    """
    if not events:
        raise InputError(f"{os.fspath(path)}: the file has no event")
    requests = [event.request for event in events]
    users = sorted({event.user for event in events if event.user is not None})
    number = {name: place for place, name in enumerate(users, 1)}
    limits = np.array([request.seconds for request in requests], dtype=np.int64)
    run_times = np.array([event.run_time for event in events], dtype=np.int64)
    unused = Counter(name for request in requests for name in request.unused)
    others = ("gpu_share", "array", "array_limit", "het_job", "patience", *CHECKPOINTS)
    told = [name for name in (*NUMBERS, *LABELS) if name not in others]
    columns: dict[str, Any] = {name: [getattr(request, name) for request in requests] for name in told}
    if arrays is not None:
        columns |= {"array": arrays, "array_limit": [request.array_limit for request in requests]}
    if het_jobs is not None:
        columns["het_job"] = het_jobs
    resources = Resources.of(len(events), **columns)
    numbers, names = numbered_names(resources)
    return Workload.from_columns(
        {
            "submit_time": np.array([event.second for event in events], dtype=np.int64),
            "run_time": np.minimum(run_times, np.where(limits > 0, limits, run_times)),
            "requested_processors": np.array([request.processors for request in requests], dtype=np.int64),
            "requested_time": limits,
            "user_id": np.array([number.get(event.user or "", -1) for event in events], dtype=np.int64),
        }
        | numbers,
        name=Path(path).name.partition(".")[0],
        header=(
            *(f" User: {place} {name}" for name, place in number.items()),
            *names,
            *(f" Note: option --{name} not used: {count:,} jobs" for name, count in unused.items()),
            *(f" Note: {note}" for note in notes_on_gres(requests)),
        ),
        resources=resources,
    )
