"""Backfilling: which jobs may overtake a head that does not fit. One class per kind; `Backfill` is any of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from schedlab.arguments import explained
from schedlab.errors import InputError, check_type
from schedlab.scheduler.arguments import argument, arguments, in_minutes, read_arguments, whole, written_arguments
from schedlab.scheduler.own_pass import OwnPass
from schedlab.scheduler.policy import SPF, Policy
from schedlab.scheduler.slurm_limits import ALL, COUNTS, LIMITS
from schedlab.scheduler.slurm_versions import NEWEST, RULES, VERSIONS, holds

HETJOB_PRIOS = ("own", "min", "avg", "max")
"""What `hetjob_prio` may be."""

LONGEST = 10**9

TICK = 1
"""Seconds until slurmctld notices the end of a job: its main loop looks once a second."""

_WORDS = {
    "limits": ("continue", "stop"),
    "partitions": ("all", "first"),
    "serial": ("rule", "last"),
    "busy": ("rule", "first"),
    "ties": ("submission", "number"),
    "wf_plan": ("all", "ready"),
    "wf_count": ("tasks", "workflows"),
}


def _limit(default: int, meaning: str, synonym: str = "", *, minutes: bool = False) -> Any:
    """Return an argument that is a whole number or "all"; its synonym in slurm.conf may be in minutes."""
    return argument(
        meaning,
        lambda name, text: ALL if text == "all" else whole(name, text),
        lambda value: "all" if value == ALL else str(value),
        synonym=synonym,
        read_synonym=in_minutes if minutes else None,
        default=default,
    )


@dataclass(frozen=True, slots=True)
class NoBackfill:
    """No job overtakes a blocked head."""

    name: ClassVar[str] = "none"

    @property
    def text(self) -> str:
        """Nothing: a scheduler text without backfilling has no such part."""
        return ""


@dataclass(frozen=True, slots=True)
class Easy:
    """Jobs that do not delay the reservation of the head may overtake it.

    Parameters
    ----------
    order
        Order in which candidates are tried; None is the order of the queue.

    Examples
    --------
    >>> Easy().text, Easy(SPF()).text
    ('easy', 'easy:sjf')

    References
    ----------
    Lifka, JSSPP 1995; Mu'alem & Feitelson, TPDS 2001; candidates in an order of their own: Tsafrir et al., TPDS 2007.
    """

    name: ClassVar[str] = "easy"
    order: Policy | None = None

    def __post_init__(self) -> None:
        if self.order is not None:
            check_type(self.order, Policy, 'give one, such as SPF(), or write "easy:sjf" as the text of a backfilling')

    @property
    def text(self) -> str:
        """Its form in a scheduler text."""
        if self.order is None:
            return "easy"
        return "easy:sjf" if self.order == SPF() else f"easy:{self.order.text}"


@dataclass(frozen=True, slots=True)
class Conservative:
    """Every job has a reservation; jobs that delay none of them may overtake.

    Parameters
    ----------
    fixed
        Whether reservations are fixed once they are made, in rounds, even if a job ends early (Gainaru et al., ICPP
        2019). Otherwise they move to earlier times. In a scheduler text, this is the option reservations=fixed.

    References
    ----------
    Mu'alem & Feitelson, TPDS 2001.
    """

    name: ClassVar[str] = "conservative"
    fixed: bool = False

    @property
    def text(self) -> str:
        """Its form in a scheduler text, without the option."""
        return "conservative"


@explained
@dataclass(frozen=True, slots=True)
class Slurm:
    """Slurm's main pass and its backfill pass; the defaults are Slurm's own.

    The main pass follows every submission and completion: it starts jobs in the order of priority and stops at the
    first that does not fit. The backfill pass comes every `interval` seconds if anything has changed. It plans all
    jobs, in the order of priority, each at the earliest time that delays no reservation, starts those that can start
    now, and reserves for the others.

    Parameters
    ----------
    interval
        Seconds between backfill passes (bf_interval); 0: one after every event.
    depth
        Jobs that a backfill pass considers (bf_max_job_test).
    resolution
        Seconds: reservations begin and end at multiples of it (bf_resolution), rounded down as in Slurm.
    origin
        The second from which these multiples are counted, as are the half minutes into which ends of running jobs are
        put together: that of a full hour, if the clock does not begin with one.
    window
        Seconds: a job that cannot start within them gets no reservation (bf_window).
    reserve
        Maximum number of jobs that get a reservation; 1 makes it EASY.
    reserve_age
        Seconds that a job must have waited to get a reservation, or to keep others waiting (bf_min_age_reserve).
    reserve_priority
        Priority that a job must have to get a reservation, or to keep others waiting (bf_min_prio_reserve); under
        multifactor alone.
    partition_reserve
        Maximum number of jobs of each partition that get a reservation (bf_job_part_count_reserve).
    array_reserve
        Maximum number of elements of each job array that get a reservation (bf_max_job_array_resv).
    partitions
        "all": a job of several partitions has a reservation in each. "first": in the first in which it can have one
        (bf_one_resv_per_job).
    limits
        "continue": jobs at a limit are passed over. "stop": one at a limit of resources of an account or a QOS stops
        the main pass in its partitions (assoc_limit_stop).
    serial
        "rule": jobs of one core get the node that the placement rule says. "last": the last one with room, under
        placement=consecutive or switches (pack_serial_at_end).
    busy
        "rule": reservations take the nodes that the placement rule says. "first": those that are in use first, under
        placement=consecutive or switches (bf_busy_nodes).
    switch_wait
        Seconds that a job may wait for the few leaf switches that it wants (max_switch_wait), under placement=switches.
    queue_depth
        Jobs that a main pass considers (default_queue_depth); once a minute, one considers all.
    partition_queue_depth
        Jobs of each partition that a main pass considers (partition_job_depth), also the one that considers all;
        others are passed over until the next full minute.
    delay
        Minimum seconds between main passes (batch_sched_delay).
    overtime
        Seconds that a job may run beyond its request (OverTimeLimit).
    tick
        Seconds until the end of a run is noticed; slurmctld does with its next look, a second later.
        Without effect under events="pyss".
    node
        Cores of a node, if nodes are exclusive (select/linear); 0: cores are allocated (select/cons_tres).
    shared
        Cores of a node that jobs may share: a reservation holds whole nodes, as in Slurm; 0: it holds cores.
    user_depth
        Jobs of each user that a backfill pass considers (bf_max_job_user); others are passed over.
    partition_depth, association_depth, user_partition_depth
        The same of each partition, of each user in an account, and of each user in a partition (bf_max_job_part,
        bf_max_job_assoc, bf_max_job_user_part).
    starts
        Jobs that a backfill pass starts (bf_max_job_start); it then ends.
    main_starts
        Jobs that a main pass starts (sched_max_job_start); it then ends, and the next full minute has another one.
    plan_size
        Records of the plan of a backfill pass (bf_node_space_size): stretches of time between the seconds in which
        reservations begin or end. A pass ends at the first job that would get a reservation in a full plan. 0: as many
        as depth. Without effect where interval is 0.
    ties
        Which job goes first of equal priorities. "submission": the one that was submitted first; a job that is requeued
        is submitted again. "number": the one with the smaller number, requeued or not (PriorityType=priority/basic,
        with fcfs). With interval=0, it is the one that entered the queue first.
    wf_depth
        Workflows with one place in the queue whose tasks a backfill pass considers (wf_max_depth).
    wf_plan
        "all": tasks with open dependencies get reservations after those of their parents. "ready": only tasks that
        could start.
    wf_count
        "tasks": each task counts for the depth. "workflows": all tasks of a workflow count once.
    hetjob_prio
        Which priority all components of a heterogeneous job have when they are compared with other jobs
        (bf_hetjob_prio): "min", "avg" or "max" of theirs, or "own": each its own.
    hetjob_immediate
        "yes": a heterogeneous job starts as soon as a backfill pass has found that all its components can, and unless
        given, hetjob_prio is "min" (bf_hetjob_immediate). "no": at the end of the pass.
    version
        The version of Slurm whose rules hold, see `schedlab.scheduler.slurm_versions`; none: the newest there.
    otherwise
        Names of such rules, between "/", that hold if they do not in the version, and do not if they do: what each of
        them does can so be told apart.

    Examples
    --------
    >>> Slurm(depth=50).text
    'slurm(depth=50)'

    References
    ----------
    Slurm's documentation of SchedulerParameters; for workflows, Rodrigo et al., JSSPP 2017, section 4.2.
    """

    name: ClassVar[str] = "slurm"
    interval: int = _limit(30, "seconds between backfill passes; 0: one after every event", "bf_interval")
    depth: int = _limit(500, "jobs that a backfill pass looks at", "bf_max_job_test")
    resolution: int = _limit(
        60, "time resolution in seconds: reservations begin and end at its multiples, rounded down", "bf_resolution"
    )
    origin: int = _limit(0, "second from which multiples of the resolution are counted: that of a full hour")
    window: int = _limit(
        86400,
        "planning horizon in seconds: a job that cannot start within it gets no reservation",
        "bf_window",
        minutes=True,
    )
    reserve: int = _limit(ALL, "reservations of a pass at most")
    reserve_age: int = _limit(
        0, "seconds that a job must have waited to get a reservation or to keep others waiting", "bf_min_age_reserve"
    )
    reserve_priority: int = _limit(
        0, "priority that a job must have to get a reservation or to keep others waiting", "bf_min_prio_reserve"
    )
    partition_reserve: int = _limit(ALL, "reservations for jobs of each partition", "bf_job_part_count_reserve")
    array_reserve: int = _limit(20, "reservations for elements of each job array", "bf_max_job_array_resv")
    partitions: Literal["all", "first"] = argument(
        "all: a job of several partitions has a reservation in each; first: in the first alone",
        words=_WORDS["partitions"],
        default="all",
    )
    limits: Literal["continue", "stop"] = argument(
        "continue: jobs at a limit are passed over; stop: those at a limit of resources stop a main pass",
        words=_WORDS["limits"],
        default="continue",
    )
    serial: Literal["rule", "last"] = argument(
        "rule: jobs of one core get the node of the placement rule; last: the last node with room",
        words=_WORDS["serial"],
        default="rule",
    )
    busy: Literal["rule", "first"] = argument(
        "rule: reservations take the nodes of the placement rule; first: nodes that are in use before others",
        words=_WORDS["busy"],
        default="rule",
    )
    switch_wait: int = _limit(300, "seconds that a job may wait for few leaf switches", "max_switch_wait")
    queue_depth: int = _limit(
        100, "jobs that a main pass looks at; once a minute it looks at all", "default_queue_depth"
    )
    partition_queue_depth: int = _limit(ALL, "jobs of each partition that a main pass looks at", "partition_job_depth")
    delay: int = _limit(3, "seconds between main passes at least", "batch_sched_delay")
    overtime: int = _limit(0, "seconds that a job may run beyond its request", "OverTimeLimit", minutes=True)
    tick: int = _limit(0, "seconds until the end of a run is noticed; on a real cluster, one")
    node: int = _limit(0, "cores of a node, if jobs get whole nodes; 0: they get cores")
    shared: int = _limit(0, "cores of a node that jobs share, of which reservations hold whole ones; 0: cores")
    user_depth: int = _limit(ALL, "jobs of each user that a backfill pass looks at", "bf_max_job_user")
    partition_depth: int = _limit(ALL, "the same of each partition", "bf_max_job_part")
    association_depth: int = _limit(ALL, "the same of each user in an account", "bf_max_job_assoc")
    user_partition_depth: int = _limit(ALL, "the same of each user in a partition", "bf_max_job_user_part")
    starts: int = _limit(ALL, "jobs that a backfill pass starts, and then ends", "bf_max_job_start")
    main_starts: int = _limit(ALL, "jobs that a main pass starts, and then ends", "sched_max_job_start")
    plan_size: int = _limit(
        0,
        "records of the plan of a backfill pass, which ends when it is full; 0: as many as depth",
        "bf_node_space_size",
    )
    ties: Literal["submission", "number"] = argument(
        "of equal priorities, submission: the first that was submitted, or requeued, goes first; number: a job keeps "
        "its place when it is requeued",
        words=_WORDS["ties"],
        default="submission",
    )
    wf_depth: int = _limit(50, "workflows with one place in the queue of which a backfill pass looks at the tasks")
    wf_plan: Literal["all", "ready"] = argument(
        "all: tasks that wait for others get reservations behind them; ready: they do not",
        words=_WORDS["wf_plan"],
        default="all",
    )
    wf_count: Literal["tasks", "workflows"] = argument(
        "tasks: each counts for the depth; workflows: all of a workflow count once",
        words=_WORDS["wf_count"],
        default="tasks",
    )
    hetjob_prio: Literal["own", "min", "avg", "max"] = argument(
        "the priority of all components of a heterogeneous job: min, avg or max of theirs; own: each its own",
        words=HETJOB_PRIOS,
        synonym="bf_hetjob_prio",
        default="own",
    )
    hetjob_immediate: Literal["no", "yes"] = argument(
        "yes: heterogeneous jobs start within a backfill pass, with hetjob_prio=min unless given; no: at its end",
        words=("no", "yes"),
        default="no",
    )
    version: Literal["", "22.05", "24.11", "26.05"] = argument(
        "the version of Slurm whose rules hold where versions differ; none: the newest", words=VERSIONS, default=""
    )
    otherwise: str = argument(
        'rules that differ by version, between "/", which are the other way round than in the version', default=""
    )

    def __post_init__(self) -> None:
        for option in (one for one in fields(self) if isinstance(one.default, int)):
            value = getattr(self, option.name)
            least = 1 if option.name in COUNTS else 0
            most = ALL if option.name in LIMITS else LONGEST
            if not isinstance(value, int) or not least <= value <= most:
                text = "all" if value == ALL else value
                raise InputError(f"slurm: {option.name}={text} must be a whole number from {least} to {most}")
        for name, (one, usual) in arguments(type(self)).items():
            if one.words and getattr(self, name) not in (*one.words, usual):
                raise InputError(f"slurm: {name}={getattr(self, name)}; known are {' and '.join(one.words)}")
        for rule in filter(None, self.otherwise.split("/")):
            if rule not in RULES:
                raise InputError(f"slurm: otherwise={rule}; known are {', '.join(RULES)}")

    @classmethod
    @explained
    def parse(cls, text: str) -> Slurm:
        """Read the canonical text, or one with durations, "all" and the names of SchedulerParameters in their units.

        Raises
        ------
        InputError
            If an argument is unknown or has an invalid value.

        Examples
        --------
        >>> Slurm.parse("slurm(window=2d, depth=all)").window
        172800
        >>> Slurm.parse("slurm(bf_window=4320, bf_max_job_test=100)").text
        'slurm(depth=100,window=259200)'
        """
        return cls(**read_arguments(cls, text))

    def follows(self, rule: str) -> bool:
        """Return whether a rule holds that differs by version."""
        return holds(rule, self.followed) != (rule in self.otherwise.split("/"))

    @property
    def followed(self) -> str:
        """The version of Slurm that is followed."""
        return self.version or NEWEST

    def limits_any(self, options: Iterable[str]) -> bool:
        """Return whether any of these options, which may be `ALL`, is a limit."""
        return any(getattr(self, name) < ALL for name in options)

    @property
    def hetjob_order(self) -> str:
        """What `hetjob_prio` comes to, with `hetjob_immediate`."""
        return "min" if self.hetjob_immediate == "yes" and self.hetjob_prio == "own" else self.hetjob_prio

    @property
    def records(self) -> int:
        """Records of a plan at most; `ALL` where any number will do."""
        return (self.plan_size or self.depth) if self.interval > 0 else ALL

    @property
    def text(self) -> str:
        """The canonical text, with the arguments that differ from the defaults."""
        shown = written_arguments(self)
        return f"slurm({shown})" if shown else "slurm"


WITHOUT_VERSION = Slurm(version="22.05")
"""Whose rules of nodes and limits hold under passes that are not Slurm's: as until 0.1, as no text can name others."""

Backfill = NoBackfill | Easy | Conservative | Slurm | OwnPass
