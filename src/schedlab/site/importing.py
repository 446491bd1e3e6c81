"""From the files of a site, its slurm.conf and its accounting, to a `Site`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Limits
from schedlab.cluster.slurm_conf import read_slurm_conf
from schedlab.cluster.slurm_lines import config_lines, parameters_of
from schedlab.documents import read_bytes
from schedlab.errors import located
from schedlab.site.jobs import completed, numbers_of
from schedlab.site.reading import conf_file, files_of, ledger_of
from schedlab.site.scheduling import scheduling_of
from schedlab.site.site import Settings, Site
from schedlab.workload.files import format_of, read_workload

_SECRET = re.compile(r"^(\s*\w*(?:pass|password|privatekey)\s*=).*$", re.IGNORECASE | re.MULTILINE)


def import_site(
    conf: str | PathLike[str], sacct: str | PathLike[str] | None = None, *, timezone: str | None = None
) -> Site:
    """Import a site from its configuration and its accounting.

    Parameters
    ----------
    conf
        A directory with `slurm.conf` and, if there are some, `gres.conf`, `topology.conf` and accounts as `sacctmgr
        dump` writes them or as a script for sacctmgr; or a slurm.conf.
    sacct
        What `sacct --parsable2` printed, or any other log of jobs that schedlab reads. None: no jobs.
    timezone
        Zone of times that name none, such as "Europe/Stockholm".

    Returns
    -------
    Site
        With a ledger of every option of every line.

    Raises
    ------
    InputError
        If a file cannot be read, or slurmctld would refuse a line; the message names file and line.
    """
    main = conf_file(Path(conf))
    cluster = read_slurm_conf(main)
    values = parameters_of(config_lines(main, "Slurm configuration"))
    jobs, notes = None, list[str]()
    if sacct is not None:
        zone = {"timezone": timezone} if timezone is not None else {}
        read = read_workload(sacct, **zone)  # type: ignore[arg-type]
        notes += [line.removeprefix(" Note: ") for line in read.header if line.startswith(" Note: ")]
        jobs, filled = completed(read.replace(processors=cluster.processors), cluster)
        notes += filled
    with located(str(main)):
        found = scheduling_of(values, cluster, numbers_of(jobs, cluster))
    ledger = ledger_of(main, cluster.ignored, found.notes)
    if cluster.accounting is None and values.get("accountingstorageenforce"):
        notes.append("no file of accounts stands beside slurm.conf: no accounts, QOS and limits are known")
    if not found.limits:
        cluster = without_limits(cluster)
    sources = dict(_digests(main, sacct))
    if jobs is not None and sacct is not None:
        notes.append(f"jobs read as {format_of(sacct)}")
    settings = Settings(found.scheduler.text, found.limits, sources, tuple(notes))
    return Site(replace(cluster, ignored=()), jobs, settings, ledger, dict(_texts(main)))


def without_limits(cluster: Cluster) -> Cluster:
    """Return a cluster whose accounts and QOS have no limits, as Slurm does not enforce them unless it is told to."""
    who = cluster.accounting
    if who is None:
        return cluster
    none = Limits()
    free = replace(
        who,
        qos=tuple(replace(one, limits=none) for one in who.qos),
        accounts=tuple(replace(one, limits=none) for one in who.accounts),
        users=tuple(replace(one, limits=none) for one in who.users),
    )
    return replace(cluster, accounting=free)


def _digests(main: Path, sacct: str | PathLike[str] | None) -> Iterator[tuple[str, str]]:
    paths = [path for paths in files_of(main).values() for path in paths]
    for path in (*paths, *(() if sacct is None else (Path(sacct),))):
        with path.open("rb") as stream:
            yield path.name, hashlib.file_digest(stream, "sha256").hexdigest()


def _texts(main: Path) -> Iterator[tuple[str, str]]:
    """Yield the files of the configuration by name, without passwords; the main one is called slurm.conf."""
    for kind, paths in files_of(main).items():
        for place, path in enumerate(paths):
            text = read_bytes(path, "configuration").decode("utf-8-sig", errors="replace")
            name = "slurm.conf" if kind == "slurm.conf" and place == 0 else path.name
            yield name, _SECRET.sub(r"\1", text)
