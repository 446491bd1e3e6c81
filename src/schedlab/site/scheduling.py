"""A site's scheduler and priorities as schedlab has them, and what of them it has not."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.tres_weights import tres_weights
from schedlab.durations import parse_time_limit
from schedlab.errors import Faults, InputError, located
from schedlab.scheduler.backfilling import HETJOB_PRIOS, LONGEST, TICK, Backfill, NoBackfill, Slurm
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import FCFS, Policy
from schedlab.scheduler.scheduler import Scheduler
from schedlab.scheduler.slurm_limits import ALL
from schedlab.site.parameters import Status
from schedlab.wording import count_of, shown

MICROSECONDS = 1_000_000
_LIMITS = {"limits", "safe", "all"}
"""Words of AccountingStorageEnforce under which limits hold."""

MOST = 1 << 40
LONGEST_NUMBER = 20
_ANY = (0, MOST)
_WHOLE = {
    "bf_max_job_test": ("depth", (1, 1_000_000)),
    "bf_resolution": ("resolution", (1, 3600)),
    "bf_node_space_size": ("plan_size", (2, 2_000_000)),
    "default_queue_depth": ("queue_depth", (1, MOST)),
    "batch_sched_delay": ("delay", (0, MOST)),
    "bf_min_age_reserve": ("reserve_age", (0, 2_592_000)),
    "bf_min_prio_reserve": ("reserve_priority", (0, MOST)),
    "bf_max_job_array_resv": ("array_reserve", (0, 1000)),
    "max_switch_wait": ("switch_wait", (0, MOST)),
}
"""Options of SchedulerParameters that are arguments of +slurm as they are, and bounds of slurm.conf(5)."""

_OR_ALL = {
    "bf_max_job_user": "user_depth",
    "bf_max_job_part": "partition_depth",
    "bf_max_job_assoc": "association_depth",
    "bf_max_job_user_part": "user_partition_depth",
    "bf_max_job_start": "starts",
    "sched_max_job_start": "main_starts",
    "partition_job_depth": "partition_queue_depth",
    "bf_job_part_count_reserve": "partition_reserve",
}
"""Options that are arguments of +slurm, and have no effect if they are 0."""

_MOST_OR_ALL = {"bf_max_job_start": 10_000, "bf_job_part_count_reserve": 100_000}
_INTERVALS, _WINDOWS = (1, 10_800), (1, 43_200)
"""Bounds of bf_interval, in seconds, and of bf_window, in minutes; an interval of -1 is none."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers that partitions and QOS have in the columns of the jobs, by name.

    Parameters
    ----------
    partitions
        Names as jobs ask for them; several between commas are a name of their own.
    qos
        Names.
    """

    partitions: Mapping[str, int]
    qos: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SiteScheduling:
    """How a site schedules.

    Parameters
    ----------
    scheduler
        For its cluster of nodes.
    notes
        What of its parameters was taken otherwise than the table says: status and reason by place and name.
    limits
        Whether limits of accounts and QOS are enforced.
    """

    scheduler: Scheduler
    notes: Mapping[tuple[str, str], tuple[Status, str]]
    limits: bool


def scheduling_of(
    values: Mapping[str, str], cluster: Cluster, numbers: Numbers, where: Mapping[str, str] | None = None
) -> SiteScheduling:
    """Translate the parameters of a slurm.conf.

    Parameters
    ----------
    values
        Of the whole cluster, by name in lower case; see `schedlab.cluster.slurm_lines.parameters_of`.
    cluster
        Its partitions and QOS have the factors of priorities.
    numbers
        Under which the jobs know them.
    where
        File and line of each parameter, by name in lower case, for messages; None: unknown.

    Raises
    ------
    InputError
        If values are not what Slurm takes; all of them are told at once.

    Examples
    --------
    >>> cluster = Cluster(64)
    >>> values = {"schedulerparameters": "bf_interval=60,bf_window=2880", "prioritytype": "priority/multifactor",
    ...           "priorityweightjobsize": "1000"}
    >>> print(scheduling_of(values, cluster, Numbers({}, {})).scheduler)
    multifactor(size=1000)+slurm(interval=60,window=172800,tick=1)
    """
    reader = _Values(values, where or {})
    passes = _passes(reader)
    policy = _policy(reader, cluster, numbers)
    if reader.enforced & _LIMITS and not reader.database:
        for word in _LIMITS:
            reader.note("AccountingStorageEnforce", word, "modelled", "has no effect without slurmdbd, as in Slurm")
    placement = _placement(reader, cluster) if cluster.nodes else None
    reader.faults.check()
    return SiteScheduling(Scheduler(policy, passes, placement=placement), reader.notes, reader.limits)


class _Values:
    """Reads values, and notes what cannot be taken as it is."""

    def __init__(self, values: Mapping[str, str], where: Mapping[str, str]) -> None:
        self.values = values
        self.where = where
        self.faults = Faults()
        self.notes: dict[tuple[str, str], tuple[Status, str]] = {}
        words = (word.strip().partition("=") for word in values.get("schedulerparameters", "").split(","))
        self.options = {name.lower(): value for name, _, value in words if name}
        if "max_job_bf" in self.options:  # its name before 14.03, read until 20.02
            self.options.setdefault("bf_max_job_test", self.options["max_job_bf"])
        self.flags = {word.strip().lower() for word in values.get("priorityflags", "").split(",")}
        self.database = values.get("accountingstoragetype", "accounting_storage/none").lower().endswith("slurmdbd")
        self.enforced = {word.strip().lower() for word in values.get("accountingstorageenforce", "").split(",")}
        self.multifactor = values.get("prioritytype", "priority/basic").lower().endswith("multifactor")
        self.limits = bool(self.enforced & _LIMITS) and self.database

    def note(self, place: str, name: str, status: Status, reason: str) -> None:
        self.notes[place, name.lower()] = (status, reason)

    def told(self, name: str) -> AbstractContextManager[None, bool]:
        """Note what is wrong with a parameter, with its place, and go on."""
        return self.faults.noted(self.where.get(name.lower(), ""))

    def whole(self, name: str, text: str, bounds: tuple[int, int] = _ANY, option: str = "", none: str = "") -> int:
        """Return the whole number of a parameter, or of an option of it; the least where it is none, which is noted.

        `none` is what may stand in its place to switch something off.
        """
        least, most = bounds
        with self.told(name):
            digits = text.strip()
            number = int(digits) if len(digits) <= LONGEST_NUMBER and digits.lstrip("-").isdecimal() else least - 1
            if least <= number <= most or (none and digits == none):
                return number
            called = f"{name}: {option}" if option else name
            between = f"of at least {least}" if most == MOST else f"from {least} to {most:,}"
            instead = f", or {none}" if none else ""
            raise InputError(f"{called}={shown(text)}: must be a whole number {between}{instead}")
        return least

    def option(self, name: str, usual: int, bounds: tuple[int, int] = _ANY, none: str = "") -> int:
        """Return an option of SchedulerParameters."""
        text = self.options.get(name)
        return usual if text is None else self.whole("SchedulerParameters", text, bounds, name, none)

    def weight(self, name: str) -> int:
        """Return one of the weights of priorities."""
        key = f"PriorityWeight{name}"
        return self.whole(key, self.values.get(key.lower(), "0"))

    def seconds(self, name: str, usual: int) -> int:
        """Return a time that Slurm counts in minutes; no limit is the longest there is."""
        text = self.values.get(name.lower())
        if text is None:
            return usual
        if text.lower() in ("infinite", "unlimited", "-1"):
            return LONGEST
        with self.told(name), located(name):
            return parse_time_limit(text)
        return usual

    def yes(self, name: str) -> bool:
        """Return a value that is YES or NO."""
        return self.values.get(name.lower(), "no").lower() in ("yes", "true", "up", "1")


def _placement(reader: _Values, cluster: Cluster) -> str | None:
    """Return how nodes are chosen: by switches, or side by side; select/linear takes the first of least weight."""
    if _by_switches(reader, cluster):
        return "switches"
    return None if reader.values.get("selecttype", "").lower().endswith("linear") else "consecutive"


def _by_switches(reader: _Values, cluster: Cluster) -> bool:
    """Return whether nodes are chosen by their switches; note why they are not, or not quite as Slurm does."""
    if not cluster.switches:
        plugin = reader.values.get("topologyplugin", "").lower()
        if plugin.endswith("tree"):
            reason = "no topology.conf or topology.yaml has a tree of switches: nodes are chosen side by side"
            reader.note("slurm.conf", "TopologyPlugin", "ignored", reason)
        elif plugin:
            reader.note("slurm.conf", "TopologyPlugin", "ignored", "of topologies, trees of switches are modelled")
        return False
    bare = on_no_switch(cluster)
    if bare and not bare.isdisjoint(in_partitions(cluster)):
        reason = f"the topology connects {count_of(len(bare), 'node')} to no switch: nodes are chosen side by side"
        reader.note("slurm.conf", "TopologyPlugin", "ignored", reason)
        return False
    if sum(not switch.parent for switch in cluster.switches) > 1:
        reason = "no switch is above all others: here a job may have nodes of several trees"
        reader.note("slurm.conf", "TopologyPlugin", "approximated", reason)
    return True


def on_no_switch(cluster: Cluster) -> set[str]:
    """Return the nodes that no switch connects, none where no switches are known."""
    return {name for group in cluster.groups if cluster.switches and not group.switch for name in group.names}


def in_partitions(cluster: Cluster) -> set[str]:
    """Return the nodes on which jobs can run."""
    if not cluster.partitions:
        return set(cluster.nodes)
    return {name for one in cluster.partitions for name in one.nodes or cluster.nodes}


def _passes(reader: _Values) -> Backfill:
    kind = reader.values.get("schedulertype", "sched/backfill").lower()
    interval = reader.option("bf_interval", usual_of("interval"), _INTERVALS, none="-1")
    arguments: dict[str, Any] = {
        argument: reader.option(name, usual_of(argument), bounds) for name, (argument, bounds) in _WHOLE.items()
    }
    arguments |= {
        argument: reader.option(name, 0, (0, _MOST_OR_ALL.get(name, MOST))) or ALL for name, argument in _OR_ALL.items()
    }
    if reader.option("bf_max_job_assoc", 0):
        arguments["user_depth"] = ALL  # Slurm drops it then
    if "assoc_limit_stop" in reader.options:
        arguments["limits"] = "stop"
    if "bf_one_resv_per_job" in reader.options:
        arguments["partitions"] = "first"
    if "bf_busy_nodes" in reader.options:
        arguments["busy"] = "first"
    if "pack_serial_at_end" in reader.options:
        arguments["serial"] = "last"
    arguments["window"] = reader.option("bf_window", usual_of("window") // 60, _WINDOWS) * 60
    least = reader.option("sched_min_interval", 0) / MICROSECONDS
    arguments["delay"] = max(arguments["delay"], math.floor(least))
    overtime = reader.values.get("overtimelimit", "0").lower()
    arguments["overtime"] = (
        ALL if overtime in ("unlimited", "infinite") else reader.whole("OverTimeLimit", overtime) * 60
    )
    arguments |= _of_het_jobs(reader) | {"tick": TICK}
    if not reader.multifactor:
        arguments["ties"] = "number"
    if kind.endswith("builtin") or interval == -1:
        _without_backfilling(reader)
        return NoBackfill()
    return Slurm(interval=interval, **arguments)


def _of_het_jobs(reader: _Values) -> dict[str, str]:
    """Return the arguments about heterogeneous jobs; without a known word, Slurm leaves the order as it is."""
    found = {}
    if (order := reader.options.get("bf_hetjob_prio")) is not None:
        if order.strip().lower() in HETJOB_PRIOS[1:]:
            found["hetjob_prio"] = order.strip().lower()
        else:
            reason = f"{shown(order)} is none of {', '.join(HETJOB_PRIOS[1:])}: without effect"
            reader.note("SchedulerParameters", "bf_hetjob_prio", "ignored", reason)
    if "bf_hetjob_immediate" in reader.options:
        found["hetjob_immediate"] = "yes"
    return found


def usual_of(argument: str) -> int:
    """Return what an argument of +slurm is if it is not given."""
    return int(getattr(Slurm(), argument))


def _without_backfilling(reader: _Values) -> None:
    """Note that the options of passes have no effect; the main pass looks at the whole queue after every event."""
    for name in reader.options:
        if name in (
            *_WHOLE,
            *_OR_ALL,
            "assoc_limit_stop",
            "bf_one_resv_per_job",
            "bf_busy_nodes",
            "pack_serial_at_end",
            "bf_window",
            "bf_hetjob_prio",
            "bf_hetjob_immediate",
            "sched_min_interval",
            "sched_interval",
        ):
            reader.note("SchedulerParameters", name, "ignored", "has no effect here without backfilling")
    reader.note("SchedulerParameters", "bf_interval", "modelled", "-1: there is no backfilling")


def _policy(reader: _Values, cluster: Cluster, numbers: Numbers) -> Policy:
    if not reader.multifactor:
        for name in list(reader.values):
            if name.startswith("priority") and name != "prioritytype":
                reader.note("slurm.conf", name, "modelled", "has no effect under PriorityType=priority/basic")
        return FCFS()
    weights = {"age": reader.weight("Age"), "size": reader.weight("JobSize"), "fairshare": reader.weight("FairShare")}
    if not reader.database:
        for name, key in (("age", "PriorityWeightAge"), ("fairshare", "PriorityWeightFairShare")):
            weights[name] = 0
            reader.note("slurm.conf", key, "modelled", "has no effect without slurmdbd, as in Slurm")
    arguments: dict[str, Any] = {name: float(weight) for name, weight in weights.items()}
    arguments |= _levels(reader, "partition", "partitions", _partition_factors(cluster, numbers), "no_normal_part")
    arguments |= _levels(reader, "qos", "qoses", _qos_factors(cluster, numbers), "no_normal_qos")
    arguments |= _of_resources(reader)
    arguments |= _of_weights(reader, arguments)
    if not any(arguments.get(name) for name in ("age", "size", "fairshare", "partition", "qos", "tres")):
        return FCFS()  # all priorities are equal: the first that came is the first
    return Multifactor(**arguments)


_KNOWN_TRES = re.compile(r"cpu|mem|node|billing|gres/gpu(:.+)?")


def _of_resources(reader: _Values) -> dict[str, Any]:
    """Return the weights of resources, and whether they multiply amounts."""
    text = reader.values.get("priorityweighttres", "")
    given: dict[str, float] = {}
    with reader.told("PriorityWeightTRES"), located("PriorityWeightTRES"):
        given = {} if text.strip() == "0" else dict(tres_weights(text))
    known = {name: weight for name, weight in given.items() if weight and _KNOWN_TRES.fullmatch(name)}
    if others := sorted(name for name, weight in given.items() if weight and name not in known):
        reason = f"without {', '.join(others)}, which are not simulated"
        reader.note("slurm.conf", "PriorityWeightTRES", "approximated", reason)
    amounts = bool(reader.flags & {"no_normal_tres", "no_normal_all"})
    return {"tres": known, "amounts": amounts} if known else {}


def _of_weights(reader: _Values, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the weights that are there."""
    found: dict[str, Any] = {"period": max(1, reader.seconds("PriorityCalcPeriod", 300))}
    if arguments["age"]:
        found["max_age"] = max(1, reader.seconds("PriorityMaxAge", 7 * 86_400))
        found["accrue"] = "always" if "accrue_always" in reader.flags else "eligible"
    if arguments["size"]:
        found["favor"] = "small" if reader.yes("PriorityFavorSmall") else "large"
        found["relative"] = "small_relative_to_time" in reader.flags
    if arguments["fairshare"]:
        found["half_life"] = reader.seconds("PriorityDecayHalfLife", 7 * 86_400)
        found["shares"] = "classic" if "no_fair_tree" in reader.flags else "tree"
        if found["shares"] == "classic":
            text = reader.values.get("fairsharedampeningfactor", "1")
            found["dampening"] = max(1, reader.whole("FairShareDampeningFactor", text))
        found["ends"] = "counted" if reader.limits else "lost"
    return found


def _levels(reader: _Values, weight: str, many: str, found: tuple[int, Mapping[int, int]], flag: str) -> dict[str, Any]:
    """Return weight and factors of partitions or QOS: each divided by the largest, unless a flag says that they count
    as they are."""
    name = "Partition" if weight == "partition" else "QOS"
    given = reader.weight(name)
    largest, factors = found
    if not given or not any(factors.values()):
        if given:
            what = "a partition whose PriorityJobFactor" if weight == "partition" else "a QOS whose priority"
            reason = f"has no effect: no job is of {what} is known and above 0"
            reader.note("slurm.conf", f"PriorityWeight{name}", "ignored", reason)
        return {}
    raw = bool(reader.flags & {flag, "no_normal_all"})
    return {
        weight: float(given * largest if raw else given),
        many: {number: factor / largest for number, factor in sorted(factors.items()) if factor},
    }


def _partition_factors(cluster: Cluster, numbers: Numbers) -> tuple[int, dict[int, int]]:
    """Return the largest PriorityJobFactor, and that of each number of jobs; of several partitions, the largest."""
    factors = {partition.name.lower(): partition.priority_factor for partition in cluster.partitions}
    found = {}
    for text, number in numbers.partitions.items():
        named = [factors[name.strip().lower()] for name in text.split(",") if name.strip().lower() in factors]
        found[number] = max(named, default=0)
    return max(factors.values(), default=0), found


def _qos_factors(cluster: Cluster, numbers: Numbers) -> tuple[int, dict[int, int]]:
    """Return the largest priority of a QOS, and that of each number that jobs have."""
    priorities = {} if cluster.accounting is None else {qos.name: qos.priority for qos in cluster.accounting.qos}
    found = {number: priorities.get(name, 0) for name, number in numbers.qos.items()}
    return max(priorities.values(), default=0), found
