"""What a snapshot of Slurm's programs means at a site: its jobs in the site's numbers, on its nodes, and its past."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.membership import user_names, users_of
from schedlab.durations import DAY, WEEK
from schedlab.engine.parts.limits.machine_inputs import never_runs
from schedlab.engine.parts.limits.refusal import in_words
from schedlab.errors import InputError
from schedlab.schedule.recorded import recorded
from schedlab.schedule.schedule import Schedule
from schedlab.site.jobs import completed, numbers_of
from schedlab.site.site import Site
from schedlab.when.forks import Twin
from schedlab.when.nodes_seen import events_of, placement_of
from schedlab.when.snapshots import Snapshot
from schedlab.when.state import NO_START, MachineState
from schedlab.wording import count_of
from schedlab.workload.resources import Labels
from schedlab.workload.workload import Workload

CLOCKS = 600
"""Seconds by which clocks may differ."""


class SiteState(NamedTuple):
    """A site at a moment, ready to be simulated from.

    Parameters
    ----------
    state
        The jobs that run or can start, in seconds behind `epoch`.
    twin
        How the site schedules them, with what happens to its nodes.
    log
        The site's past, in the same seconds and with the same users; None: it has no accounting.
    epoch
        The Unix time of second 0.
    never
        Jobs that wait and cannot start: why, by number.
    reasons
        Slurm's own word for why each job of `state` waits.
    notes
        What was not seen or not understood, in sentences without a full stop.
    """

    state: MachineState
    twin: Twin
    log: Schedule | None
    epoch: int
    never: dict[int, str]
    reasons: tuple[str, ...]
    notes: tuple[str, ...]


def site_state(site: Site, snapshot: Snapshot) -> SiteState:
    """Return the state of a site that a snapshot shows.

    Raises
    ------
    InputError
        If the snapshot contradicts itself beyond what can be mended, or none of its jobs is one of the site.
    """
    records, told = snapshot.queue.records, list(snapshot.notes)
    past, numbers = site.jobs, SiteNumbers(site)
    epoch = min(int(snapshot.queue.jobs.start_time or 0), _first_second(past), *_seen_starts(records["start"]))
    now, late = _one_clock(snapshot, records["start"].to_numpy(dtype=np.int64))
    told += late
    jobs = completed(snapshot.queue.jobs, site.cluster).jobs
    start = np.where(records["start"] >= 0, records["start"] - epoch, NO_START).astype(np.int64)
    submit = np.minimum(jobs.submit_time + int(jobs.start_time or 0) - epoch, now - epoch)
    jobs = numbers.given(jobs).replace(
        submit_time=np.where(start >= 0, np.minimum(submit, start), submit), start_time=epoch
    )
    jobs = _seen_reservations(_as_they_run(jobs, start >= 0), snapshot, told)
    placement, lost = placement_of(records["on"], jobs, site.cluster, snapshot.services)
    told += placement.notes
    never, out = _never(jobs, site, start, told)
    kept = np.flatnonzero(~(lost | out))
    if len(jobs) and not len(kept):
        raise InputError("no job of the queue is one that the site's nodes could run: is it the queue of this site?")
    known = np.maximum(jobs.requested_time, np.where(start >= 0, now - epoch - start, -1) + 1)
    held = {int(one["job_id"]): _why_held(one) for _, one in snapshot.queue.left_out.iterrows()}
    seen = records["priority"].to_numpy(dtype=np.float64)
    state = MachineState(
        jobs.replace(run_time=known, requests_enforced=False)[kept],
        start[kept],
        now - epoch,
        np.full(len(kept), NO_START),
        placement.select(kept),
        np.where((seen >= 0) & (start < 0), seen, np.nan)[kept],
        snapshot.usage,
    )
    events, notes = events_of(snapshot, site, epoch)
    log, aged = _past(site, numbers, epoch, now)
    reasons = tuple(records["reason"].to_numpy()[kept].tolist())
    twin = Twin(site.settings.scheduler, cluster=site.cluster, node_events=events)
    return SiteState(state, twin, log, epoch, never | held, reasons, (*told, *notes, *aged))


def _first_second(past: Workload | None) -> int:
    if past is None or past.start_time is None or not len(past):
        return 1 << 53
    return int(past.start_time + min(0, past.submit_time.min()))


def _seen_starts(starts: Any) -> list[int]:
    known = starts[starts >= 0]
    return [int(known.min())] if len(known) else []


def _one_clock(snapshot: Snapshot, start: NDArray[np.int64]) -> tuple[int, list[str]]:
    """Return the moment of a snapshot, not before the last start in it; refuse clocks that are far apart."""
    jobs = snapshot.queue.jobs
    if not len(jobs):
        return snapshot.now, []
    submitted = int(jobs.submit_time.max()) + int(jobs.start_time or 0)
    last = max(int(start.max()), min(submitted, snapshot.now + CLOCKS))
    apart = last - snapshot.now
    if apart > CLOCKS:
        row = int(np.argmax(start))
        raise InputError(
            f"job {jobs.job_id[row]} of the queue started {apart:,} s after the moment of the snapshot: give the "
            "moment at which squeue was run (--at), and the time zone of its times (--timezone)"
        )
    limit = snapshot.queue.jobs.requested_time
    over = snapshot.now - start[(start >= 0) & (limit > 0)] - limit[(start >= 0) & (limit > 0)]
    if len(over) and int(over.min()) > DAY:
        raise InputError(
            f"all running jobs are beyond their time limits at the moment of the snapshot, by {int(over.min()) // DAY} "
            "days at least: give the moment at which squeue was run (--at)"
        )
    return max(last, snapshot.now), [f"the queue is {apart} s later than its moment: it counts"] if apart > 0 else []


class SiteNumbers:
    """The numbers that a site's past gives to users, partitions, accounts and QOS."""

    def __init__(self, site: Site, header: tuple[str, ...] = ()) -> None:
        of_names = numbers_of(site.jobs, site.cluster)
        header = header or (() if site.jobs is None else site.jobs.header)
        self.users = {name: number for number, name in user_names(header).items()}
        self._partitions, self._qos = dict(of_names.partitions), dict(of_names.qos)

    def given(self, jobs: Workload) -> Workload:
        """Return jobs with these numbers; names that are new get the next ones."""
        assert jobs.resources is not None
        user = users_of(jobs)
        columns = {
            "user_id": _numbered(user, self.users),
            "partition_id": _numbered(jobs.resources.partition, self._partitions),
            "queue_id": _numbered(jobs.resources.qos, self._qos),
        }
        header = tuple(f" User: {number} {name}" for name, number in self.users.items())
        return jobs.replace(**columns, header=header)


def _numbered(labels: Labels, numbers: dict[str, int]) -> NDArray[np.int64]:
    for name in labels.names:
        numbers.setdefault(name, max(numbers.values(), default=0) + 1)
    codes = np.array([*(numbers[name] for name in labels.names), -1], dtype=np.int64)
    return np.asarray(codes[labels.codes])


def _as_they_run(jobs: Workload, runs: NDArray[np.bool_]) -> Workload:
    """Return jobs of which those that run ask for what they hold: so many single cores on so many nodes, anywhere."""
    asked = jobs.resources
    assert asked is not None
    nodes = np.maximum(asked.nodes, 1)
    gpus = np.where(asked.gpus_per_task > 0, asked.gpus_per_task * asked.tasks, asked.gpus)
    as_held: dict[str, Any] = {
        "tasks": jobs.job_processors,
        "cores_per_task": 1,
        "tasks_per_node": 0,
        "switches": 0,
        "gpus": 0,
        "gpus_per_task": 0,
        "gpus_per_node": np.where(asked.gpus_per_node > 0, asked.gpus_per_node, -(-gpus // nodes)),
    }
    columns = {name: np.where(runs, held, getattr(asked, name)) for name, held in as_held.items()}
    for name in ("constraint", "exclude", "nodelist"):
        labels = getattr(asked, name)
        columns[name] = Labels(np.where(runs, -1, labels.codes), labels.names)
    return jobs.replace(resources=replace(asked, **columns))


def _seen_reservations(jobs: Workload, snapshot: Snapshot, told: list[str]) -> Workload:
    """Return jobs without the reservations that they ask for and that were not seen."""
    assert jobs.resources is not None
    asked = jobs.resources.reservation
    there = {one.name for one in snapshot.reservations if one.name}
    lost = np.array([*(name not in there for name in asked.names), False])[asked.codes]
    if lost.any():
        names = sorted({asked.names[code] for code in asked.codes[lost].tolist()})
        told.append(f"{count_of(int(lost.sum()), 'job')} of reservations that were not seen ({', '.join(names[:3])})")
    labels = Labels(np.where(lost, -1, asked.codes), asked.names)
    return jobs.replace(resources=replace(jobs.resources, reservation=labels))


def _never(
    jobs: Workload, site: Site, start: NDArray[np.int64], told: list[str]
) -> tuple[dict[int, str], NDArray[np.bool_]]:
    """Return why waiting jobs can never start, by number, and which rows cannot be simulated."""
    words = in_words(jobs, site.cluster, never_runs(jobs, site.cluster))
    out = np.array([bool(word) for word in words], dtype=np.bool_)
    running = out & (start >= 0)
    if running.any():
        row = int(np.argmax(running))
        told.append(
            f"{count_of(int(running.sum()), 'running job')} left out, as by slurm.conf they could not run: "
            f"job {jobs.job_id[row]}, {words[row]}"
        )
    waits = np.flatnonzero(out & (start < 0)).tolist()
    return {int(jobs.job_id[row]): f"it can never start here: {words[row]}" for row in waits}, out


def _why_held(record: Any) -> str:
    if record["reason"] in ("Dependency", "DependencyNeverSatisfied") or record["dependency"]:
        on = record["dependency"] or "unknown"
        return f"it depends on a job that is held, has failed or is not in the queue ({on})"
    return f"it is held ({record['reason'] or 'priority 0'}) and waits until it is released"


def _past(site: Site, numbers: SiteNumbers, epoch: int, now: int) -> tuple[Schedule | None, list[str]]:
    """Return the site's past that can be replayed, and what to say of its age.

    Accounting that ends weeks before the moment is taken as if it were so many whole weeks later.
    """
    if site.jobs is None:
        return None, ["the site has no accounting: nothing is known of past run times or of arrivals"]
    jobs = site.replayable().jobs
    dated = site.jobs.start_time is not None
    shift = (now if site.jobs.start_time is None else site.jobs.start_time) - epoch
    shift -= 0 if dated else int((jobs.submit_time + jobs.wait_time.clip(0) + jobs.run_time).max())
    behind = now - epoch - shift - int(jobs.submit_time.max())
    weeks = max(0, behind) // WEEK
    moved = jobs.replace(submit_time=jobs.submit_time + shift + weeks * WEEK)
    notes = list(_age(behind))
    notes += [] if dated else ["the accounting has no dates: it is taken to end now"]
    return recorded(moved), notes


def _age(behind: int) -> Iterator[str]:
    if behind >= WEEK:
        yield f"the accounting of the site ends {behind / 86_400:.0f} days before: run times and arrivals are of then"
