"""A site: its cluster, its jobs, how it schedules, and the ledger of what was read; a directory with a manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from schedlab.arguments import explained
from schedlab.atomic import atomic_path, make_directory
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.files import read_cluster, write_cluster
from schedlab.cluster.node_events import Interrupted, NodeEvents
from schedlab.cluster.preemption import REQUEUE_DELAY
from schedlab.cluster.slurm_releases import NOT_KNOWN, SlurmRelease
from schedlab.documents import checked, read_json, read_text
from schedlab.errors import InputError, located
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site.jobs import Replayable, replayable
from schedlab.site.ledger import Ledger, LedgerLine
from schedlab.wording import count_of, shown
from schedlab.workload.files import read_workload
from schedlab.workload.tables import write_table
from schedlab.workload.workload import Workload

FORMAT: Final = "schedlab site"
VERSION: Final = 1
INFERRED = "inferred.conf"
"""The file of a site's configuration with nodes and partitions that were inferred from its accounting."""

MANIFEST, CLUSTER, JOBS, LEDGER, CONF = "site.json", "cluster.json", "jobs.parquet", "ledger.json", "conf"
NODE_EVENTS = "node-events.csv"
"""The files of a site's directory, and the directory with the configuration that it was read from."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a site schedules, and where that was read.

    Parameters
    ----------
    scheduler
        The scheduler as a text.
    limits
        Whether limits of accounts and QOS are enforced.
    sources
        The files that were read: SHA-256 of each, by name.
    notes
        What was filled in or left out, in sentences.
    slurm
        Which Slurm it runs, as far as that is known.
    """

    scheduler: str
    limits: bool = False
    sources: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    slurm: SlurmRelease = NOT_KNOWN


@dataclass(frozen=True, slots=True, repr=False)
class Site:
    """A site, as it was imported.

    Parameters
    ----------
    machine
        Nodes, partitions, accounts, QOS; limits only where they are enforced. None: a template leaves the nodes open.
    jobs
        What its accounting recorded, completed by what the configuration says; None: none were given.
    settings
        How it schedules.
    ledger
        What became of every option of its files.
    files
        The configuration, by name: what was read, without passwords.
    node_events
        What happened to the nodes while the jobs ran, in the seconds of the jobs; None: nothing is known.

    Examples
    --------
    >>> import pathlib, tempfile, schedlab as sl
    >>> conf = pathlib.Path(tempfile.mkdtemp()) / "slurm.conf"
    >>> _ = conf.write_text('''
    ... ClusterName=lab
    ... SchedulerParameters=bf_interval=60,bf_continue
    ... NodeName=n[1-4] CPUs=16
    ... PartitionName=batch Nodes=ALL Default=YES MaxTime=2-0
    ... ''')
    >>> site = sl.site.import_site(conf)
    >>> print(site)
    lab: 4 nodes, 64 cores; 1 partition; fcfs+slurm(interval=60,tick=1),placement=consecutive; 10 mo...
    >>> sl.site.read(site.save(conf.parent / "site")) == site
    True
    """

    machine: Cluster | None
    jobs: Workload | None
    settings: Settings
    ledger: Ledger
    files: Mapping[str, str] = field(default_factory=dict)
    node_events: NodeEvents | None = None

    @property
    def cluster(self) -> Cluster:
        """The machine, of a site that has one.

        Raises
        ------
        InputError
            If the configuration was a template that leaves all nodes open.
        """
        if self.machine is None:
            raise InputError(
                "the site has no nodes: its slurm.conf was a template that leaves them open: import it again with "
                "--values, or import the file that was made of the template"
            )
        return self.machine

    @property
    def name(self) -> str:
        """Of the cluster."""
        return "site" if self.machine is None else self.machine.name

    @property
    def inferred(self) -> bool:
        """Whether its nodes and partitions were inferred from what jobs held of them, not read from a configuration."""
        return INFERRED in self.files

    @property
    def scheduler(self) -> Scheduler:
        """The site's own scheduler, on its cluster of nodes."""
        return Scheduler.parse(self.settings.scheduler)

    def replayable(self) -> Replayable:
        """Return the jobs that can be replayed on the site's cluster.

        Raises
        ------
        InputError
            If there are none.
        """
        if self.jobs is None:
            raise InputError(f"site {self.name} has no jobs: import it again with accounting (sacct)")
        return replayable(self.jobs, self.cluster, self.node_events)

    def summary(self) -> str:
        """Return what the site has, in one line."""
        if self.machine is None:
            return "; ".join(["no nodes: a template leaves them open", self.settings.scheduler, self.ledger.summary()])
        who = self.machine.accounting
        parts = [
            f"{self.machine.summary()}{' (inferred)' if self.inferred else ''}",
            count_of(len(self.machine.partitions), "partition"),
        ]
        if who is not None:
            parts.append(
                f"{len(who.qos):,} QOS, {count_of(len(who.accounts), 'account')}, {count_of(len(who.users), 'user')}"
            )
        if self.jobs is not None:
            parts.append(count_of(len(self.jobs), "job"))
        if self.node_events is not None:
            parts.append(count_of(len(self.node_events), "node event"))
        return "; ".join([*parts, self.settings.scheduler, self.ledger.summary()])

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"Site({self.summary()})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Site):
            return NotImplemented
        mine, theirs = (None if one.jobs is None else one.jobs.to_frame() for one in (self, other))
        same = mine is theirs if mine is None or theirs is None else mine.equals(theirs)
        parts = ("machine", "settings", "ledger", "files", "node_events")
        return same and all(getattr(self, part) == getattr(other, part) for part in parts)

    __hash__ = None  # type: ignore[assignment]

    def save(self, directory: str | PathLike[str]) -> Path:
        """Write the site into a directory, and return it; what `read` reads.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        where = make_directory(directory)
        if self.machine is not None:
            write_cluster(self.machine, where / CLUSTER)
        _write_json(self.ledger.to_document(), where / LEDGER)
        if self.jobs is not None:
            write_table(self.jobs, where / JOBS)
        if self.node_events is not None:
            self.node_events.save(where / NODE_EVENTS)
        make_directory(where / CONF)
        for name, text in self.files.items():
            with atomic_path(where / CONF / name) as temporary:
                temporary.write_text(text, encoding="utf-8")
        # Last: a directory with a manifest is complete.
        _write_json(_manifest(self), where / MANIFEST)
        return where


class _Release(BaseModel):
    """Which Slurm a site runs; sites of older versions do not say."""

    model_config = ConfigDict(extra="ignore", strict=True)

    oldest: str = ""
    newest: str = ""
    source: str = ""


class _Manifest(BaseModel):
    """What `site.json` says."""

    model_config = ConfigDict(extra="ignore", strict=True)

    format: Literal["schedlab site"]
    version: int
    schedlab: str = ""
    name: str
    nodes: bool = True
    inferred: bool = False
    scheduler: str
    limits: bool
    jobs: int | None
    interrupted: Interrupted | None = None
    sources: dict[str, str] = {}
    files: list[str] = []
    notes: list[str] = []
    slurm: _Release = _Release()


_MANIFEST = TypeAdapter(_Manifest)


def _manifest(site: Site) -> dict[str, Any]:
    from schedlab import __version__

    return _Manifest(
        format=FORMAT,
        version=VERSION,
        schedlab=__version__,
        name=site.name,
        nodes=site.machine is not None,
        inferred=site.inferred,
        scheduler=site.settings.scheduler,
        limits=site.settings.limits,
        jobs=None if site.jobs is None else len(site.jobs),
        interrupted=None if site.node_events is None else site.node_events.interrupted,
        sources=dict(site.settings.sources),
        files=sorted(site.files),
        notes=list(site.settings.notes),
        slurm=_Release(**asdict(site.settings.slurm)),
    ).model_dump()


def _write_json(document: Any, path: Path) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@explained
def read(directory: str | PathLike[str]) -> Site:
    """Read a site that was imported.

    Parameters
    ----------
    directory
        What `Site.save` or `schedlab site import` wrote.

    Raises
    ------
    InputError
        If it is not such a directory, or a file of it is missing or damaged.
    """
    where = Path(directory)
    if not (where / MANIFEST).is_file():
        raise _no_site(where)
    path = str(where / MANIFEST)
    document = checked(_MANIFEST, read_json(where / MANIFEST, "manifest of a site"), path, "import the site again")
    if document.version != VERSION:
        raise InputError(
            f"{path}: version {document.version}, but this schedlab reads {VERSION}: import the site again"
        )
    jobs = None if document.jobs is None else read_workload(_there(where / JOBS))
    if jobs is not None and jobs.origin is not None:  # what the jobs were read from before they were put aside
        jobs = jobs.replace(origin=jobs.origin.stored)
    slurm = SlurmRelease(**document.slurm.model_dump())
    settings = Settings(document.scheduler, document.limits, document.sources, tuple(document.notes), slurm)
    Scheduler.from_file(document.scheduler, path)
    for name in document.files:
        # A site may come from a stranger, and what-if writes its files into a directory.
        if Path(name).name != name or name == "..":
            raise InputError(f"{path}: {shown(name)} is not a file name in {CONF}/: import the site again")
    files = {name: read_text(_there(where / CONF / name), "file of Slurm") for name in document.files}
    cluster, events = read_cluster(_there(where / CLUSTER)) if document.nodes else None, None
    if cluster is not None and document.interrupted is not None:
        events = NodeEvents.read(_there(where / NODE_EVENTS), document.interrupted, REQUEUE_DELAY)
        with located(str(where / NODE_EVENTS)):
            events.numbers(cluster.nodes)
    return Site(cluster, jobs, settings, _read_ledger(_there(where / LEDGER)), files, events)


def fingerprint(directory: str | PathLike[str]) -> str:
    """Return a digest of what answers about a site depend on.

    Raises
    ------
    InputError
        If it is not a site.
    """
    where = Path(directory)
    if not (where / MANIFEST).is_file():
        raise _no_site(where)
    digest = hashlib.sha256()
    for name in (MANIFEST, CLUSTER, JOBS, NODE_EVENTS):
        if (where / name).is_file():
            digest.update((where / name).read_bytes())
    return digest.hexdigest()


def _no_site(where: Path) -> InputError:
    return InputError(f"{where}: not a site (no {MANIFEST}): create one with schedlab site import")


def _there(path: Path) -> Path:
    if not path.is_file():
        raise InputError(f"{path}: the file of the site is missing: import the site again")
    return path


_LEDGER = TypeAdapter(list[LedgerLine])


def _read_ledger(path: Path) -> Ledger:
    document = read_json(path, "ledger of a site")
    lines: list[LedgerLine] = checked(_LEDGER, document, f"{path}: not a ledger of a site", "import the site again")
    return Ledger(tuple(lines))
