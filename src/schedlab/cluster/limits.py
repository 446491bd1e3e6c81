"""Accounts, users and qualities of service with their limits: what a site allows whom."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from schedlab.arguments import explained
from schedlab.cluster.limit_kinds import LIMIT_KINDS, SECONDS
from schedlab.cluster.nodes import check_number
from schedlab.cluster.preemption import check_mode, refuse_suspension
from schedlab.cluster.sacctmgr import (
    CANCEL,
    GANG,
    MODELLED_FLAGS,
    NO_RESERVE,
    OVER_MAX_NODES,
    OVER_MAX_TIME,
    OVER_PARTITION,
    REQUEUE,
    UNDER_MIN_NODES,
    USE_PARENT,
    WITHIN,
    Accounts,
    Association,
    Qos,
    Value,
)
from schedlab.errors import InputError
from schedlab.wording import shown

Tres = tuple[tuple[str, int], ...]
"""Amounts of trackable resources as pairs of name and number: cpu, mem (MiB), node, gres/gpu, billing, ..."""

ROOT = "root"

_AMOUNT = re.compile(r"(-?\d{1,15}(?:\.\d+)?)([kmgtp]?)b?", re.IGNORECASE)
_MEBIBYTES = {"": 1.0, "k": 1 / 1024, "m": 1.0, "g": 1024.0, "t": 1024.0**2, "p": 1024.0**3}
_COUNTS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}


@dataclass(frozen=True, slots=True)
class Limits:
    """What jobs may hold, of an account, a user in an account, or a QOS; None and (): no limit.

    Parameters
    ----------
    grp_tres, grp_jobs, grp_submit_jobs
        Resources and jobs that run, and jobs that run or wait, of all together at one time.
    grp_tres_run_mins
        Resource-minutes that all running jobs together still have to go until their limits.
    grp_tres_mins, grp_wall
        Resource-minutes, and seconds, that all jobs together may use; past use decays as it does for fair share.
    max_tres_per_job, max_tres_per_node, max_tres_mins_per_job, max_wall, min_tres_per_job
        Of one job: resources, resources on each node, resource-minutes, seconds; and the least resources.
    max_tres_per_user, max_tres_per_account, max_jobs_per_user, max_jobs_per_account, max_submit_per_user, \
max_submit_per_account, max_tres_run_mins_per_user, max_tres_run_mins_per_account
        Of a QOS: the same of all jobs of one user, or of one account.
    max_jobs, max_submit
        Of an account: of each user in it that has no limit of their own.
    """

    grp_tres: Tres = ()
    grp_tres_mins: Tres = ()
    grp_tres_run_mins: Tres = ()
    grp_jobs: int | None = None
    grp_submit_jobs: int | None = None
    grp_wall: int | None = None
    max_tres_per_job: Tres = ()
    max_tres_per_node: Tres = ()
    max_tres_mins_per_job: Tres = ()
    max_tres_per_user: Tres = ()
    max_tres_per_account: Tres = ()
    max_tres_run_mins_per_user: Tres = ()
    max_tres_run_mins_per_account: Tres = ()
    max_jobs: int | None = None
    max_jobs_per_user: int | None = None
    max_jobs_per_account: int | None = None
    max_submit: int | None = None
    max_submit_per_user: int | None = None
    max_submit_per_account: int | None = None
    max_wall: int | None = None
    min_tres_per_job: Tres = ()

    def __post_init__(self) -> None:
        for name in LIMIT_KINDS:
            value = getattr(self, name)
            for kind, amount in value if isinstance(value, tuple) else (("", value),):
                check_number(f"limit {name}{f' of {kind}' if kind else ''}", amount)

    @classmethod
    @explained
    def of_slurm(cls, limits: Mapping[str, Value]) -> Limits:
        """Return the limits that sacctmgr's options set."""
        given: dict[str, int | Tres] = {}
        for kind in LIMIT_KINDS.values():
            value = limits.get(kind.slurm)
            if value is not None:
                minutes = 60 if kind.amount == SECONDS else 1
                given[kind.name] = tres_of(str(value)) if kind.is_of_resources else int(value) * minutes
        return cls(**given)  # type: ignore[arg-type]


def tres_of(text: str) -> Tres:
    """Return the resources that a text such as cpu=64,mem=1T,gres/gpu=8 gives; memory in MiB.

    Examples
    --------
    >>> tres_of("cpu=64,mem=1.5T,gres/gpu:a100=2,node=-1")
    (('cpu', 64), ('mem', 1572864), ('gres/gpu:a100', 2))
    """
    found: dict[str, int] = {}
    for word in filter(None, (part.strip() for part in text.split(","))):
        name, equals, amount = word.partition("=")
        matched = _AMOUNT.fullmatch(amount)
        if not equals or not name or matched is None:
            raise InputError(f"{shown(word)} is not a resource and its count, such as cpu=64")
        kind = name.lower()
        number = float(matched[1]) * (_MEBIBYTES if kind == "mem" else _COUNTS)[matched[2].lower()]
        if number >= 0:  # -1 takes a limit back
            found[kind] = round(number)
    return tuple(found.items())


@explained
@dataclass(frozen=True, slots=True)
class QosLimits:
    """A quality of service.

    Parameters
    ----------
    name
        What jobs ask for.
    priority
        Of its jobs, before the weight of QOS in multifactor priorities.
    limits
        Of its jobs.
    preempts
        QOS whose jobs may be preempted, if the cluster preempts by QOS.
    usage_factor
        How many times the use of its jobs counts.
    preempt_mode, grace_time, exempt_time
        What becomes of its jobs that give way to others, "" for what the cluster says; the seconds that they may still
        run then; and the seconds that a run is left alone, None for what the cluster says.
    over_partition
        Whether its limits are looked at before those of the partition's QOS (Slurm's flag OverPartQOS).
    over_max_time, over_max_nodes, under_min_nodes
        Whether its jobs may ask for more time than their partition allows, for more nodes, and for fewer (Slurm's flags
        PartitionTimeLimit, PartitionMaxNodes and PartitionMinNodes).
    reserves
        Whether Slurm's backfill pass reserves for its jobs (not with Slurm's flag NoReserve).
    """

    name: str
    priority: int = 0
    limits: Limits = Limits()
    preempts: tuple[str, ...] = ()
    usage_factor: float = 1.0
    preempt_mode: str = ""
    grace_time: int = 0
    exempt_time: int | None = None
    over_partition: bool = False
    over_max_time: bool = False
    over_max_nodes: bool = False
    under_min_nodes: bool = False
    reserves: bool = True

    def __post_init__(self) -> None:
        if self.preempt_mode:
            check_mode(f"QOS {self.name}: preempt_mode", self.preempt_mode)
            refuse_suspension(f"QOS {self.name}: preempt_mode", self.preempt_mode)
        if min(self.grace_time, self.exempt_time or 0) < 0:
            raise InputError(f"QOS {self.name}: times must be 0 or more")


@dataclass(frozen=True, slots=True)
class Account:
    """An account, in a tree of accounts below the account "root".

    Parameters
    ----------
    name
        Of the account.
    parent
        The account above it, "" above "root" only.
    shares
        Of what its parent has, relative to its siblings; None: its users stand beside the parent's own.
    limits
        Of all its jobs, those of accounts below it included.
    qos
        QOS that its jobs may use; None: those of its parent.
    default_qos
        Of jobs that name none, "" for that of the parent.
    """

    name: str
    parent: str = ROOT
    shares: int | None = 1
    limits: Limits = Limits()
    qos: tuple[str, ...] | None = None
    default_qos: str = ""


@dataclass(frozen=True, slots=True)
class AccountUser:
    """A user in an account.

    Parameters
    ----------
    user, account
        Names.
    partition
        The partition whose jobs this is about; "": jobs of all partitions about which nothing is said apart.
    shares, limits, qos, default_qos
        As of an `Account`; shares of None are those of the account.
    default
        Whether jobs of the user that name no account are of this one.
    """

    user: str
    account: str
    partition: str = ""
    shares: int | None = 1
    limits: Limits = Limits()
    qos: tuple[str, ...] | None = None
    default_qos: str = ""
    default: bool = False


@explained
@dataclass(frozen=True, slots=True)
class Accounting:
    """Who may use what: qualities of service, a tree of accounts, and the users in them.

    Raises
    ------
    InputError
        If a name occurs twice or is not there, accounts are above each other, or QOS preempt each other in a circle.

    Examples
    --------
    >>> site = Accounting(accounts=(Account("root", ""), Account("physics"), Account("lasers", "physics")))
    >>> [account.name for account in site.above("lasers")]
    ['lasers', 'physics', 'root']
    >>> Accounting((), (Account("root", ""), Account("a", "b"), Account("b", "a")))
    Traceback (most recent call last):
        ...
    schedlab.errors.InputError: account a is below account b, which is below it; accounts must form a tree
    """

    qos: tuple[QosLimits, ...] = ()
    accounts: tuple[Account, ...] = (Account(ROOT, ""),)
    users: tuple[AccountUser, ...] = ()
    _by_name: Mapping[str, Account] = field(default_factory=dict, init=False, repr=False, compare=False)
    _by_user: Mapping[tuple[str, str, str], AccountUser] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {account.name: account for account in self.accounts})
        by_user = {(one.user, one.account, one.partition.lower()): one for one in reversed(self.users)}
        object.__setattr__(self, "_by_user", by_user)
        if len(self._by_name) < len(self.accounts):
            raise InputError("an account is given twice")
        known = {qos.name for qos in self.qos}
        for account in self.accounts:
            if account.parent and account.parent not in self._by_name:
                raise InputError(f"account {account.name} has the parent {account.parent}, which does not exist")
            _check_qos(f"account {account.name}", account.qos, known)
            list(self.above(account.name))
        for user in self.users:
            if user.account not in self._by_name:
                raise InputError(f"user {user.user} has the account {user.account}, which does not exist")
            _check_qos(f"user {user.user}", user.qos, known)
        for qos in self.qos:
            _check_qos(f"QOS {qos.name}", qos.preempts, known)
        _check_that_no_circle_preempts(self.qos)

    def above(self, name: str) -> Iterator[Account]:
        """Yield an account and all above it, up to the root."""
        seen: set[str] = set()
        while name:
            account = self._by_name[name]
            if name in seen:
                raise InputError(
                    f"account {name} is below account {account.parent}, which is below it; accounts must form a tree"
                )
            seen.add(name)
            yield account
            name = account.parent

    def user(self, name: str, account: str, partition: str) -> AccountUser | None:
        """Return a user in an account as the jobs of a partition know them; None if the user is not in the account.

        What is said about the partition comes before what is said about all; as in Slurm, whose database has names of
        partitions in small letters, case does not count. Of several partitions of a job, between commas, it is the
        first; Slurm refuses jobs for which that makes a difference.

        Examples
        --------
        >>> ann = AccountUser("ann", "root", "gpu", shares=3), AccountUser("ann", "root")
        >>> site = Accounting(users=ann)
        >>> [site.user("ann", "root", partition).shares for partition in ("gpu", "cpu", "gpu,cpu")]
        [3, 1, 3]
        """
        first = partition.partition(",")[0].strip().lower()
        return self._by_user.get((name, account, first), self._by_user.get((name, account, "")))

    @classmethod
    @explained
    def of_slurm(cls, accounts: Accounts) -> Accounting:
        """Return what sacctmgr knows of a cluster."""
        root = _account(accounts.root, "")
        below = (_account(account, account.parent or ROOT) for account in accounts.accounts.values())
        users = tuple(_user(user, accounts.default_account.get(user.user)) for user in accounts.users)
        return cls(tuple(map(_qos, accounts.qos.values())), (root, *below), users)


def unused_options(accounts: Accounts) -> Iterator[tuple[str, str]]:
    """Yield what sacctmgr's options say and `Accounting` does not, with the reason."""
    known = {*(kind.slurm for kind in LIMIT_KINDS.values()), "priority", "grace_time", "preempt_exempt_time"}
    for qos in accounts.qos.values():
        for name in sorted(qos.limits.keys() - known):
            yield f"{name}={qos.limits[name]} of QOS {qos.name}", "not simulated"
        if qos.flags & ~MODELLED_FLAGS or qos.limit_factor is not None or qos.usage_threshold is not None:
            yield f"flags, factors and thresholds of QOS {qos.name}", "not simulated"
        if qos.preempt_mode & (WITHIN | GANG) or (qos.preempt_mode and not mode_of(qos)):
            yield f"PreemptMode of QOS {qos.name}", "only CANCEL and REQUEUE are simulated, neither WITHIN nor GANG"
    for one in (accounts.root, *accounts.accounts.values(), *accounts.users):
        for name in sorted(one.limits.keys() - known):
            yield f"{name}={one.limits[name]} of {one.user or one.account}", "not simulated"


def _check_qos(what: str, names: Iterable[str] | None, known: set[str]) -> None:
    strange = next((name for name in names or () if name not in known), None)
    if strange is not None:
        raise InputError(f"{what} names QOS {strange}, which does not exist")


def _check_that_no_circle_preempts(qos: tuple[QosLimits, ...]) -> None:
    """Raise InputError if QOS preempt each other in a circle, as Slurm's database does; one may name itself."""
    left = {one.name: set(one.preempts) - {one.name} for one in qos}
    while free := [name for name, below in left.items() if not below & left.keys()]:
        for name in free:
            del left[name]
    if left:
        circle = [next(iter(left))]
        while circle[-1] not in circle[:-1]:
            circle.append(next(name for name in sorted(left[circle[-1]]) if name in left))
        circle = circle[circle.index(circle[-1]) :]
        raise InputError(
            f"QOS preempt each other in a circle, which Slurm's database refuses: {circle[0]} preempts "
            f"{', which preempts '.join(circle[1:])}; let one of them not preempt the next"
        )


def _qos(qos: Qos) -> QosLimits:
    priority = int(qos.limits.get("priority", 0))
    exempt = qos.limits.get("preempt_exempt_time")
    return QosLimits(
        qos.name,
        priority,
        Limits.of_slurm(qos.limits),
        qos.preempts,
        qos.usage_factor,
        mode_of(qos),
        int(qos.limits.get("grace_time", 0)),
        None if exempt is None else int(exempt),
        bool(qos.flags & OVER_PARTITION),
        bool(qos.flags & OVER_MAX_TIME),
        bool(qos.flags & OVER_MAX_NODES),
        bool(qos.flags & UNDER_MIN_NODES),
        not qos.flags & NO_RESERVE,
    )


def mode_of(qos: Qos) -> str:
    """Return what becomes of jobs of a QOS that give way, "" for what the cluster says, or if that is not simulated."""
    return {CANCEL: "cancel", REQUEUE: "requeue"}.get(qos.preempt_mode & ~(WITHIN | GANG), "")


def _shares(association: Association) -> int | None:
    return None if association.shares == USE_PARENT else association.shares


def _account(one: Association, parent: str) -> Account:
    return Account(one.account, parent, _shares(one), Limits.of_slurm(one.limits), one.qos, one.default_qos)


def _user(one: Association, default: str | None) -> AccountUser:
    return AccountUser(
        one.user,
        one.account,
        one.partition,
        _shares(one),
        Limits.of_slurm(one.limits),
        one.qos,
        one.default_qos,
        default == one.account,
    )
