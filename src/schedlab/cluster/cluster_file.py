"""The cluster file: a cluster as a document of TOML or JSON, strict in both directions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, create_model

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_list, host_names
from schedlab.cluster.limit_kinds import LIMIT_KINDS, SECONDS, LimitKind
from schedlab.cluster.limits import ROOT, Account, Accounting, AccountUser, Limits, QosLimits
from schedlab.cluster.nodes import NodeGroup, Partition, Switch
from schedlab.cluster.power_saving import PowerSaving
from schedlab.cluster.preemption import REQUEUE_DELAY, Basis, Mode, Preemption
from schedlab.documents import first_problem, line_of, path_in
from schedlab.durations import duration_text, parse_duration
from schedlab.errors import InputError, located
from schedlab.workload.sbatch import mebibytes

FORMAT: Final = "schedlab cluster"
VERSION: Final = 1
TIMES = (
    *("max_time", "default_time", "grace_time", "exempt_time", "requeue_delay", "overtime"),
    *("suspend_time", "boot_time", "shutdown_time"),
    *(name for name, kind in LIMIT_KINDS.items() if kind.amount == SECONDS),
)
TABLES = ("groups", "partitions", "switches", "qos", "accounts", "users")
"""The lists of tables."""


def _hosts(value: Any) -> Any:
    return host_names(value) if isinstance(value, str) else value


def _seconds(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    seconds = parse_duration(value)
    if not 0 <= seconds < 2**53 or seconds != int(seconds):
        raise ValueError(f"{value!r} is not a whole number of seconds")
    return int(seconds)


def _mebibytes(value: Any) -> Any:
    return mebibytes(value) if isinstance(value, str) else value


def _kinds(value: Any) -> Any:
    return ({"": value} if value else {}) if isinstance(value, int) and not isinstance(value, bool) else value


Hosts = Annotated[list[str], BeforeValidator(_hosts)]
Seconds = Annotated[int, BeforeValidator(_seconds)]
Mebibytes = Annotated[int, BeforeValidator(_mebibytes)]
Shares = Annotated[int | None, BeforeValidator(lambda value: None if value == "parent" else value)]
Gpus = Annotated[dict[str, int], BeforeValidator(_kinds)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class GroupTable(_Table):
    """One of `groups`: the parameters of `NodeGroup`."""

    nodes: Hosts
    cores: int
    memory: Mebibytes | None = None
    gpus: Gpus = {}
    features: list[str] = []
    weight: int = 1
    sockets: int = 1
    switch: str = ""
    threads: int = 1

    def made(self) -> NodeGroup:
        """Return the nodes that it describes."""
        given = self.model_dump()
        return NodeGroup.of(given.pop("nodes"), **given)


class PartitionTable(_Table):
    """One of `partitions`: the parameters of `Partition`."""

    name: str
    nodes: Hosts = []
    default: bool = False
    priority_tier: int = 1
    max_time: Seconds | None = None
    default_time: Seconds | None = None
    min_nodes: int = 1
    max_nodes: int | None = None
    memory_per_core: Mebibytes | None = None
    memory_per_node: Mebibytes | None = None
    exclusive: bool = False
    allow_accounts: list[str] = []
    allow_qos: list[str] = []
    deny_accounts: list[str] = []
    deny_qos: list[str] = []
    up: bool = True
    max_memory_per_core: Mebibytes | None = None
    max_memory_per_node: Mebibytes | None = None
    max_cores_per_node: int | None = None
    priority_factor: int = 1
    allow_groups: list[str] = []
    exclusive_user: bool = False
    qos: str = ""
    preempt_mode: str = ""
    grace_time: Seconds = 0
    billing: dict[str, float] = {}
    billing_largest: bool = False
    least_loaded: bool = False
    overtime: Seconds | None = None
    memory_per_gpu: Mebibytes | None = None
    whole_memory: bool = False

    def made(self) -> Partition:
        """Return the partition that it describes."""
        given = self.model_dump() | {"billing": tuple(self.billing.items())}
        lists = {name: frozenset(value) for name, value in given.items() if name.startswith(("allow_", "deny_"))}
        return Partition(**given | lists | {"nodes": tuple(self.nodes)})


class SwitchTable(_Table):
    """One of `switches`: the parameters of `Switch`."""

    name: str
    parent: str = ""

    def made(self) -> Switch:
        """Return the switch that it describes."""
        return Switch(self.name, self.parent)


def _limit_field(kind: LimitKind) -> tuple[Any, Any]:
    if kind.is_of_resources:
        return dict[str, int], {}
    return (Seconds | None if kind.amount == SECONDS else int | None), None


_LIMIT_FIELDS: dict[str, Any] = {field.name: _limit_field(LIMIT_KINDS[field.name]) for field in fields(Limits)}
LimitsTable: Any = create_model("LimitsTable", __base__=_Table, **_LIMIT_FIELDS)
"""The parameters of `Limits`: resources as tables, times as durations."""


class _LimitedTable(_Table):
    limits: LimitsTable = LimitsTable()

    def parts(self) -> dict[str, Any]:
        """Return the parameters of the class that it describes."""
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in self}
        limits: dict[str, Any] = {
            name: tuple(value.items()) if isinstance(value, dict) else value for name, value in self.limits
        }
        return given | {"limits": Limits(**limits)}


class QosTable(_LimitedTable):
    """One of `qos`: the parameters of `QosLimits`."""

    name: str
    priority: int = 0
    preempts: list[str] = []
    usage_factor: float = 1.0
    preempt_mode: str = ""
    grace_time: Seconds = 0
    exempt_time: Seconds | None = None
    over_partition: bool = False
    over_max_time: bool = False
    over_max_nodes: bool = False
    under_min_nodes: bool = False
    reserves: bool = True

    def made(self) -> QosLimits:
        """Return the QOS that it describes."""
        return QosLimits(**self.parts())


class AccountTable(_LimitedTable):
    """One of `accounts`: the parameters of `Account`; `shares = "parent"` stands for None."""

    name: str
    parent: str = ROOT
    shares: Shares = 1
    qos: list[str] | None = None
    default_qos: str = ""

    def made(self) -> Account:
        """Return the account that it describes."""
        return Account(**self.parts() | {"parent": "" if self.name == ROOT else self.parent})


class UserTable(_LimitedTable):
    """One of `users`: the parameters of `AccountUser`; `shares = "parent"` stands for None."""

    user: str
    account: str
    partition: str = ""
    shares: Shares = 1
    qos: list[str] | None = None
    default_qos: str = ""
    default: bool = False

    def made(self) -> AccountUser:
        """Return the user that it describes."""
        return AccountUser(**self.parts())


class PreemptionTable(_Table):
    """The table `preemption`: the parameters of `Preemption`."""

    by: Basis
    mode: Mode = "requeue"
    exempt_time: Seconds = 0
    requeue_delay: Seconds = REQUEUE_DELAY
    youngest_first: bool = False
    reorder: int = 1

    def made(self) -> Preemption:
        """Return what it describes."""
        return Preemption(**self.model_dump())


class PowerSavingTable(_Table):
    """The table `power_saving`: the parameters of `PowerSaving`."""

    suspend_time: Seconds
    boot_time: Seconds
    shutdown_time: Seconds = 0
    always_on: Hosts = []
    suspend_rate: int = 0
    resume_rate: int = 0

    def made(self) -> PowerSaving:
        """Return what it describes."""
        return PowerSaving(**self.model_dump() | {"always_on": tuple(self.always_on)})


class PowerStepTable(_Table):
    """A table of `power_steps`: a second, and the watts that jobs may draw above the idle machine from then on."""

    second: int
    watts: int


class ClusterTable(_Table):
    """The whole document."""

    format: Literal["schedlab cluster"] = FORMAT
    version: Literal[1] = VERSION
    name: str = "cluster"
    processors: int | None = None
    licenses: dict[str, int] = {}
    preemption: PreemptionTable | None = None
    power_saving: PowerSavingTable | None = None
    power_steps: list[PowerStepTable] = []
    groups: list[GroupTable] = []
    partitions: list[PartitionTable] = []
    switches: list[SwitchTable] = []
    qos: list[QosTable] = []
    accounts: list[AccountTable] = []
    users: list[UserTable] = []


def cluster_of(document: Any, source: str, text: str | None = None) -> Cluster:
    """Return the cluster that a document describes.

    Parameters
    ----------
    document
        As `document_of` gives it.
    source
        Where it comes from: messages begin with it.
    text
        The TOML that it was read from, to name lines.

    Raises
    ------
    InputError
        If something in it is wrong; the message names the first place.
    """
    try:
        table = ClusterTable.model_validate(document if isinstance(document, dict) else dict(document))
    except ValidationError as error:
        location = error.errors(include_url=False)[0]["loc"]
        raise InputError(f"{_place(source, text, document, location)}: {_problem(error)}") from None
    except RecursionError:
        raise InputError(f"{source}: the file is nested too deeply") from None
    except (TypeError, ValueError):
        raise InputError(f"{source}: the cluster must be a table of fields, not {type(document).__name__}") from None
    built: dict[str, tuple[Any, ...]] = {}
    for part in TABLES:
        made = []
        for number, one in enumerate(getattr(table, part)):
            try:
                made.append(one.made())
            except InputError as error:  # to find a line takes longer than to build a group
                raise InputError(f"{_place(source, text, document, (part, number))}: {error}") from None
        built[part] = tuple(made)
    with located(source):
        return _assembled(table, built)


def _assembled(table: ClusterTable, built: Mapping[str, Any]) -> Cluster:
    cores = sum(len(group.names) * group.cores for group in built["groups"])
    if not cores and table.processors is None:
        raise InputError("the cluster has neither groups of nodes nor a number of processors")
    accounts = built["accounts"]
    if not any(account.name == ROOT for account in accounts):
        accounts = (Account(ROOT, ""), *accounts)
    has_accounting = any(built[part] for part in ("qos", "accounts", "users"))
    return Cluster(
        cores if table.processors is None else table.processors,
        built["groups"],
        built["partitions"],
        table.name,
        built["switches"],
        tuple(table.licenses.items()),
        Accounting(built["qos"], accounts, built["users"]) if has_accounting else None,
        None if table.preemption is None else table.preemption.made(),
        power_saving=None if table.power_saving is None else table.power_saving.made(),
        power_steps=tuple((step.second, step.watts) for step in table.power_steps),
    )


def _place(source: str, text: str | None, document: Any, location: Sequence[int | str]) -> str:
    line = line_of(text, path_in(location, document)) if text is not None and location else None
    return f"{source}:{line}" if line else source


def _problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    said = first_problem(error)
    if problem["type"] == "extra_forbidden":
        return f"unknown field {'.'.join(map(str, problem['loc']))}"
    if problem["loc"][:1] == ("version",):
        return f"version {problem['input']!r} of the cluster file is not one that this schedlab reads ({VERSION})"
    return said


def document_of(cluster: Cluster) -> dict[str, Any]:
    """Return a cluster as a document: what is as usual is left out."""
    document: dict[str, Any] = {"format": FORMAT, "version": VERSION, "name": cluster.name}
    if cluster.licenses:
        document["licenses"] = dict(cluster.licenses)
    if cluster.preemption is not None:
        document["preemption"] = _table_of(cluster.preemption)
    if cluster.power_steps:
        document["power_steps"] = [{"second": second, "watts": watts} for second, watts in cluster.power_steps]
    if cluster.power_saving is not None:
        document["power_saving"] = _table_of(cluster.power_saving)
    if not cluster.groups:
        document["processors"] = cluster.processors
    accounting = cluster.accounting
    parts = [cluster.groups, cluster.partitions, cluster.switches]
    parts += [() if accounting is None else getattr(accounting, part) for part in TABLES[len(parts) :]]
    for part, subjects in zip(TABLES, parts, strict=True):
        if subjects:
            document[part] = [_table_of(subject) for subject in subjects]
    return document


def _table_of(subject: Any) -> dict[str, Any]:
    return {
        ("nodes" if field.name == "names" else field.name): _written(field.name, getattr(subject, field.name))
        for field in fields(subject)
        if field.default is MISSING or getattr(subject, field.name) != field.default
    }


def _written(name: str, value: Any) -> Any:
    """Return a value as it stands in a document."""
    if name in ("names", "nodes", "always_on"):
        written: Any = host_list(value)
    elif name in TIMES:
        written = value if value is None else duration_text(value)
    elif name == "gpus" and [kind for kind, _ in value] == [""]:
        written = value[0][1]
    elif name in ("gpus", "billing") or "tres" in name:
        written = dict(value)
    elif name == "shares" and value is None:
        written = "parent"
    elif isinstance(value, Limits):
        written = _table_of(value)
    else:
        written = sorted(value) if isinstance(value, frozenset) else list(value) if isinstance(value, tuple) else value
    return written
