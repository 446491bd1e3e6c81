"""From the files of a site, its slurm.conf and its accounting, to a `Site`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from schedlab.arguments import explained
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_list
from schedlab.cluster.limits import Limits
from schedlab.cluster.node_events import Interrupted, NodeEvents
from schedlab.cluster.slurm_conf import read_slurm_conf
from schedlab.cluster.slurm_lines import check_words, config_lines, config_text, parameters_of, places_of
from schedlab.cluster.slurm_preemption import as_if_unknown
from schedlab.cluster.slurm_releases import NOT_KNOWN, SlurmRelease, default_select
from schedlab.engine.parts.heterogeneous.numbers import owners_of
from schedlab.engine.parts.preemption.numbers import preempts, suspends
from schedlab.engine.parts.priority.associations import unknown_users
from schedlab.errors import Faults, InputError, located
from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.multifactor import Multifactor
from schedlab.site.jobs import completed, numbers_of, of_cluster
from schedlab.site.ledger import LedgerLine
from schedlab.site.node_history import read_node_history
from schedlab.site.parameters import known
from schedlab.site.priority_default import PRIORITY, default_priority, priority_line, sets_priority
from schedlab.site.reading import files_of, ledger_of
from schedlab.site.scheduling import in_partitions, on_no_switch, scheduling_of
from schedlab.site.select_default import defaults_of, lacks_select, other_notes, select_line, told_of_select
from schedlab.site.silent_nodes import with_silences
from schedlab.site.site import Settings, Site
from schedlab.site.slurm_release import guessed_release, with_release
from schedlab.site.sources import contradictions, main_file, marked, sentences_about, with_memory
from schedlab.site.templates import Filled, filled, with_open_lines
from schedlab.site.untold_memory import is_about_memory, memory_lines, told_of_memory, without_untold_memory
from schedlab.wording import count_of, shown
from schedlab.workload.files import format_of, read_workload
from schedlab.workload.workload import Workload

_SECRET = re.compile(r"^(\s*\w*(?:pass|password|privatekey)\s*=).*$", re.IGNORECASE | re.MULTILINE)


@explained
def import_site(
    conf: str | PathLike[str] | None = None,
    sacct: str | PathLike[str] | None = None,
    *,
    sinfo: str | PathLike[str] | None = None,
    timezone: str | None = None,
    node_events: Sequence[str | PathLike[str]] = (),
    values: Mapping[str, Any] | None = None,
    infer_downtimes: bool = False,
    slurm: str | None = None,
) -> Site:
    """Import a site from its configuration and its accounting.

    Parameters
    ----------
    conf
        A directory with `slurm.conf` and, if there are some, `gres.conf`, `topology.conf` and accounts as `sacctmgr
        dump` writes them or as a script for sacctmgr; or a slurm.conf. Or a template of one (Jinja, as Ansible uses
        it): `slurm.conf.j2` in the directory, or the file. None: nodes and partitions are those that `sinfo` reports,
        or are inferred from the accounting; see `schedlab.cluster.inferred.infer_cluster`.
    sacct
        What `sacct --parsable2` printed, or any other log of jobs that schedlab reads. None: no jobs.
    sinfo
        What `sinfo -N` printed, see `schedlab.cluster.sinfo.read_sinfo`: the memory of nodes that slurm.conf gives no
        RealMemory, or all nodes and partitions without a slurm.conf.
    timezone
        Zone of times that name none, such as "Europe/Stockholm".
    node_events
        Files of what happened to the nodes meanwhile: node events (.csv, in the seconds of the jobs), or what `scontrol
        show reservation` or `sacctmgr --parsable2 show event` printed. JobRequeue says what becomes of jobs on nodes
        that go down.
    values
        What a template is filled with, by name. None: what it leaves open is not read; it stands in the ledger.
    infer_downtimes
        Also close nodes that cannot have been in service, by what jobs did meanwhile; see
        `schedlab.site.silent_nodes.silences`. The accounting must have the column NodeList.
    slurm
        Which Slurm the site runs, such as "24.11". None: guessed from parameters and columns that only some have.

    Returns
    -------
    Site
        With a ledger of every option of every line. If a template leaves all nodes open, it has no cluster, and can be
        looked at but not simulated.

    Raises
    ------
    InputError
        If a file cannot be read, or slurmctld would refuse a line; the message names file and line. If an event is of
        a node that the site does not have.
    """
    zone, release = timezone or "UTC", None if slurm is None else SlurmRelease.given(slurm)
    with (
        main_file(conf, sacct, sinfo, zone) as (main, notes),
        filled(main, values) as template,
        with_memory(replace(template, notes=(*notes, *template.notes)), sacct, sinfo, zone) as complete,
    ):
        imported = partial(_imported, complete, sacct, timezone, node_events, infer_downtimes=infer_downtimes)
        site = imported(release or NOT_KNOWN)
        if release is None:
            release = guessed_release(site, sacct)
            site = imported(release) if _has_other_defaults(site, release) else site
    site = with_release(site, release)
    read = {} if sinfo is None else {Path(sinfo).name: _digest(Path(sinfo))}
    return replace(site, settings=replace(site.settings, sources={**site.settings.sources, **read}))


def _has_other_defaults(site: Site, release: SlurmRelease) -> bool:
    """Return whether what slurm.conf leaves out means something else in a release than where none is known."""
    select = lacks_select(site) and bool(default_select(release))
    return select or (not sets_priority(site) and default_priority(release) != default_priority(NOT_KNOWN))


def _imported(
    template: Filled,
    sacct: str | PathLike[str] | None,
    timezone: str | None,
    node_events: Sequence[str | PathLike[str]],
    release: SlurmRelease,
    *,
    infer_downtimes: bool,
) -> Site:
    main = template.path
    if sacct is None:
        if node_events:
            raise InputError(f"{node_events[0]}: node events need jobs: give the accounting (sacct) as well")
        if infer_downtimes:
            raise InputError("nodes that were down are inferred from jobs: give the accounting (sacct) as well")
        return site_of(main, None, template.notes, left_open=template.left_open, release=release)
    read, site = _with_jobs(template, sacct, timezone, release)
    against = contradictions(site.settings.notes, sacct, timezone or "UTC")
    site = replace(site, settings=replace(site.settings, notes=(*site.settings.notes, *against)))
    happened = None
    if node_events:
        happened = read_node_history(node_events, epoch=read.start_time, timezone=timezone or "UTC")
        happened.numbers(site.cluster.nodes)
        site = replace(site, settings=replace(site.settings, notes=(*site.settings.notes, *happened.notes)))
    if infer_downtimes:
        happened, told = with_silences(happened, site, sacct, timezone or "UTC")
        site = replace(site, settings=replace(site.settings, notes=(*site.settings.notes, told)))
    if happened is not None:
        site = replace(site, node_events=replace(happened, interrupted=_interrupted(main)))
    digests = {Path(path).name: _digest(Path(path)) for path in (sacct, *node_events)}
    return replace(site, settings=replace(site.settings, sources={**site.settings.sources, **digests}))


def _with_jobs(
    template: Filled, sacct: str | PathLike[str], timezone: str | None, release: SlurmRelease
) -> tuple[Workload, Site]:
    """Return the jobs of an accounting and the site with them, whose heterogeneous jobs have a row for each component.

    Where the site's preemption does not go with components, they are joined to one job each.
    """
    zone = {"timezone": timezone} if timezone is not None else {}

    def read(het_jobs: Literal["joined", "components"], *more: str) -> tuple[Workload, Site]:
        jobs = read_workload(sacct, het_jobs=het_jobs, **zone)  # type: ignore[arg-type]
        notes = [line.removeprefix(" Note: ") for line in jobs.header if line.startswith(" Note: ")]
        notes = [*template.notes, f"jobs read as {format_of(sacct)}", *notes, *more]
        return jobs, site_of(template.path, jobs, notes, left_open=template.left_open, release=release)

    jobs, site = read("components")
    if owners_of(jobs) is None or not preempts(site.cluster):
        return jobs, site
    if suspends(site.cluster) or not isinstance(site.scheduler.backfill, Slurm):
        how = "suspend" if suspends(site.cluster) else "preempt, without backfilling,"
        return read("joined", f"jobs {how} others here: the components of a heterogeneous job count as one job")
    return jobs, site


def site_of(
    main: Path,
    workload: Workload | None,
    notes: Sequence[str],
    node_events: NodeEvents | None = None,
    left_open: Sequence[LedgerLine] = (),
    release: SlurmRelease = NOT_KNOWN,
) -> Site:
    """Return the site of a slurm.conf and of jobs that were read; errors as for `import_site`.

    Of the node events, those of nodes that it has are kept. The lines that a template left open are part of its ledger.
    Where there is no SelectType or PriorityType, it is that of the release.
    """
    faults = Faults()
    lines = list(config_lines(main, "Slurm configuration", faults=faults))
    with faults.noted():
        check_words(lines, _decides)
    written, where = parameters_of(lines), places_of(lines)
    defaults = defaults_of(written, release, left_open)
    values = {PRIORITY.lower(): default_priority(release), **defaults, **written}
    if left_open and not any(line.key == "nodename" for line in lines):
        faults.check()
        return _without_nodes(main, values, notes, left_open, workload)
    cluster = None
    with faults.noted():
        cluster = read_slurm_conf(main, defaults)
    if cluster is None:  # what else is wrong with the file is told in the same breath
        with faults.noted():
            scheduling_of(values, Cluster(1), numbers_of(None, Cluster(1)), where)
    faults.check()
    assert cluster is not None
    jobs, told = None, [*(one for one in other_notes(notes) if not is_about_memory(one)), *sentences_about(cluster)]
    if workload is not None:
        jobs, filled = completed(workload.replace(processors=cluster.processors), cluster)
        told += filled
    if release.refuses("SchedulerParameters", "requeue_delay"):
        cluster = as_if_unknown(cluster)
    configured, cluster = cluster, without_untold_memory(cluster, jobs)
    memory = memory_lines(configured, cluster, jobs)
    told += told_of_memory(memory, jobs)
    found = scheduling_of(values, cluster, numbers_of(jobs, cluster), where)
    if cluster.accounting is None and values.get("accountingstorageenforce"):
        told.append(
            "no dump or script of sacctmgr (*.dump, *.cfg, *.script) beside slurm.conf: "
            "accounts, QOS and their limits are unknown"
        )
    told += _out_of_reach(cluster)
    select = select_line(written, defaults, release)
    priority = priority_line({*written, *(line.name.lower() for line in left_open)}, release)
    told += told_of_select(select)
    files = files_of(main)
    if jobs is not None and isinstance(found.scheduler.policy, Multifactor) and found.scheduler.policy.fairshare:
        strangers = unknown_users(jobs, cluster)
        if strangers:
            one = f"{strangers[0][0]} in {strangers[0][1]}"
            unknown = count_of(len(strangers), "user")
            told.append(f"the accounts lack {unknown} of jobs, such as {one}: each has one share there")
    ledger = with_open_lines(
        marked(ledger_of(main, files, cluster.ignored, found.notes)), [*select, *priority, *memory, *left_open]
    )
    sources = {path.name: _digest(path) for paths in files.values() for path in paths}
    settings = Settings(found.scheduler.text, found.limits, sources, tuple(dict.fromkeys(told)))
    machine = replace(cluster if found.limits else without_limits(cluster), ignored=())
    happened = of_cluster(node_events, machine)
    if happened is not None:
        happened = replace(happened, interrupted=_interrupted(main))
    return Site(machine, jobs, settings, ledger, dict(_texts(files)), happened)


def _out_of_reach(cluster: Cluster) -> Iterator[str]:
    """Yield which nodes no job can use, though they are there."""
    idle = set(cluster.nodes) - in_partitions(cluster)
    bare = idle & on_no_switch(cluster)
    for names, reason in ((bare, "the topology connects them to no switch"), (idle - bare, "no partition has them")):
        if names:
            hosts = host_list(name for name in cluster.nodes if name in names)
            count = count_of(len(names), "node")
            yield f"no job can use {count} ({shown(hosts)[1:-1]}): {reason}, or they are out of service"


def _decides(name: str) -> bool:
    """Return whether a parameter has a say in when and where jobs start, or is not known."""
    found = known("slurm.conf", name)
    return found is None or found.decides


def _without_nodes(
    main: Path,
    values: Mapping[str, str],
    notes: Sequence[str],
    left_open: Sequence[LedgerLine],
    workload: Workload | None,
) -> Site:
    """Return the site of a template that leaves its nodes open: how it schedules, and the ledger."""
    if workload is not None:
        raise InputError(
            f"{main.name}: the template leaves all nodes open, and jobs cannot be replayed without: give what fills it "
            "(--values), or the file that was made of it"
        )
    with located(str(main)):
        found = scheduling_of(values, Cluster(1), numbers_of(None, Cluster(1)))
    files = files_of(main)
    ledger = with_open_lines(ledger_of(main, files, (), found.notes), left_open)
    sources = {path.name: _digest(path) for paths in files.values() for path in paths}
    settings = Settings(found.scheduler.text, found.limits, sources, tuple(notes))
    return Site(None, None, settings, ledger, dict(_texts(files)))


def _interrupted(main: Path) -> Interrupted:
    """Return what becomes of jobs on nodes that go down, by JobRequeue."""
    requeue = parameters_of(config_lines(main, "Slurm configuration")).get("jobrequeue", "1")
    return "lost" if requeue == "0" else "requeue"


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


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _texts(files: Mapping[str, Sequence[Path]]) -> Iterator[tuple[str, str]]:
    """Yield the files of the configuration by name, without passwords; the main one is called slurm.conf."""
    for kind, paths in files.items():
        for place, path in enumerate(paths):
            text = config_text(path)
            name = "slurm.conf" if kind == "slurm.conf" and place == 0 else path.name
            yield name, _SECRET.sub(r"\1", text)
