"""Run a campaign: what is missing is cut into batches, and workers go through them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.definition.inputs import find_inputs
from schedlab.campaign.definition.plan import Batch, Plan, Task
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.run.executors import Workers, local_workers
from schedlab.campaign.run.job_arrays import settle
from schedlab.campaign.run.lock import Lock
from schedlab.campaign.run.worker import Report, blamed, new_failure, run_batch
from schedlab.errors import InputError, SchedlabError, check_type
from schedlab.imports import allow_imports
from schedlab.own_code import OwnCode, libraries_of
from schedlab.schedule.provenance import versions

DEATHS = 3
"""How many processes may die at a task before it counts as failed, or in a row before they begin with one."""

Progress = Callable[[int, int, int], None]
"""Called with how many tasks are done, how many have failed, and how many there are; first before any is run."""


def run_campaign(
    campaign: Campaign,
    directory: Path | str | None = None,
    *,
    base: Path | str = ".",
    workers: AbstractContextManager[Workers] | int | None = None,
    retry_failed: bool = False,
    progress: Progress | None = None,
    command: str = "",
    text: str = "",
) -> RunDirectory:
    """Run what is missing of a campaign.

    Parameters
    ----------
    campaign
        The campaign.
    directory
        The run directory; by default `runs/` and the campaign's name. Results that are in it are not made again. If the
        campaign has changed since, what is new is added, and what no longer belongs to it is kept aside.
    base
        Directory from which relative paths of traces start.
    workers
        How many processes on this host, by default one for each core; or a context such as
        `schedlab.campaign.run.executors.dask_workers`.
    retry_failed
        Whether to try tasks again that failed before.
    progress
        Called at the beginning, with how many tasks were done or had failed before, and after each batch.
    command, text
        What the user typed, and what the campaign file says, for the report.

    Returns
    -------
    RunDirectory
        With all results; `status()` tells whether some failed.

    Raises
    ------
    InputError
        If a trace is missing or unreadable, or if another process runs this campaign.
    OutputError
        If results cannot be written. What is finished is not lost: run the campaign again.

    Examples
    --------
    >>> import tempfile
    >>> campaign = Campaign(
    ...     name="small", schedulers=["fcfs", "easy"],
    ...     workloads=[{"generate": "lublin", "jobs": 100, "processors": 64, "load": 0.9, "repetitions": 3}])
    >>> run = run_campaign(campaign, tempfile.mkdtemp(), workers=1)
    >>> run.status().done
    6
    >>> waits = run.results().pivot(index="repetition", columns="scheduler", values="mean_wait")
    >>> bool((waits["fcfs+easy"] <= waits["fcfs"]).all())
    True
    """
    check_type(campaign, Campaign, "make one with schedlab.Campaign, or read a file with schedlab.read_campaign")
    # Workers elsewhere may have another working directory.
    run = RunDirectory((Path("runs") / campaign.name if directory is None else Path(directory)).absolute())
    with prepared(run, campaign, Path(base).absolute(), command, text):
        pending = pending_tasks(run, retry_failed=retry_failed)
        if len(pending):
            context = local_workers(workers) if isinstance(workers, int) or workers is None else workers
            try:
                with context as reached:
                    batches = (run.plan.batch(part) for part in run.plan.cut(pending, reached.number, in_turn=True))
                    work_through(run, batches, reached, progress, done=len(run.plan) - len(pending))
            finally:
                # Processes that were at work have been ended by us: their tasks have not failed.
                run.sweep()
    return run


@contextmanager
def prepared(run: RunDirectory, campaign: Campaign, base: Path, command: str = "", text: str = "") -> Iterator[None]:
    """Plan a campaign in its run directory, which is ours as long as the context lasts."""
    # What this campaign names, its maker allows; the campaign that the directory holds may be another one.
    with allow_imports(*campaign.named_classes()):
        if (run.path / "campaign.json").exists():
            run.check_version()
        inputs = find_inputs(campaign, base, run.known_inputs(campaign))
        before = run.facts["code"] if (run.path / "campaign.json").exists() else {}
    plan = Plan(campaign, inputs)
    run.changed_code = [name for name, digest in plan.code.items() if before.get(name, digest) != digest]
    run.create()
    with Lock(run.path / "lock.json", f"the run directory {run.path}"):
        settle(run)
        run.write_facts(plan, base, versions_with(plan.code), command, text)
        run.sweep()
        yield


def work_through(
    run: RunDirectory, batches: Iterator[Batch], workers: Workers, progress: Progress | None, *, done: int = 0
) -> None:
    """Have workers run batches until there are none left; what a dying one leaves is tried again.

    Parameters
    ----------
    run
        The run directory.
    batches
        What is to be done.
    workers
        Who does it.
    progress
        Called at the beginning and after each batch.
    done
        How many tasks of the campaign were done or had failed before.
    """
    campaign = run.plan.campaign
    if campaign.timeout is not None and workers.threads > 1:
        raise InputError(
            "a timeout needs workers with one thread each, which can be stopped individually: dask worker --nthreads 1"
        )
    code, known = OwnCode.of(run.plan.code), versions_with(run.plan.code)
    job = partial(run_batch, run.path, code, provenance=known, schedules=campaign.schedules, timeout=campaign.timeout)
    again: list[Batch] = []
    running: dict[Future[Report], Batch] = {}
    retries = _RetryPolicy(run)
    failed = 0
    if progress:
        progress(done, failed, len(run.plan))
    while True:
        # One batch more than workers are there for each of them, so that none waits for this loop.
        while len(running) < 2 * workers.number:
            batch = again.pop() if again else next(batches, None)
            if batch is None:
                break
            running[workers.executor.submit(job, batch)] = batch
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            batch = running.pop(future)
            try:
                report = future.result()
            except SchedlabError:
                raise
            except Exception as error:  # whichever way an executor says that a process has died
                rest, lost = retries.after_death(batch, error)
                again += rest
                report = Report(0, lost)
            else:
                retries.end_row()
            done, failed = done + report.done, failed + report.failed
            if progress:
                progress(done, failed, len(run.plan))


class _RetryPolicy:
    """Finds out which task a process died at, and stops trying tasks that kill one process after another."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        self._deaths: Counter[str] = Counter()
        self._unexplained = 0

    def after_death(self, batch: Batch, error: Exception) -> tuple[list[Batch], int]:
        """Return what is to be tried again of a batch, and how many of its tasks have failed."""
        blame = dict(blamed(self._run, batch.name))
        if not blame:
            self._unexplained += 1
            if self._unexplained >= DEATHS:
                hint = ""
                if isinstance(error, BrokenExecutor):
                    hint = '; a script that runs a campaign does so under if __name__ == "__main__":'
                raise SchedlabError(
                    f"{DEATHS} processes died or failed before they began a task ({error!r}){hint}"
                ) from error
            return [batch], 0
        self._unexplained = 0
        self._deaths.update(blame.keys())
        failing = {task: trace for task, trace in blame.items() if _timed_out(trace) or self._deaths[task] >= DEATHS}
        for name, task in batch.tasks():
            if name in failing:
                self._fail(name, task, failing[name])
        # What may kill again stands alone, so that it takes nothing with it.
        rest = [batch.only(set(blame) - set(failing)), batch.without(set(blame))]
        return [part for part in rest if part is not None], len(failing)

    def end_row(self) -> None:
        """Note that a process lived to the end of its batch."""
        self._unexplained = 0

    def _fail(self, name: str, task: Task, trace: str) -> None:
        if _timed_out(trace):
            kind, reason = "timeout", f"it took longer than {self._run.plan.campaign.timeout:g} s"
        else:
            kind = "died"
            reason = f"{DEATHS} processes died while they ran it: killed, out of memory, or a fault in compiled code"
        self._run.store_failures(name, [new_failure(name, task, kind, reason, trace)])


def _timed_out(trace: str) -> bool:
    return "Timeout (" in trace


def versions_with(names: Collection[str]) -> dict[str, str]:
    """Return the versions of what computes results: also of what the code of the user's own imports."""
    return versions() | libraries_of(names)


def pending_tasks(run: RunDirectory, *, retry_failed: bool) -> NDArray[np.intp]:
    """Return the positions of the tasks that have no result and, unless they are to be tried again, have not failed."""
    done = run.done(checked=True)
    missing = ~done
    if not retry_failed:
        failed = np.array([name.encode() for name in run.failures(done)], dtype="S")
        missing[run.plan.positions(failed)] = False
    return np.flatnonzero(missing)
