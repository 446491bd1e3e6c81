"""A site without its names, to be given away: numbers for names, shifted times, and nothing that decides nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from schedlab.arguments import explained
from schedlab.cluster.hostlist import host_list, host_names, name_order
from schedlab.cluster.limits import Accounting
from schedlab.cluster.membership import users_of
from schedlab.cluster.node_events import NodeEvents
from schedlab.durations import WEEK
from schedlab.errors import InputError
from schedlab.site.anonymous_files import Names, anonymous_files
from schedlab.site.changes import MAIN
from schedlab.site.importing import site_of
from schedlab.site.site import Site
from schedlab.site.slurm_release import with_release
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.workload import Workload

NOTE = "names, times and numbers of jobs are not those of the site: it was made anonymous"


@dataclass(frozen=True, slots=True)
class Anonymised:
    """A site without its names.

    Parameters
    ----------
    site
        To be saved and given away.
    removed
        What was taken out or replaced, in sentences.
    remains
        What still tells something about the site, in sentences.
    """

    site: Site
    removed: tuple[str, ...]
    remains: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(
            ["taken out:", *(f"  {one}" for one in self.removed), "still there:", *(f"  {one}" for one in self.remains)]
        )


@explained
def anonymise(site: Site, *, weeks: int = 0) -> Anonymised:
    """Return a site with numbers for names, whose replay is the same to the bit.

    Names of the cluster, nodes, partitions, QOS, accounts, users, groups, features, switches, licences and reservations
    become numbers in the order of the names. Only what decides about scheduling is kept of the configuration; names of
    jobs, their numbers and columns of one's own are taken out.

    Parameters
    ----------
    site
        Any site that was imported from a slurm.conf.
    weeks
        All times are shifted by so many, so that days and hours of the week stay.

    Raises
    ------
    InputError
        If the site has no configuration, or one whose nodes come from sinfo or from jobs.

    Examples
    --------
    >>> import pathlib, tempfile, schedlab as sl
    >>> conf = pathlib.Path(tempfile.mkdtemp()) / "slurm.conf"
    >>> _ = conf.write_text('''
    ... ClusterName=physics
    ... SlurmctldHost=head.physics.example
    ... NodeName=atlas[1-4] CPUs=16 Feature=ib
    ... PartitionName=quick Nodes=ALL Default=YES
    ... ''')
    >>> print(anonymise(sl.site.import_site(conf)).site.files["slurm.conf"].strip())
    ClusterName=cluster1
    NodeName=n[1-4] CPUs=16 Feature=f1
    PartitionName=part1 Nodes=ALL Default=YES
    """
    names = names_of(site)
    with tempfile.TemporaryDirectory(prefix="schedlab-") as name:
        before, after = Path(name, "before"), Path(name, "after")
        for directory, files in ((before, site.files), (after, {})):
            directory.mkdir()
            _write(directory, files)
        written, gone = anonymous_files(before, MAIN, names)
        _write(after, written)
        jobs = None if site.jobs is None else _jobs(site.jobs, names, weeks)
        events = None if site.node_events is None else _events(site.node_events, names)
        release = replace(site.settings.slurm, source="")
        found = with_release(site_of(after / MAIN, jobs, (), events, release=release), release)
    _check_same(site, found)
    found = replace(found, settings=replace(found.settings, sources={}, notes=(NOTE,)))
    options = (f"{count:,} {why}" for why, count in gone.items())
    return Anonymised(found, (*names.told(), *options, *_removed_of_jobs(site.jobs)), tuple(_remains(site)))


def _write(directory: Path, files: Mapping[str, str]) -> None:
    for file, text in files.items():
        (directory / file).write_text(text, encoding="utf-8")


def names_of(site: Site) -> Names:
    """Return new names for all that a site's cluster and jobs name."""
    names, cluster = Names(), site.cluster
    names.add("cluster", [cluster.name])
    names.add("node", cluster.nodes, order=name_order)
    names.add("partition", {*(one.name for one in cluster.partitions), *_words(site.jobs, "partition")})
    who = cluster.accounting or Accounting()
    names.add("QOS", {*(one.name for one in who.qos), *_words(site.jobs, "qos")})
    names.add("account", {*(one.name for one in who.accounts), *_words(site.jobs, "account")})
    of_jobs = set() if site.jobs is None else {*users_of(site.jobs).names}
    names.add("user", {*(one.user for one in who.users), *of_jobs})
    names.add("feature", {feature for group in cluster.groups for feature in group.features})
    names.add("switch", {one.name for one in cluster.switches}, order=name_order)
    names.add("licence", {name for name, _ in cluster.licenses})
    return names


def _words(jobs: Workload | None, column: str) -> set[str]:
    """Return the names that stand in a column of jobs, of lists each."""
    if jobs is None or jobs.resources is None:
        return set()
    return {word.strip() for text in getattr(jobs.resources, column).names for word in text.split(",")}


def _jobs(jobs: Workload, names: Names, weeks: int) -> Workload:
    """Return jobs with new names, and without what decides nothing."""
    users = users_of(jobs)
    ids = np.where(users.codes >= 0, users.codes + 1, -1)
    header = tuple(f" User: {number} {names.of('user', name)}" for number, name in enumerate(users.names, 1))
    return jobs.replace(
        job_id=np.unique(jobs.job_id, return_inverse=True)[1].ravel() + 1,
        user_id=ids,
        group_id=np.full(len(jobs), -1),
        executable_id=np.full(len(jobs), -1),
        name=names.of("cluster", "jobs"),
        header=header,
        start_time=None if jobs.start_time is None else jobs.start_time + weeks * WEEK,
        resources=None if jobs.resources is None else _resources(jobs.resources, names),
        own=None,
        origin=None,
    )


def _resources(asked: Resources, names: Names) -> Resources:
    def renamed(column: str, new: Callable[[str], str]) -> Labels:
        labels: Labels = getattr(asked, column)
        return Labels(labels.codes, tuple(map(new, labels.names)))

    columns: dict[str, Any] = {
        **{key: renamed(key, partial(names.value, key)) for key in ("partition", "account", "qos")},
        **{key: renamed(key, partial(_hosts, names)) for key in ("exclude", "nodelist")},
        "constraint": renamed("constraint", partial(names.expression, "feature")),
        "licenses": renamed("licenses", partial(names.value, "licenses")),
        "reservation": renamed("reservation", partial(names.of, "reservation")),
    }
    for key in ("array", "het_job"):
        labels: Labels = getattr(asked, key)
        columns[key] = Labels(labels.codes, tuple(map(str, range(1, len(labels.names) + 1))))
    return replace(asked, **columns)


def _hosts(names: Names, text: str) -> str:
    return host_list(names.of("node", name) for name in host_names(text))


def _events(events: NodeEvents, names: Names) -> NodeEvents:
    renamed = (
        replace(
            one,
            nodes=tuple(names.of("node", name) for name in one.nodes),
            name=names.of("reservation", one.name) if one.name else "",
            users=tuple(names.of("user", name) for name in one.users),
            accounts=tuple(names.of("account", name) for name in one.accounts),
        )
        for one in events
    )
    return replace(events, events=tuple(renamed), notes=())


def _check_same(before: Site, after: Site) -> None:
    """Refuse an anonymous site that is another one but for its names."""
    different = [
        what
        for what, one, other in (
            ("the scheduler", before.settings.scheduler, after.settings.scheduler),
            ("the nodes", _shape(before.cluster.groups), _shape(after.cluster.groups)),
            ("the partitions", _shape(before.cluster.partitions), _shape(after.cluster.partitions)),
            ("the accounts", _shape(before.cluster.accounting), _shape(after.cluster.accounting)),
            ("preemption", _shape(before.cluster.preemption), _shape(after.cluster.preemption)),
        )
        if one != other
    ]
    if different:
        raise InputError(
            f"site {before.name} cannot be made anonymous: without names, {' and '.join(different)} would be read "
            "otherwise; report this with the line of slurm.conf that it may be about"
        )


def _shape(value: Any) -> Any:
    """Return a value without names: of texts, only that they are there."""
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(_shape(getattr(value, one.name)) for one in fields(value))
    if isinstance(value, str):
        return bool(value)
    if isinstance(value, frozenset | set):
        return len(value)
    if isinstance(value, Mapping):
        return sorted((str(_shape(key)), str(_shape(one))) for key, one in value.items())
    return tuple(map(_shape, value)) if isinstance(value, tuple | list) else value


def _removed_of_jobs(jobs: Workload | None) -> Iterator[str]:
    if jobs is None:
        return
    yield "names and numbers of jobs, of arrays and of executables; Unix groups; comments and fingerprint of the log"
    if jobs.own is not None:
        yield f"columns of one's own: {', '.join(jobs.own.columns)}"


def _remains(site: Site) -> Iterator[str]:
    yield "nodes with cores, memory and GPUs (the names of GPU types, too); partitions, limits, weights and shares"
    yield "options of SchedulerParameters and of priorities, as they are"
    yield "the order of all names: numbers follow the alphabet"
    if site.jobs is not None:
        yield "which jobs are of one user, account, partition and QOS; what each asked for"
        yield "when each was submitted, began and ended, to the second; the calendar is shifted by whole weeks"
    if site.node_events is not None:
        yield "when nodes were down, drained or reserved"
