"""What sacctmgr knows of a cluster, accounts, users and qualities of service, read from its dumps and scripts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TypeVar

from schedlab.arguments import explained
from schedlab.documents import read_text
from schedlab.durations import parse_time_limit
from schedlab.errors import Faults, InputError
from schedlab.wording import shown

INFINITE = 0xFFFFFFFF
USE_PARENT = 0x7FFFFFFF
"""Shares of an association that shares with its siblings what its parent has."""


_LEVELS = {"none": 1, "operator": 2, "administrator": 3, "admin": 3}
_QOS_FLAGS = {
    "partitionminnodes": 1, "partitionmaxnodes": 2, "partitiontimelimit": 4, "enforceusagethreshold": 8,
    "noreserve": 16,
    "requiresreservation": 32, "denyonlimit": 64, "overpartqos": 128, "nodecay": 256, "usagefactorsafe": 512,
}  # fmt: skip
OVER_PARTITION, NO_RESERVE = _QOS_FLAGS["overpartqos"], _QOS_FLAGS["noreserve"]
UNDER_MIN_NODES, OVER_MAX_NODES, OVER_MAX_TIME = 1, 2, 4
MODELLED_FLAGS = OVER_PARTITION | NO_RESERVE | UNDER_MIN_NODES | OVER_MAX_NODES | OVER_MAX_TIME
REQUEUE, CANCEL = 2, 8
WITHIN, GANG = 0x4000, 0x8000
Number = TypeVar("Number", int, float)

_PREEMPT_MODES = {
    "off": 0, "cluster": 0, "suspend": 1, "requeue": REQUEUE, "cancel": CANCEL, "within": WITHIN, "gang": GANG,
}  # fmt: skip

_LIMITS = {
    "grptres": "grp_tres", "grpcpus": "grp_tres:cpu", "grpnodes": "grp_tres:node", "grpmem": "grp_tres:mem",
    "grptresmins": "grp_tres_mins", "grpcpumins": "grp_tres_mins:cpu", "grptresrunmins": "grp_tres_run_mins",
    "grpcpurunmins": "grp_tres_run_mins:cpu", "grpjobs": "grp_jobs", "grpjobsaccrue": "grp_jobs_accrue",
    "grpsubmitjobs": "grp_submit_jobs", "grpsubmit": "grp_submit_jobs", "grpwall": "grp_wall",
    "maxtres": "max_tres_pj", "maxtresperjob": "max_tres_pj", "maxtrespj": "max_tres_pj", "maxcpus": "max_tres_pj:cpu",
    "maxcpusperjob": "max_tres_pj:cpu", "maxnodes": "max_tres_pj:node", "maxnodesperjob": "max_tres_pj:node",
    "maxtresmins": "max_tres_mins_pj", "maxtresminsperjob": "max_tres_mins_pj", "maxcpumins": "max_tres_mins_pj:cpu",
    "maxtrespernode": "max_tres_pn", "maxjobs": "max_jobs", "maxjobsaccrue": "max_jobs_accrue",
    "maxsubmitjobs": "max_submit_jobs", "maxsubmit": "max_submit_jobs", "maxwall": "max_wall_pj",
    "maxwalldurationperjob": "max_wall_pj", "maxwalldurationpj": "max_wall_pj", "maxwallpj": "max_wall_pj",
    "maxtresperuser": "max_tres_pu", "maxtrespu": "max_tres_pu", "maxcpusperuser": "max_tres_pu:cpu",
    "maxnodesperuser": "max_tres_pu:node", "maxtresperaccount": "max_tres_pa", "maxtrespa": "max_tres_pa",
    "maxjobsperuser": "max_jobs_pu", "maxjobspu": "max_jobs_pu", "maxjobsperaccount": "max_jobs_pa",
    "maxjobspa": "max_jobs_pa",
    "maxjobsaccrueperuser": "max_jobs_accrue_pu", "maxjobsaccrueperaccount": "max_jobs_accrue_pa",
    "maxsubmitjobsperuser": "max_submit_jobs_pu", "maxsubmitjobspu": "max_submit_jobs_pu",
    "maxsubmitpu": "max_submit_jobs_pu",
    "maxsubmitjobsperaccount": "max_submit_jobs_pa", "maxsubmitjobspa": "max_submit_jobs_pa",
    "maxtresrunminsperuser": "max_tres_run_mins_pu", "maxtresrunminsperaccount": "max_tres_run_mins_pa",
    "mintresperjob": "min_tres_pj", "mintres": "min_tres_pj", "mincpusperjob": "min_tres_pj:cpu",
    "mincpus": "min_tres_pj:cpu",
    "minpriothreshold": "min_prio_thresh", "gracetime": "grace_time", "preemptexempttime": "preempt_exempt_time",
    "priority": "priority",
}  # fmt: skip
_TIMES = frozenset({"grp_wall", "max_wall_pj"})  # minutes
_SECONDS = frozenset({"grace_time", "preempt_exempt_time"})
_IGNORED = frozenset(
    [
        "description",
        "organization",
        "cluster",
        "clusters",
        "withassoc",
        "classification",
        "format",
        "email",
        "defaultwckey",
        "rawusage",
    ]
)

Value = int | str


@dataclass(slots=True)
class Qos:
    """A quality of service."""

    name: str
    number: int
    limits: dict[str, Value] = field(default_factory=dict)
    flags: int = 0
    preempts: tuple[str, ...] = ()
    preempt_mode: int = 0
    usage_factor: float = 1.0
    limit_factor: float | None = None
    usage_threshold: float | None = None


@dataclass(slots=True)
class Association:
    """An account, or a user in an account; `partition` restricts it."""

    account: str
    user: str = ""
    parent: str = ""
    partition: str = ""
    shares: int = 1
    qos: tuple[str, ...] | None = None
    default_qos: str = ""
    limits: dict[str, Value] = field(default_factory=dict)


@dataclass(slots=True)
class Accounts:
    """All that sacctmgr knows of a cluster.

    Parameters
    ----------
    cluster
        Its name.
    """

    cluster: str
    qos: dict[str, Qos] = field(default_factory=lambda: {"normal": Qos("normal", 1)})
    root: Association = field(default_factory=lambda: Association("root", qos=("normal",)))
    accounts: dict[str, Association] = field(default_factory=dict)
    users: list[Association] = field(default_factory=list)
    default_account: dict[str, str] = field(default_factory=dict)
    levels: dict[str, int] = field(default_factory=dict)

    def user_names(self) -> list[str]:
        """Return all users, sorted."""
        return sorted({association.user for association in self.users})

    def add_qos(self, name: str) -> Qos:
        """Return a QOS, made if there is none of that name."""
        number = max((qos.number for qos in self.qos.values()), default=0) + 1
        return self.qos.setdefault(name, Qos(name, number))


def account_file(directory: Path) -> Path | None:
    """Return the file of accounts that stands beside a slurm.conf: *.script, *.dump or *.cfg, the first by name."""
    found = sorted(path for pattern in ("*.script", "*.dump", "*.cfg") for path in directory.glob(pattern))
    return found[0] if found else None


@explained
def read_accounts(path: str | PathLike[str], *, cluster: str) -> Accounts:
    """Read what `sacctmgr dump` wrote, or a script of sacctmgr's commands.

    Raises
    ------
    InputError
        If the file cannot be read, or lines cannot be understood or name what is not there; all are told at once.
    """
    path = Path(path)
    accounts, faults = Accounts(cluster), Faults()
    parent = "root"
    for number, raw in enumerate(read_text(path, "file of sacctmgr").splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        try:
            dumped = re.match(r"(Cluster|Parent|Account|User)\s+-\s+(.*)", line)
            if dumped:
                parent = _dump_line(accounts, dumped[1], dumped[2], parent)
            else:
                _command(accounts, line.removeprefix("sacctmgr").strip())
        except (InputError, ValueError, KeyError) as error:
            reason = f"there is no {error}" if isinstance(error, KeyError) else str(error)
            with faults.noted():
                raise InputError(f"{path}:{number}: {reason} (in: {line})") from None
    faults.check()
    return accounts


def _dump_line(accounts: Accounts, kind: str, rest: str, parent: str) -> str:
    parts: list[str] = re.findall(r"(?:[^:']|'[^']*')+", rest)
    name, fields = parts[0].strip("'"), parts[1:]
    options = {key.lower(): value.strip("'") for key, _, value in (part.partition("=") for part in fields)}
    if kind == "Parent":
        return name
    if kind == "Cluster":
        _set(accounts, accounts.root, options, new_qos=True)
        return "root"
    if kind == "Account":
        accounts.accounts[name] = Association(name, parent=parent)
        _set(accounts, accounts.accounts[name], options, new_qos=True)
    else:
        _add_user(accounts, name, [parent], options)
    return parent


def _command(accounts: Accounts, line: str) -> None:
    words = [word for word in shlex.split(line) if word not in ("-i", "-Q")]
    verb, kind, *rest = [*words, "", ""][: max(3, len(words))]
    verb, kind = verb.lower(), kind.lower()
    if verb in ("list", "show", "dump", "load", "exit", "quit", ""):
        return
    where, options = _parts(rest, "user" if kind.startswith("user") else "account")
    if kind.startswith("user"):
        _users(accounts, verb, where, options)
    elif kind.startswith("account"):
        _accounts(accounts, verb, where, options)
    elif kind == "qos":
        _qualities(accounts, verb, where, options)
    elif kind == "cluster":
        _set(accounts, accounts.root, {**where, **options}, new_qos=True)
    else:
        raise InputError(f"cannot {verb} a {kind!r}")


def _parts(words: list[str], own: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return what stands before and behind `set`; a bare word is a name, as is what stands behind the `own` word."""
    where: dict[str, str] = {}
    options: dict[str, str] = {}
    target = where
    for word in words:
        if word.lower() in ("set", "where"):
            target = options if word.lower() == "set" else where
            continue
        key, equals, value = word.partition("=")
        if not equals:
            key, value = "name", key
        key = key.lower().removesuffix("+").removesuffix("-")
        target["name" if key in ("names", own) and target is where and "name" not in where and not options else key] = (
            value
        )
    return where, options


def _names(text: str | None) -> list[str]:
    return [name for name in (text or "").split(",") if name]


def _users(accounts: Accounts, verb: str, where: dict[str, str], options: dict[str, str]) -> None:
    if verb == "add":
        chosen = {**where, **options}
        places = _names(chosen.pop("account", None) or chosen.pop("accounts", None) or chosen.get("defaultaccount"))
        for name in _names(chosen.pop("name", None)):
            _add_user(accounts, name, places, dict(chosen))
        return
    names = _names(where.pop("name", None) or options.pop("name", None))
    for association in list(accounts.users):
        if not _is_meant(association, names, where):
            continue
        if verb in ("remove", "delete"):
            accounts.users.remove(association)
        else:
            _set_user(accounts, association, dict(options))


def _is_meant(association: Association, names: list[str], where: Mapping[str, str]) -> bool:
    """Return whether a command is about a user in an account: of these names, accounts and partitions, or of any."""
    accounts = _names(where.get("account") or where.get("accounts"))
    partitions = _names((where.get("partition") or where.get("partitions") or "").lower())
    return (
        (not names or association.user in names)
        and (not accounts or association.account in accounts)
        and (not partitions or association.partition.lower() in partitions)
    )


def _add_user(accounts: Accounts, name: str, places: list[str], options: dict[str, str]) -> None:
    if not places:
        raise InputError(f"user {name} has no account")
    options = dict(options)
    partitions = _names(options.pop("partition", None) or options.pop("partitions", None))
    for place in places:
        if place != "root" and place not in accounts.accounts:
            raise InputError(f"user {name} has the account {place}, which does not exist")
        accounts.default_account.setdefault(name, place)
        for partition in partitions or [""]:
            accounts.users.append(Association(place, name, partition=partition))
            _set_user(accounts, accounts.users[-1], dict(options))


def _set_user(accounts: Accounts, association: Association, options: dict[str, str]) -> None:
    if "defaultaccount" in options:
        accounts.default_account[association.user] = options.pop("defaultaccount")
    for key in ("adminlevel", "admin"):
        if key in options:
            accounts.levels[association.user] = _LEVELS[options.pop(key).lower()]
    options.pop("coordinator", None)
    _set(accounts, association, options)


def _accounts(accounts: Accounts, verb: str, where: dict[str, str], options: dict[str, str]) -> None:
    names = _names(where.pop("name", None) or options.pop("name", None))
    if verb == "add":
        chosen = {**where, **options}
        parent = chosen.pop("parent", "root")
        for name in names:
            accounts.accounts[name] = Association(name, parent=parent)
            _set(accounts, accounts.accounts[name], dict(chosen))
        return
    for name in names or list(accounts.accounts):
        if verb in ("remove", "delete"):
            del accounts.accounts[name]
        else:
            options = dict(options)
            parent = options.pop("parent", "")
            target = accounts.root if name == "root" else accounts.accounts[name]
            target.parent = parent or target.parent
            _set(accounts, target, options)


def _qualities(accounts: Accounts, verb: str, where: dict[str, str], options: dict[str, str]) -> None:
    names = _names(where.pop("name", None) or options.pop("name", None))
    if verb in ("remove", "delete"):
        for name in names:
            accounts.qos.pop(name, None)
        if accounts.root.qos:
            accounts.root.qos = tuple(name for name in accounts.root.qos if name in accounts.qos)
        return
    for name in names or list(accounts.qos):
        qos = accounts.add_qos(name) if verb == "add" else accounts.qos[name]
        _set_qos(qos, {**where, **options})


def _set_qos(qos: Qos, options: Mapping[str, str]) -> None:
    for key, value in options.items():
        if key == "flags":
            # Flags of newer versions, and words that Slurm does not know, are in the ledger of a site.
            qos.flags = sum(_QOS_FLAGS.get(flag.strip().lower(), 0) for flag in _names(value))
        elif key == "preempt":
            qos.preempts = tuple(_names(value))
        elif key == "preemptmode":
            qos.preempt_mode = sum(map(_preempt_mode, _names(value)))
        elif key == "usagefactor":
            qos.usage_factor = _number(key, value, float)
        elif key == "limitfactor":
            qos.limit_factor = _number(key, value, float)
        elif key in ("usagethreshold", "usagethres"):
            qos.usage_threshold = _number(key, value, float)
        elif key not in _IGNORED:
            _set_limit(qos.limits, key, value)


def _set(accounts: Accounts, association: Association, options: Mapping[str, str], *, new_qos: bool = False) -> None:
    for key, value in options.items():
        if key == "name":
            continue
        if key in ("fairshare", "shares"):
            association.shares = USE_PARENT if value.lower() == "parent" else _number(key, value, int)
        elif key in ("qos", "qoslevel"):
            names = _names(value)
            for name in names:
                if name not in accounts.qos:
                    if not new_qos:  # a dump of associations does not list the QOS
                        raise InputError(f"the QOS {name} does not exist")
                    accounts.add_qos(name)
            association.qos = tuple(names)
        elif key == "defaultqos":
            association.default_qos = value
        elif key not in _IGNORED:
            _set_limit(association.limits, key, value)


def _set_limit(limits: dict[str, Value], key: str, value: str) -> None:
    known = _LIMITS.get(key)
    if known is None:
        raise InputError(f"unknown option {key!r}")
    name, _, resource = known.partition(":")
    if "tres" in name:
        limits[name] = f"{resource}={value}" if resource else value
    elif value == "-1":
        limits.pop(name, None)
    elif name in _TIMES or name in _SECONDS:
        limits[name] = (
            parse_time_limit(value) // 60
            if name in _TIMES
            else int(value)
            if value.isdigit()
            else parse_time_limit(value)
        )
    else:
        limits[name] = _number(key, value, int)


def _number(key: str, value: str, read: Callable[[str], Number]) -> Number:
    try:
        return read(value)
    except ValueError:
        kind = "a whole number" if read is int else "a number"
        raise InputError(f"{key}={shown(value)}: must be {kind}") from None


def _preempt_mode(name: str) -> int:
    mode = _PREEMPT_MODES.get(name.lower())
    if mode is None:
        raise InputError(f"preemptmode={shown(name)}: must be one of {', '.join(_PREEMPT_MODES)}")
    return mode
