"""The files that a site is imported from: a slurm.conf, or one made of what sinfo reports or of what jobs held."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path

from schedlab.cluster.allocations import read_allocations
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.holdings import read_holdings
from schedlab.cluster.hostlist import host_list, host_names, name_order
from schedlab.cluster.inferred import Inferred, infer_cluster
from schedlab.cluster.sinfo import read_reported_nodes
from schedlab.cluster.slurm_conf import read_slurm_conf
from schedlab.cluster.slurm_memory import INFERRED as INFERRED_MEMORY
from schedlab.cluster.slurm_memory import REPORTED, SILENT, as_sinfo, memory_by_node
from schedlab.cluster.slurm_text import as_slurm_conf
from schedlab.documents import read_text
from schedlab.errors import InputError
from schedlab.site.ledger import Ledger
from schedlab.site.reading import conf_file
from schedlab.site.site import INFERRED
from schedlab.site.templates import Filled
from schedlab.wording import count_of
from schedlab.workload.files import format_of

OF_SINFO = "sinfo.conf"
"""The file of nodes and partitions that sinfo reported, which a made slurm.conf includes."""

_CLOSED = "out of service"
"""What the reason begins with that no job can run on some nodes."""

_HOW = {
    "nodename": "inferred: nodes on which jobs ran",
    "cpus": "inferred: the most cores that jobs held of such a node at the same time",
    "realmemory": "inferred: the most memory that jobs held of such a node at the same time",
    "gres": "inferred: the most GPUs that jobs held of such a node at the same time",
    "feature": "inferred: constraints of jobs that ran on such a node",
    "partitionname": "inferred: partitions in which jobs ran",
    "nodes": "inferred: nodes on which jobs of the partition ran, and those like them",
    "maxtime": "inferred: the longest request of the partition",
    "licenses": "inferred: the most that jobs held at the same time",
}
"""Options of an inferred machine, and how they were found."""


@contextmanager
def main_file(
    conf: str | PathLike[str] | None,
    sacct: str | PathLike[str] | None,
    sinfo: str | PathLike[str] | None,
    timezone: str,
) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Give the slurm.conf of a site, or one that is made of what sinfo or sacct printed, and what is to be said of it.

    Raises
    ------
    InputError
        If there is nothing that tells of nodes, or a file cannot be read.
    """
    if conf is not None:
        yield conf_file(Path(conf)), ()
        return
    if sinfo is not None:
        cluster, name = read_reported_nodes(sinfo), OF_SINFO
        notes = [f"nodes and partitions are those that {Path(sinfo).name} reports: there is no slurm.conf"]
    elif sacct is not None:
        found = _inferred(sacct, timezone)
        cluster, name, notes = found.cluster, INFERRED, [_sentence(found, Path(sacct).name)]
    else:
        raise InputError("give the configuration of the site (--conf), or what sinfo or sacct printed there")
    notes.append("how the site schedules is not known: Slurm's defaults are taken, first come, first served")
    with tempfile.TemporaryDirectory(prefix="schedlab-") as directory:
        main = Path(directory) / "slurm.conf"
        main.write_text(f"ClusterName={cluster.name.partition('.')[0]}\ninclude {name}\n", encoding="utf-8")
        main.with_name(name).write_text(as_slurm_conf(cluster), encoding="utf-8")
        yield main, tuple(notes)


def _inferred(sacct: str | PathLike[str], timezone: str) -> Inferred:
    if format_of(sacct) != "sacct":
        raise InputError(
            f"{fspath(sacct)}: without a slurm.conf, nodes and partitions are inferred from what sacct prints, with "
            "the column NodeList: give that, or --conf"
        )
    return infer_cluster(read_holdings(sacct, timezone=timezone))


def _sentence(found: Inferred, source: str) -> str:
    """Return what is inferred, and how sure it is."""
    nodes = count_of(len(found.cluster.nodes), "node")
    lifted = f"; never seen full, and taken for as large as others of their name: {host_list(found.lifted)}"
    return (
        f"nodes, partitions and limits of time are inferred, not configured: what {count_of(found.runs, 'run')} of "
        f"{source} held of {nodes} at the same time, a lower bound{lifted if found.lifted else ''}; nodes without jobs "
        "are missing, and longer requests than those recorded are not allowed"
    )


def marked(ledger: Ledger) -> Ledger:
    """Return a ledger in which the lines of an inferred machine are called so."""
    inferred = (INFERRED + ":", INFERRED_MEMORY)
    return Ledger(
        tuple(
            replace(line, status="approximated", reason=_HOW[line.name.lower()])
            if line.where.startswith(inferred) and line.name.lower() in _HOW
            else line
            for line in ledger
        )
    )


@contextmanager
def with_memory(
    template: Filled,
    sacct: str | PathLike[str] | None,
    sinfo: str | PathLike[str] | None,
    timezone: str,
) -> Iterator[Filled]:
    """Give a slurm.conf with a file beside it that says the memory of nodes without RealMemory, if that is known.

    Raises
    ------
    InputError
        If what sinfo printed cannot be read.
    """
    main = template.path
    if sinfo is not None and not main.with_name(OF_SINFO).is_file():
        with _beside(main, REPORTED, read_text(sinfo, "output of sinfo")) as path:
            yield replace(template, path=path)
        return
    silent = _without_memory(main) if sacct is not None and not template.left_open else None
    if silent is None or format_of(str(sacct)) != "sacct":
        yield template
        return
    assert sacct is not None
    try:
        held = infer_cluster(read_holdings(sacct, timezone=timezone)).cluster
    except InputError:  # without NodeList nothing is known, which the note of the site says
        yield template
        return
    known = memory_by_node(held)
    if not known:
        yield template
        return
    told = f"{silent} is inferred: the most that jobs of {Path(sacct).name} held there at the same time, a lower bound"
    with _beside(main, INFERRED_MEMORY, as_sinfo(held)) as path:
        yield replace(template, path=path, notes=(*template.notes, told))


def _without_memory(main: Path) -> str | None:
    """Return which nodes have no RealMemory, None if all have or memory is not a resource."""
    lines = read_slurm_conf(main).ignored
    return next((line.text for line in lines if line.text.startswith(SILENT) and line.where != "slurm.conf"), None)


@contextmanager
def _beside(main: Path, name: str, text: str) -> Iterator[Path]:
    """Give a slurm.conf in a directory with the files beside it, and one more."""
    with tempfile.TemporaryDirectory(prefix="schedlab-") as directory:
        for other in main.parent.iterdir():
            if other.name != name:
                (Path(directory) / other.name).symlink_to(other.resolve())
        (Path(directory) / name).write_text(text, encoding="utf-8")
        yield Path(directory) / main.name


def contradictions(notes: Iterable[str], sacct: str | PathLike[str], timezone: str) -> list[str]:
    """Return which nodes ran jobs although the configuration puts them out of service, in sentences.

    Parameters
    ----------
    notes
        Those of the site: what `sentences_about` says of such nodes.
    sacct
        The accounting; without NodeList it says nothing.
    """
    closed = {name for note in notes if _CLOSED in note for name in host_names(note.partition(" of ")[0])}
    if not closed or format_of(sacct) != "sacct":
        return []
    try:
        runs = read_allocations(sacct, timezone=timezone).nodes
    except InputError:
        return []
    ran = [closed.intersection(nodes) for nodes in runs]
    if not any(ran):
        return []
    nodes = host_list(sorted(frozenset().union(*ran), key=name_order))
    return [
        f"{count_of(sum(map(bool, ran)), 'run')} of {Path(sacct).name} used {nodes}, out of service by slurm.conf: if "
        "they were in service then, take State= out of their line"
    ]


def sentences_about(cluster: Cluster) -> list[str]:
    """Return what is to be said of nodes without memory, and of nodes out of service."""
    about = [
        line
        for line in cluster.ignored
        if (line.text.startswith(SILENT) and line.where != "slurm.conf") or line.reason.startswith(_CLOSED)
    ]
    offer = " (give what sinfo prints, --sinfo, or accounting with NodeList and AllocTRES)"
    return [f"{line.text}: {line.reason}{offer if line.text.startswith(SILENT) else ''}" for line in about]
