"""The configuration of a laboratory: a site's own, changed where it must be, or a small one for a machine.

What affects scheduling stays as it is. What cannot stay in a laboratory (addresses, authentication, paths,
daemons of the nodes) is changed or dropped in a copy, and each line that was is listed with the reason.
"""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

from schedlab.arguments import explained
from schedlab.cluster.sacctmgr import Accounts, account_file, read_accounts
from schedlab.cluster.slurm_lines import ASSIGNMENT, ConfigLine, config_lines
from schedlab.cluster.slurm_releases import SlurmRelease
from schedlab.cluster.slurm_topology import as_topology_conf
from schedlab.errors import InputError
from schedlab.slurm.replaced import CHANGED, DROPPED

_TOPOLOGIES = ("topology/none", "topology/tree", "topology/3d_torus", "topology/hypercube")
"""Plugins of all versions of which a site's file stays as it is."""

_OF_NODES = ("nodeaddr", "nodehostname", "port", "bcastaddr")


@dataclass(frozen=True, slots=True)
class Change:
    """A line that is not in the laboratory as it was at the site."""

    where: str
    line: str
    becomes: str
    reason: str

    def __str__(self) -> str:
        arrow = f"-> {self.becomes}" if self.becomes else "dropped"
        return f"{self.where}: {self.line} {arrow} ({self.reason})"


@dataclass(frozen=True, slots=True)
class Configuration:
    """What slurmctld is started with.

    Parameters
    ----------
    lines
        Of slurm.conf, without what a single laboratory adds.
    files
        Further files beside it, by name.
    accounts
        Users, accounts and QOS, if any.
    changes
        What was changed or dropped.
    source
        Where it comes from.
    boot_time
        Seconds that nodes take to boot when Slurm wakes them; None: they are never switched off.
    """

    lines: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    accounts: Accounts | None = None
    changes: tuple[Change, ...] = ()
    source: str = "schedlab"
    boot_time: int | None = None

    def value(self, name: str) -> str | None:
        """Return the value of a parameter, None if it is not set."""
        for line in self.lines:
            key, _, value = line.partition("=")
            if key.strip().lower() == name.lower():
                return value.strip()
        return None

    def having(self, **parameters: str | int) -> Configuration:
        """Return it with parameters set; None of the laboratory's own may be among them."""
        kept = [
            line for line in self.lines if line.partition("=")[0].strip().lower() not in {k.lower() for k in parameters}
        ]
        return replace(self, lines=(*(f"{name}={value}" for name, value in parameters.items()), *kept))

    def scheduling(self, options: str) -> Configuration:
        """Return it with some of the SchedulerParameters replaced or added.

        Examples
        --------
        >>> Configuration(("SchedulerParameters=bf_interval=30,bf_continue",)).scheduling("bf_interval=60").lines
        ('SchedulerParameters=bf_continue,bf_interval=60',)
        """
        return self.with_options("SchedulerParameters", options)

    def with_options(self, parameter: str, options: str) -> Configuration:
        """Return it with some of the options of a parameter replaced or added."""
        names = {option.partition("=")[0] for option in options.split(",")}
        old = [option for option in (self.value(parameter) or "").split(",") if option]
        kept = [option for option in old if option.partition("=")[0] not in names]
        return self.having(**{parameter: ",".join([*kept, *options.split(",")])})

    def write(self, directory: Path, *, controller: int, nodes: int, plugins: Path | None) -> Path:
        """Write all files for a laboratory, and return the path of slurm.conf.

        Parameters
        ----------
        directory
            Of the laboratory.
        controller, nodes
            Ports of slurmctld, and of the stand-in.
        plugins
            Directory of the plugins, if Slurm is not installed.
        """
        for folder in ("state", "spool", "log"):
            (directory / folder).mkdir(parents=True, exist_ok=True)
        host, user = socket.gethostname(), getpass.getuser()
        own = {
            "SlurmctldHost": f"{host}(127.0.0.1)",
            "SlurmctldPort": controller,
            "SlurmdPort": nodes,
            "SlurmUser": user,
            "SlurmdUser": user,
            "SlurmctldPidFile": directory / "slurmctld.pid",
            "SlurmdPidFile": directory / "slurmd.%n.pid",
            "StateSaveLocation": directory / "state",
            "SlurmdSpoolDir": directory / "spool" / "%n",
            "SlurmctldLogFile": directory / "log" / "slurmctld.log",
            "JobCompLoc": directory / "log" / "jobcomp.txt",
        }
        if plugins is not None:
            own["PluginDir"] = plugins
        if self.accounts is not None:
            # A port at which no database listens: slurmctld takes accounts and usage from its state files.
            own |= {"AccountingStorageHost": "127.0.0.1", "AccountingStoragePort": 1}
        place = f" NodeAddr=127.0.0.1 NodeHostname={host} Port={nodes}"
        lines = [f"{name}={value}" for name, value in own.items()]
        for line in self.lines:
            node = line.lower().startswith("nodename=") and not line.lower().startswith("nodename=default")
            lines.append(line + place if node else line)
        path = directory / "slurm.conf"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        for name, content in self.files.items():
            (directory / name).write_text(content, encoding="utf-8")
        return path


def smallest_node(processors: int) -> int:
    """Return the cores of the smallest alike nodes, at most 256, that make up a machine.

    Examples
    --------
    >>> smallest_node(64), smallest_node(4096)
    (1, 16)
    """
    return next(c for c in range(1, processors + 1) if processors % c == 0 and processors // c <= 256)


@explained
def machine_configuration(
    processors: int, cores_per_node: int | None = None, *, exclusive: bool = False
) -> Configuration:
    """Return a small configuration for a machine of alike nodes.

    Parameters
    ----------
    processors
        In all.
    cores_per_node
        A divisor of them. None: the smallest with at most 256 nodes. Slurm reserves whole nodes, so small nodes come
        nearest to a machine that is a number of processors.
    exclusive
        Whether jobs get whole nodes.

    Raises
    ------
    InputError
        If nodes of that size do not make up the machine.
    """
    if cores_per_node is None:
        cores_per_node = smallest_node(processors)
    if processors % cores_per_node:
        raise InputError(f"{processors} processors are not a multiple of the {cores_per_node} cores of a node")
    count = processors // cores_per_node
    names = "n1" if count == 1 else f"n[1-{count}]"
    shape = f"CPUs={cores_per_node} Boards=1 SocketsPerBoard=1 CoresPerSocket={cores_per_node} ThreadsPerCore=1"
    parameters = {
        "ClusterName": "lab",
        **{name: value for name, (value, _) in _proper_names().items()},
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_CPU",
        "SchedulerType": "sched/backfill",
        "PriorityType": "priority/multifactor",
        "AccountingStorageType": "accounting_storage/none",
        "KillWait": 0,
        "MinJobAge": 300,
        "MaxJobCount": 1000000,
    }
    shared = "EXCLUSIVE" if exclusive else "NO"
    return Configuration(
        (
            *(f"{name}={value}" for name, value in parameters.items()),
            f"NodeName={names} {shape} RealMemory=1000 State=UNKNOWN",
            f"PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe={shared}",
        )
    )


@explained
def site_configuration(directory: str | PathLike[str], slurm: str = "22.05") -> Configuration:
    """Return the configuration of a site, changed for the laboratory.

    Parameters
    ----------
    directory
        With `slurm.conf` and what belongs to it: `topology.conf` or `topology.yaml`, `gres.conf`, `job_submit.lua`,
        and accounts as `sacctmgr dump` writes them, or as a script for sacctmgr (`*.script`, `*.dump`, `*.cfg`).
    slurm
        The version of the laboratory's Slurm, such as "24.11": what it refuses is dropped.

    Raises
    ------
    InputError
        If there is no slurm.conf, or the accounts cannot be read.
    """
    directory = Path(directory)
    main = directory / "slurm.conf"
    if not main.is_file():
        raise InputError(f"{directory} has no slurm.conf")
    lines: list[str] = []
    changes: list[Change] = []
    for line in config_lines(main):
        lines += _converted(line, changes, SlurmRelease.given(slurm))
    present = {line.partition("=")[0].strip().lower() for line in lines}
    for name, (value, reason) in _proper_names().items():
        if name.lower() not in present:
            lines.insert(0, f"{name}={value}")
            changes.append(Change(main.name, "(default)", f"{name}={value}", reason))
    files = {}
    for name in ("topology.conf", "job_submit.lua"):
        if (directory / name).is_file():
            files[name] = (directory / name).read_text(encoding="utf-8")
    if (directory / "gres.conf").is_file():
        changes.append(
            Change("gres.conf", "(all lines)", "", "read by slurmd only; nodes register what Gres= of their line says")
        )
    configuration = Configuration(tuple(lines), files, None, tuple(changes), str(directory))
    return _with_accounts(_with_plugins(_with_topology(configuration, directory, slurm)), directory)


def _with_topology(configuration: Configuration, directory: Path, slurm: str) -> Configuration:
    """Write the tree of a topology.yaml as a topology.conf, which all versions know; no other topology."""
    reason = f"Slurm {slurm} of the laboratory is not given it"
    document, plugin = directory / "topology.yaml", configuration.value("TopologyPlugin") or ""
    known = plugin.lower() in ("", *_TOPOLOGIES)
    if not document.is_file():
        if known:
            return configuration
        change = Change("slurm.conf", f"TopologyPlugin={plugin}", "topology/none", reason)
        changed = configuration.having(TopologyPlugin="topology/none")
        return replace(changed, changes=(*configuration.changes, change))
    text = as_topology_conf(document)
    becomes = "topology.conf" if text else "topology/none"
    change = Change(document.name, "(all lines)", becomes, reason)
    files = {name: content for name, content in configuration.files.items() if name != "topology.conf"}
    changed = configuration.having(TopologyPlugin="topology/tree" if text else "topology/none")
    if text:
        files["topology.conf"] = text
    return replace(changed, files=files, changes=(*configuration.changes, change))


def _with_accounts(configuration: Configuration, directory: Path) -> Configuration:
    found = account_file(directory)
    stored = (configuration.value("AccountingStorageType") or "").lower() == "accounting_storage/slurmdbd"
    if found is not None:
        accounts = read_accounts(found, cluster=configuration.value("ClusterName") or "lab")
        return replace(configuration.having(AccountingStorageType="accounting_storage/slurmdbd"), accounts=accounts)
    if not stored:
        return configuration
    reason = "no dump or script of sacctmgr (*.dump, *.cfg, *.script) beside slurm.conf: no limits, no fair share"
    changed = configuration.having(AccountingStorageType="accounting_storage/none")
    lines = tuple(
        line
        for line in changed.lines
        if not line.lower().startswith(("accountingstorageenforce", "accountingstoragetres"))
    )
    change = Change(
        "slurm.conf", "AccountingStorageType=accounting_storage/slurmdbd", "accounting_storage/none", reason
    )
    return replace(changed, lines=lines, changes=(*configuration.changes, change))


def _with_plugins(configuration: Configuration) -> Configuration:
    """Drop submission plugins whose script is not there."""
    plugins = configuration.value("JobSubmitPlugins")
    if plugins is None or "lua" not in plugins or "job_submit.lua" in configuration.files:
        return configuration
    others = [name for name in plugins.split(",") if name not in ("lua", "job_submit/lua")]
    lines = tuple(line for line in configuration.lines if not line.lower().startswith("jobsubmitplugins"))
    change = Change(
        "slurm.conf", f"JobSubmitPlugins={plugins}", ",".join(others), "job_submit.lua does not stand beside slurm.conf"
    )
    kept = replace(configuration, lines=lines, changes=(*configuration.changes, change))
    return kept.having(JobSubmitPlugins=",".join(others)) if others else kept


def _converted(line: ConfigLine, changes: list[Change], release: SlurmRelease) -> Iterator[str]:
    """Yield a line as it is in the laboratory, a parameter a line, and note what was done."""
    if line.key in ("nodename", "nodeset", "partitionname", "downnodes"):
        yield _node_line(line, changes, release)
        return
    for stray in line.strays():
        changes.append(Change(line.where, stray, "", "not KEY=VALUE: slurmctld would refuse the line"))
    for matched in ASSIGNMENT.finditer(line.text):
        name = matched[1].lower()
        if name in DROPPED:
            changes.append(Change(line.where, matched[0], "", DROPPED[name]))
        elif name in CHANGED:
            wanted, reason = CHANGED[name]
            if matched[2].lower() != wanted.lower():
                changes.append(Change(line.where, matched[0], f"{matched[1]}={wanted}", reason))
            yield f"{matched[1]}={wanted}"
        elif release.refuses("slurm.conf", name) and matched[0].lower() != "fastschedule=1":
            changes.append(Change(line.where, matched[0], "", f"Slurm {release} refuses it"))
        elif name == "schedulerparameters" and "max_job_bf=" in matched[2].lower():
            kept = re.sub(r"\bmax_job_bf=", "bf_max_job_test=", matched[0], flags=re.IGNORECASE)
            changes.append(Change(line.where, matched[0], kept, "its name since Slurm 14.03"))
            yield kept
        else:
            yield matched[0]


def _node_line(line: ConfigLine, changes: list[Change], release: SlurmRelease) -> str:
    reasons: dict[str, None] = {}
    kept, place = line.text, "NodeName" if line.key == "nodename" else "PartitionName"
    for matched in ASSIGNMENT.finditer(line.text):
        if matched[1].lower() in _OF_NODES or release.refuses(place, matched[1]):
            kept = " ".join(kept.replace(matched[0], "").split())
            of_nodes = matched[1].lower() in _OF_NODES
            reasons["all nodes are on this host" if of_nodes else f"Slurm {release} refuses it"] = None
    changes += (Change(line.where, line.text, kept, reason) for reason in reasons)
    return kept


def _proper_names() -> dict[str, tuple[str, str]]:
    """Return what the laboratory sets, under the names as Slurm's manual writes them."""
    names = (
        "AuthType CredType ProctrackType TaskPlugin JobAcctGatherType SwitchType MpiDefault JobCompType SlurmctldDebug "
        "SlurmdTimeout SlurmctldTimeout InactiveLimit MessageTimeout TreeWidth BatchStartTimeout "
        "SlurmdParameters"
    )
    return {name: CHANGED[name.lower()] for name in names.split()}
