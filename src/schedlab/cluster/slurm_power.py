"""What a slurm.conf says of nodes that are switched off when they are idle."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_names, host_words
from schedlab.cluster.power_saving import PowerSaving
from schedlab.cluster.slurm_lines import config_lines, parameters_of
from schedlab.cluster.slurm_nodes import words
from schedlab.errors import InputError, located
from schedlab.wording import shown

RESUME_TIMEOUT, SUSPEND_TIMEOUT = "60", "30"
"""Seconds that Slurm takes where slurm.conf does not say them."""

SUSPEND_RATE, RESUME_RATE = "60", "300"
"""Nodes a minute that Slurm takes where slurm.conf does not say them."""


def slurm_power_saving(path: str | os.PathLike[str], cluster: Cluster) -> PowerSaving | None:
    """Return when the slurm.conf that a cluster comes from switches nodes off; None without one, or if it never does.

    ResumeTimeout, for which Slurm waits at most, is taken for the time that a boot takes.

    Parameters
    ----------
    path
        What the cluster was read from: a slurm.conf, its directory, or the directory of a site that was imported.
    cluster
        The cluster.

    Raises
    ------
    InputError
        If a value is not what it can be.
    """
    places = (Path(path), Path(path) / "slurm.conf", Path(path) / "conf" / "slurm.conf")
    main = next((place for place in places if place.is_file() and ".conf" in place.name), None)
    if main is None:
        return None
    with located(str(main)):
        return power_saving_of(parameters_of(config_lines(main, "Slurm configuration")), cluster)


def power_saving_of(parameters: Mapping[str, str], cluster: Cluster) -> PowerSaving | None:
    """Return when nodes are switched off by parameters of slurm.conf, in lower case; None if they never are.

    Examples
    --------
    >>> site = Cluster.from_dict({"groups": [{"nodes": "n[1-4]", "cores": 2}]})
    >>> found = power_saving_of({"suspendtime": "600", "resumetimeout": "300", "suspendexcnodes": "n[1-2]:1,n4"}, site)
    >>> found.boot_time, found.shutdown_time, found.always_on, found.suspend_rate, found.resume_rate
    (300, 30, ('n1', 'n2', 'n4'), 60, 300)
    >>> power_saving_of({"suspendtime": "INFINITE"}, site) is None
    True
    """
    text = parameters.get("suspendtime", "-1").upper()
    if text in ("-1", "INFINITE", "NONE"):
        return None
    times = {
        "SuspendTime": text,
        "ResumeTimeout": parameters.get("resumetimeout", RESUME_TIMEOUT),
        "SuspendTimeout": parameters.get("suspendtimeout", SUSPEND_TIMEOUT),
    }
    rates = {
        "SuspendRate": parameters.get("suspendrate", SUSPEND_RATE),
        "ResumeRate": parameters.get("resumerate", RESUME_RATE),
    }
    for name, value in (times | rates).items():
        if not value.isdigit():
            raise InputError(f"{name}={shown(value)} is not a number of {'seconds' if name in times else 'nodes'}")
    # How many of the nodes stay on ("n[1-9]:4") is not looked at: all of them do.
    hosts = ",".join(word.partition(":")[0] for word in host_words(parameters.get("suspendexcnodes", "")))
    kept = dict.fromkeys(host_names(hosts))
    for name in words(parameters.get("suspendexcparts", "")):
        kept.update(dict.fromkeys(cluster.nodes_of(cluster.partition(name))))
    here = set(cluster.nodes)
    suspend, boot, shutdown = (int(value) for value in times.values())
    return PowerSaving(suspend, boot, shutdown, tuple(name for name in kept if name in here), *map(int, rates.values()))
