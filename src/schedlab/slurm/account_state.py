"""Accounts as the state files from which slurmctld starts when its database does not answer."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

from schedlab.cluster.sacctmgr import INFINITE, Accounts, Association, Qos, Value
from schedlab.errors import InputError
from schedlab.slurm.releases import Release
from schedlab.slurm.wire import NO_VAL, text

TRES = {"cpu": 1, "mem": 2, "energy": 3, "node": 4, "billing": 5, "fs/disk": 6, "vmem": 7, "pages": 8}
"""Numbers of Slurm's own trackable resources; others are numbered from 1001."""

_ADD_USERS, _ADD_ASSOCIATIONS, _ADD_QOS = 1406, 1404, 1447
_INHERITED = (
    "max_tres_pj", "max_tres_mins_pj", "max_tres_pn", "max_jobs", "max_jobs_accrue", "max_submit_jobs", "max_wall_pj",
    "min_prio_thresh", "priority",
)  # fmt: skip


def state_files(accounts: Accounts, uids: Mapping[str, int], tres: Iterable[str], release: Release) -> dict[str, bytes]:
    """Return slurmctld's state files by name.

    Parameters
    ----------
    accounts
        What sacctmgr knows.
    uids
        Of the users.
    tres
        Further resources, such as `gres/gpu`, as `AccountingStorageTRES` lists them.
    release
        The version of Slurm.
    """
    tres = list(tres)
    if release.lineage and "gres/gpu" in tres:  # it adds these, and ends as the database does not know them
        tres += [name for name in ("gres/gpumem", "gres/gpuutil") if name not in tres]
    numbers = TRES | {name: 1001 + place for place, name in enumerate(tres)}
    header = struct.pack(">HQ", release.messages.protocol, 0)
    files = {
        "last_tres": header + _listed(_tres(name, number) for name, number in numbers.items()),
        "assoc_mgr_state": header
        + struct.pack(">H", _ADD_USERS)
        + _listed(_user(accounts, name, uids) for name in accounts.user_names())
        + struct.pack(">H", _ADD_QOS)
        + _listed(_qos(accounts, qos, numbers) for qos in accounts.qos.values())
        + struct.pack(">H", _ADD_ASSOCIATIONS)
        + _listed(_associations(accounts, uids, numbers, lineage=release.lineage)),
    }
    if release.lineage:  # without this file it takes the directory for that of a new cluster, and reads no accounts
        files["clustername"] = f"{accounts.cluster}|1".encode()
    return files


def _user(accounts: Accounts, name: str, uids: Mapping[str, int]) -> bytes:
    account = accounts.default_account.get(name)
    body = struct.pack(">HII", accounts.levels.get(name, 1), NO_VAL, NO_VAL)
    return (
        body
        + text(account)
        + text(None)
        + struct.pack(">I", 0)
        + text(name)
        + text(None)
        + struct.pack(">II", uids[name], NO_VAL)
    )


def _qos(accounts: Accounts, qos: Qos, numbers: Mapping[str, int]) -> bytes:
    def number(name: str, default: int = INFINITE) -> bytes:
        return struct.pack(">I", int(qos.limits.get(name, default)))

    def tres(name: str) -> bytes:
        return _tres_text(qos.limits.get(name), numbers)

    body = text(qos.name) + struct.pack(">II", qos.number, qos.flags) + number("grace_time", 0)
    body += tres("grp_tres_mins") + tres("grp_tres_run_mins") + tres("grp_tres")
    body += b"".join(map(number, ("grp_jobs", "grp_jobs_accrue", "grp_submit_jobs", "grp_wall")))
    names = "max_tres_mins_pj max_tres_run_mins_pa max_tres_run_mins_pu max_tres_pa max_tres_pj max_tres_pn max_tres_pu"
    body += b"".join(map(tres, names.split()))
    names = "max_jobs_pa max_jobs_pu max_jobs_accrue_pa max_jobs_accrue_pu min_prio_thresh"
    names += " max_submit_jobs_pa max_submit_jobs_pu"
    body += b"".join(map(number, (*names.split(), "max_wall_pj"))) + tres("min_tres_pj") + text(qos.name)
    body += _bits(
        [accounts.qos[name].number for name in qos.preempts], max(q.number for q in accounts.qos.values()) + 1
    )
    body += struct.pack(">I", NO_VAL) + struct.pack(">H", qos.preempt_mode)
    body += number("preempt_exempt_time") + number("priority", 0)
    return body + _double(qos.usage_factor) + _double(qos.usage_threshold) + _double(qos.limit_factor)


def _associations(
    accounts: Accounts, uids: Mapping[str, int], numbers: Mapping[str, int], *, lineage: bool
) -> list[bytes]:
    """Return the associations, depth first, each after its parent, with the numbers of a nested set, or their paths."""
    packed: list[bytes] = []
    counter = 0

    def walk(association: Association, parent: Association | None, parent_id: int) -> None:
        nonlocal counter
        counter += 1
        left, own_id, place = counter, len(packed) + 1, len(packed)
        packed.append(b"")
        complete = association if parent is None else _with_inherited(association, parent)
        if not association.user:
            for user in accounts.users:
                if user.account == association.account:
                    walk(user, complete, own_id)
            for child in accounts.accounts.values():
                if (child.parent or "root") == association.account:
                    walk(child, complete, own_id)
        counter += 1
        nested = None if lineage else (left, counter)
        packed[place] = _association(accounts, complete, own_id, parent_id, nested, uids, numbers)

    walk(accounts.root, None, 0)
    return packed


def _association(
    accounts: Accounts,
    it: Association,
    number: int,
    parent: int,
    nested: tuple[int, int] | None,
    uids: Mapping[str, int],
    numbers: Mapping[str, int],
) -> bytes:
    def limit(name: str) -> bytes:
        return struct.pack(">I", int(it.limits.get(name, INFINITE)))

    def tres(name: str) -> bytes:
        return _tres_text(it.limits.get(name), numbers)

    default = bool(it.user) and accounts.default_account.get(it.user, it.account) == it.account
    default_qos = accounts.qos[it.default_qos].number if it.default_qos in accounts.qos else 0
    body = struct.pack(">I", NO_VAL) + text(it.account) + text(accounts.cluster)
    if nested is None:
        body += text(None) + struct.pack(">III", default_qos, 0, it.shares)  # a comment before, and flags of 32 bits
    else:
        body += struct.pack(">IHI", default_qos, 0, it.shares)
    body += tres("grp_tres_mins") + tres("grp_tres_run_mins") + tres("grp_tres")
    body += b"".join(map(limit, ("grp_jobs", "grp_jobs_accrue", "grp_submit_jobs", "grp_wall")))
    body += struct.pack(">IH", number, int(default))
    body += text(_lineage(accounts, it)) if nested is None else struct.pack(">I", nested[0])
    body += tres("max_tres_mins_pj") + tres("max_tres_run_mins") + tres("max_tres_pj") + tres("max_tres_pn")
    body += b"".join(map(limit, ("max_jobs", "max_jobs_accrue", "min_prio_thresh", "max_submit_jobs", "max_wall_pj")))
    above = None if not parent else (it.account if it.user else it.parent or "root")
    body += text(above) + struct.pack(">I", parent) + text(it.partition or None) + limit("priority")
    names = [str(accounts.qos[name].number) for name in it.qos or ()]
    body += struct.pack(">I", len(names)) + b"".join(map(text, names))
    body += b"" if nested is None else struct.pack(">I", nested[1])
    return body + struct.pack(">I", uids[it.user] if it.user else NO_VAL) + text(it.user or None)


def _lineage(accounts: Accounts, it: Association) -> str:
    """Return where an association stands, as the path of its accounts."""
    path, account = "", it.account
    while account and account != "root":
        path = f"{account}/{path}"
        account = accounts.accounts[account].parent or "root"
    own = f"0-{it.user}/" + (f"{it.partition}/" if it.partition else "") if it.user else ""
    return f"/{path}{own}"


def _with_inherited(child: Association, parent: Association) -> Association:
    """Return an association with what it has from its parent: limits per job and user, and QOS."""
    limits = {name: parent.limits[name] for name in _INHERITED if name in parent.limits} | child.limits
    qos = parent.qos if child.qos is None else child.qos
    return Association(
        child.account,
        child.user,
        child.parent,
        child.partition,
        child.shares,
        qos,
        child.default_qos or parent.default_qos,
        limits,
    )


def _listed(records: Iterable[bytes]) -> bytes:
    """Return a list as Slurm packs it: its length, its records, a return code."""
    records = list(records)
    return struct.pack(">I", len(records)) + b"".join(records) + struct.pack(">I", 0)


def _tres(name: str, number: int) -> bytes:
    kind, _, rest = name.partition("/")
    return struct.pack(">QQI", 0, 0, number) + text(rest or None) + text(kind)


def _tres_text(value: Value | None, numbers: Mapping[str, int]) -> bytes:
    """Return resources such as `cpu=4,gres/gpu=2` under the numbers that Slurm has for them."""
    parts = []
    for part in str(value or "").split(","):
        name, _, count = part.partition("=")
        if name and count != "-1":
            if name.lower() not in numbers:
                raise InputError(f"the limit {value} is of {name}, which AccountingStorageTRES does not list")
            parts.append(f"{numbers[name.lower()]}={_amount(count)}")
    return text(",".join(parts) or None)


def _amount(value: str) -> int:
    """Return a number with Slurm's units; memory counts in megabytes."""
    units = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1024**2}
    return int(float(value[:-1]) * units[value[-1].lower()]) if value[-1:].lower() in units else int(value)


def _bits(numbers: list[int], size: int) -> bytes:
    if not numbers:
        return struct.pack(">I", NO_VAL)
    mask = f"0x{sum(1 << number for number in numbers):0{-(-size // 4)}X}"
    return struct.pack(">I", size) + text(mask)


def _double(value: float | None) -> bytes:
    # "None" is the largest number of 32 bits, as a double. Slurm multiplies limits with any other factor.
    return struct.pack(">d", (float(0xFFFFFFFF) if value is None else value) * 1000000)
