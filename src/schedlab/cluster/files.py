"""Read a cluster from whatever file describes it, and write it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from schedlab.arguments import explained
from schedlab.atomic import atomic_path
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.cluster_file import cluster_of, document_of
from schedlab.cluster.node_lists import read_alibaba, read_machines
from schedlab.cluster.sinfo import cluster_of_nodes_json, read_sinfo
from schedlab.cluster.slurm_conf import read_slurm_conf
from schedlab.documents import LARGEST_TOML, json_text, parse_toml, read_json, read_text, toml_text
from schedlab.errors import InputError


@explained
def read_cluster(path: str | os.PathLike[str]) -> Cluster:
    """Read a cluster; the name of the file says what it is.

    Parameters
    ----------
    path
        A cluster file (`.toml`, `.json`), a `slurm.conf` (any `.conf`) or a directory with one, the directory of a site
        that was imported (`schedlab site import`), what `sinfo` prints
        (`.sinfo`, `.txt`; or `.json`, also of `scontrol show nodes`), an Alea `.machines` file, or Alibaba's list of
        nodes (`.csv`, `.csv.gz`).

    Raises
    ------
    InputError
        If it is none of these, cannot be read, or is wrong somewhere; the message names the line where there is one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "slurm.conf"
    >>> _ = path.write_text('''
    ... ClusterName=site
    ... SelectType=select/cons_tres
    ... SelectTypeParameters=CR_Core_Memory
    ... NodeName=n[1-4] Sockets=2 CoresPerSocket=16 RealMemory=192000 Gres=gpu:a100:2
    ... PartitionName=batch Nodes=ALL Default=YES MaxTime=2-0
    ... ''')
    >>> read_cluster(path)
    Cluster(site: 4 nodes, 128 cores, 750 GiB of memory, 8 GPUs (8 a100))
    """
    file = Path(path)
    name = file.name.lower()
    if (file / "cluster.json").is_file():  # of a site that was imported
        return read_cluster(file / "cluster.json")
    if file.is_dir() or ".conf" in name:  # also slurm.conf.j2, of which the reader says what it is
        return read_slurm_conf(file)
    for suffixes, read in _READERS:
        if name.endswith(suffixes):
            return read(file)
    raise InputError(
        f"{file}: unknown suffix; use .toml or .json (a cluster file), .conf or a directory (Slurm), "
        ".sinfo (output of sinfo), .machines (Alea) or .csv (a list of nodes)"
    )


def _read_toml(file: Path) -> Cluster:
    text = read_text(file, "cluster file", largest=LARGEST_TOML)
    return cluster_of(parse_toml(text, str(file)), str(file), text)


def _read_json(file: Path) -> Cluster:
    document = read_json(file, "cluster file")
    if isinstance(document, dict) and "meta" in document:  # Slurm says there which version it is
        return cluster_of_nodes_json(document, file)
    return cluster_of(document, str(file))


_READERS: tuple[tuple[tuple[str, ...], Callable[[Path], Cluster]], ...] = (
    ((".toml",), _read_toml),
    ((".json",), _read_json),
    ((".sinfo", ".txt"), read_sinfo),
    ((".machines",), read_machines),
    ((".csv", ".csv.gz"), read_alibaba),
)


@explained
def write_cluster(cluster: Cluster, path: str | os.PathLike[str]) -> None:
    """Write a cluster file, `.toml` or `.json`.

    What the files that it was read from say besides (`Cluster.ignored`) is not written.

    Raises
    ------
    InputError
        If the name ends with neither.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "site.toml"
    >>> site = Cluster.from_dict({"groups": [{"nodes": "n[1-4]", "cores": 32}]})
    >>> write_cluster(site, path)
    >>> read_cluster(path) == site
    True
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".toml", ".json"):
        raise InputError(f"{os.fspath(path)}: unknown suffix; a cluster file is .toml or .json")
    document = document_of(cluster)
    with atomic_path(path) as temporary:
        temporary.write_text(toml_text(document) if suffix == ".toml" else json_text(document), encoding="utf-8")
