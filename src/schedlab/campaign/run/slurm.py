"""Campaigns as Slurm job arrays: submitted once; no process of schedlab has to wait for them.

The tasks that are missing are cut into batches, and the batches are dealt to the elements of one array. Each element
works through its batches on the cores that it was given, and puts results into the run directory as every worker does.
What an element cannot do, because it is killed or its time is up, is missing afterwards; the next submission does it.
"""

from __future__ import annotations

import os
import re
import secrets
import shlex
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from schedlab.atomic import atomic_path
from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.definition.plan import Batch, Plan
from schedlab.campaign.run.coordinator import pending_tasks, prepared, work_through
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.run.executors import local_workers
from schedlab.campaign.run.job_arrays import Submission, fingerprint, ranges, slurm_program
from schedlab.campaign.run.own_files import modified
from schedlab.errors import InputError

MAX_ARRAY_SIZE = 1_001
"""Slurm's own default; indices are below it, so that there are at most as many elements."""

SIGNAL = "B:TERM@120"
"""Tells an element, and not its workers, before its time is up; until then it can end the batches at hand."""

SCRIPT = """\
#!/bin/sh
# The process that Slurm signals is the element itself, not a shell around it.
exec {python} -m schedlab{imports} campaign element {run} {name}
"""


def submit(
    campaign: Campaign,
    directory: Path | str,
    *,
    base: Path | str = ".",
    elements: int | None = None,
    max_array_size: int | None = None,
    options: Sequence[str] = (),
    retry_failed: bool = False,
    command: str = "",
    text: str = "",
) -> Submission:
    """Submit what is missing of a campaign as one job array.

    Parameters
    ----------
    campaign
        The campaign.
    directory
        The run directory, which all nodes must see under this name.
    base
        Directory from which relative paths of traces start.
    elements
        How many elements to have; by default, one for some seconds of work. More than Slurm allows in an array
        are never made: each has more to do instead.
    max_array_size
        Slurm's MaxArraySize; by default, what `scontrol show config` says.
    options
        For `sbatch`, such as "--time=2:00:00" or "--cpus-per-task=4".
    retry_failed
        Whether to try tasks again that failed before.
    command, text
        What the user typed, and what the campaign file says, for the report.

    Returns
    -------
    Submission
        With the number of the job; without one if there is nothing to do.

    Raises
    ------
    InputError
        If a trace is missing or unreadable, if another process runs this campaign, if elements of an earlier submission
        wait or run, or if `sbatch` refuses.
    """
    run = RunDirectory(Path(directory).resolve())
    with prepared(run, campaign, Path(base).resolve(), command, text):
        pending = pending_tasks(run, retry_failed=retry_failed)
        parts, number = deal(run.plan, pending, elements, max_array_size or _max_array_size())
        name = f"{campaign.name}-{secrets.token_hex(4)}"
        submission = Submission(name, fingerprint(run.plan), len(pending), number, tuple(map(ranges, parts)))
        return _hand_over(run, submission, options) if parts else submission


def deal(plan: Plan, pending: NDArray[np.intp], elements: int | None, limit: int) -> tuple[list[NDArray[np.intp]], int]:
    """Return the batches of an array, and how many elements it has.

    Parameters
    ----------
    plan
        The plan.
    pending
        Positions of the tasks to do, ascending.
    elements
        How many are wanted; None is one for each batch that a single worker would have.
    limit
        How many there may be.
    """
    number = max(1, min(elements or len(plan.cut(pending, 1)), limit))
    parts = plan.cut(pending, number)
    return parts, min(number, len(parts))


def _max_array_size() -> int:
    with suppress(InputError):
        found = re.search(r"^MaxArraySize\s*=\s*(\d+)", slurm_program("scontrol", "show", "config"), re.MULTILINE)
        if found:
            return int(found[1])
    return MAX_ARRAY_SIZE


def _hand_over(run: RunDirectory, submission: Submission, options: Sequence[str]) -> Submission:
    """Write the files of a submission and call sbatch; if it refuses, nothing is left of it."""
    script = submission.file(run, ".sh")
    run.ensure("slurm")
    submission.write(run)
    with atomic_path(script) as temporary:
        words = {"python": sys.executable, "run": str(run.path), "name": submission.name}
        named = run.plan.campaign.named_classes()
        imports = "".join(f" --allow-import {shlex.quote(name)}" for name in named)
        quoted = {key: shlex.quote(word) for key, word in words.items()}
        temporary.write_text(SCRIPT.format_map(quoted | {"imports": imports}))
    # The last of two equal options counts: users may choose log files and signals, but not names and indices.
    log = f"--output={submission.file(run, '-%a.log')}"
    identity = [f"--job-name={submission.name}", f"--array=0-{submission.elements - 1}"]
    try:
        job = slurm_program("sbatch", "--parsable", log, f"--signal={SIGNAL}", *options, *identity, str(script))
    except InputError:
        submission.file(run).unlink()
        script.unlink()
        raise
    return replace(submission, job=job.strip().partition(";")[0])


def run_element(run: RunDirectory, name: str, element: int) -> int:
    """Do the share of one element of a job array; on SIGTERM, finish the batches at hand and begin no more.

    Parameters
    ----------
    run
        The run directory.
    name
        Of the submission.
    element
        Index in the array. The environment variable `SLURM_CPUS_PER_TASK` says how many processes to use.

    Returns
    -------
    int
        How many of its batches it did not begin with.

    Raises
    ------
    InputError
        If there is no such submission, or if the campaign has changed since.
    OutputError
        If results cannot be written.
    """
    submission = Submission.read(run, name)
    share = deque(submission.share(element))
    cores = int(os.environ.get("SLURM_CPUS_PER_TASK", "1"))
    with _stop_on(signal.SIGTERM) as stop, local_workers(cores) as workers:
        work_through(run, _lacking(run, submission, share, stop), workers, None)
    return len(share)


def _lacking(
    run: RunDirectory, submission: Submission, share: deque[NDArray[np.intp]], stop: threading.Event
) -> Iterator[Batch]:
    """Take batches from a share and yield those without results, until there are none left or time is up.

    Slurm may start an element twice; what it has done since the submission is not done again.
    """
    submitted = submission.file(run).stat().st_mtime
    stored = {path.name.partition("-")[0]: path for path in run.files("results", ".parquet")}
    while share and not stop.is_set():
        batch = run.plan.batch(share.popleft())
        if batch.name not in stored or modified(stored[batch.name]) < submitted:
            yield batch


@contextmanager
def _stop_on(number: signal.Signals) -> Iterator[threading.Event]:
    """Give an event that a signal sets."""
    stop = threading.Event()
    before = signal.signal(number, lambda *_: stop.set())
    try:
        yield stop
    finally:
        signal.signal(number, before)
