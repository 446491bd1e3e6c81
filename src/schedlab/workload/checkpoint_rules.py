"""Which jobs write checkpoints, and how often: rules for groups of jobs, and the intervals of Young and of Daly.

References
----------
Young, "A first order approximation to the optimum checkpoint interval", CACM 17(9), 1974.
Daly, "A higher order estimate of the optimum checkpoint interval for restart dumps", FGCS 22(3), 2006.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.durations import parse_duration
from schedlab.errors import InputError
from schedlab.wording import did_you_mean
from schedlab.workload.checkpoints import check_checkpoints, stretched
from schedlab.workload.job_requests import job_requests
from schedlab.workload.workload import Workload

NAMES = ("partition", "account", "qos")
NUMBERS = {"user": "user_id", "group": "group_id", "queue": "queue_id", "executable": "executable_id"}
LEAST = ("processors", "nodes", "request")
KINDS = {
    "every": ("interval", "cost", "restart", "told", "requests"),
    "young": ("mtbf", "cost", "restart", "node", "told", "requests"),
    "daly": ("mtbf", "cost", "restart", "node", "told", "requests"),
    "told": ("cost", "restart", "requests"),
}
"""The kinds of rules, each with its arguments."""

_RULE = re.compile(r"\s*([a-z]+)\s*\(([^()]*)\)\s*(?:for\s+(.+))?", re.IGNORECASE)
_CONDITION = re.compile(r"\s*([a-z]+)\s*(>=|=)\s*(\S.*?)\s*", re.IGNORECASE)


@explained
def young_interval(cost: float, mtbf: float) -> float:
    """Return Young's interval between checkpoints, in seconds of work: sqrt(2 cost mtbf).

    Parameters
    ----------
    cost
        Seconds that it takes to write a checkpoint.
    mtbf
        Mean seconds between the failures that end the job's runs.

    Examples
    --------
    >>> young_interval(300, 86_400)
    7200.0
    """
    return math.sqrt(2 * cost * mtbf)


@explained
def daly_interval(cost: float, mtbf: float) -> float:
    """Return Daly's interval between checkpoints, in seconds of work; parameters as for `young_interval`.

    With x = cost / (2 mtbf), it is sqrt(2 cost mtbf) (1 + sqrt(x) / 3 + x / 9) - cost, and the MTBF from x = 1 on.

    Examples
    --------
    >>> round(daly_interval(300, 86_400))
    7001
    """
    x = cost / (2 * mtbf)
    return young_interval(cost, mtbf) * (1 + math.sqrt(x) / 3 + x / 9) - cost if x < 1 else mtbf


@dataclass(frozen=True, slots=True)
class CheckpointRule:
    """How the jobs of a group write checkpoints.

    Parameters
    ----------
    kind
        "every": after each interval; "young", "daly": after the interval of this name; "told": only at the end of a run
        that is told before.
    values
        Its arguments: seconds, cores of a node (`node`), and 1 or 0 for whether jobs write a checkpoint when they are
        told to end (`told`) and request as much longer as their checkpoints take (`requests`).
    conditions
        Names of attributes, = or >=, and the values of which a job has to have one; all of them have to hold.
    text
        As it was written.
    """

    kind: str
    values: Mapping[str, float]
    conditions: tuple[tuple[str, str, tuple[str, ...]], ...]
    text: str

    def members(self, workload: Workload) -> NDArray[np.bool_]:
        """Return the jobs for which it is."""
        found = np.ones(len(workload), dtype=np.bool_)
        for name, _, values in self.conditions:
            if name in NAMES:
                labels = None if workload.resources is None else getattr(workload.resources, name)
                codes = [] if labels is None else [code for code, one in enumerate(labels.names) if one in values]
                found &= np.isin(np.full(len(workload), -1) if labels is None else labels.codes, codes)
            elif name in NUMBERS:
                found &= np.isin(workload[NUMBERS[name]], [int(value) for value in values])
            else:
                columns = {"processors": workload.job_processors, "nodes": workload["nodes"]}
                found &= columns.get(name, workload.requested_time) >= parse_duration(values[0])
        return found

    def interval(self, workload: Workload, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the interval of each of some jobs, in seconds of work; 0: none on the way."""
        if self.kind in ("every", "told"):
            return np.full(len(rows), int(self.values.get("interval", 0)))
        of = young_interval if self.kind == "young" else daly_interval
        nodes = self._nodes(workload, rows)
        counts = {count: of(self.values["cost"], self.values["mtbf"] / count) for count in set(nodes.tolist())}
        return np.array([max(1, round(counts[count])) for count in nodes.tolist()], dtype=np.int64)

    def _nodes(self, workload: Workload, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return on how many nodes each job runs: any failure of one ends it."""
        nodes, cores = workload["nodes"][rows], int(self.values.get("node", 0))
        if cores:
            nodes = np.where(nodes > 0, nodes, -(-workload.job_processors[rows] // cores))
        if bool((nodes < 1).any()):
            row = int(rows[np.argmax(nodes < 1)])
            raise InputError(
                f"{self.text}: job {workload.job_id[row]} does not say how many nodes it has, all of which may fail: "
                "add node=CORES, the cores of a node"
            )
        return np.asarray(nodes, dtype=np.int64)


def parse_checkpoint_rules(text: str) -> tuple[CheckpointRule, ...]:
    """Read rules of checkpoints.

    Parameters
    ----------
    text
        Rules, separated by semicolons, such as "daly(mtbf=300d,cost=5m,restart=10m,node=64) for nodes>=2;
        every(1h,cost=2m) for partition=gpu|long,request>=8h".

    Raises
    ------
    InputError
        If a rule is of no known kind, or an argument or a condition is unknown, missing or out of its range.

    Examples
    --------
    >>> rules = parse_checkpoint_rules("every(1h,cost=2m,told=yes) for user=3|4")
    >>> rules[0].kind, dict(rules[0].values), rules[0].conditions
    ('every', {'interval': 3600.0, 'cost': 120.0, 'told': 1}, (('user', '=', ('3', '4')),))
    """
    rules = tuple(_rule(piece.strip()) for piece in text.split(";") if piece.strip())
    if not rules:
        raise InputError('no rule of checkpoints: write for example "daly(mtbf=300d,cost=5m,restart=10m,node=64)"')
    return rules


def _rule(text: str) -> CheckpointRule:
    match = _RULE.fullmatch(text)
    if match is None:
        raise InputError(
            f'{text!r} is no rule of checkpoints: write KIND(...) or KIND(...) for CONDITIONS, as "{HINT}"'
        )
    kind = match[1].lower()
    if kind not in KINDS:
        raise InputError(f"unknown checkpoints {kind!r}{did_you_mean(kind, KINDS)}; known are {', '.join(KINDS)}")
    values: dict[str, float] = {}
    for place, piece in enumerate(filter(None, (one.strip() for one in match[2].split(",")))):
        key, _, value = (one.strip().lower() for one in piece.rpartition("="))
        key = key or ("interval" if kind == "every" and place == 0 else "")
        if key not in KINDS[kind]:
            raise InputError(f"{text}: unknown argument {piece!r}; those of {kind} are {', '.join(KINDS[kind])}")
        values[key] = _value(key, value, text)
    needed = {"every": ("interval",), "told": (), "young": ("mtbf", "cost"), "daly": ("mtbf", "cost")}[kind]
    for key in needed:
        if not values.get(key):
            raise InputError(f"{text}: {key}= must be given, and be longer than 0 s")
    return CheckpointRule(kind, values, tuple(_conditions(match[3] or "", text)), text)


HINT = "daly(mtbf=300d,cost=5m,restart=10m,node=64) for nodes>=2"
WORDS = {"told": {"yes": 1, "no": 0}, "requests": {"longer": 1, "same": 0}}


def _value(key: str, value: str, text: str) -> float:
    """Return the value of an argument."""
    if key in WORDS:
        if value not in WORDS[key]:
            raise InputError(f"{text}: {key}={value}: must be {' or '.join(WORDS[key])}")
        return WORDS[key][value]
    try:
        found = parse_duration(value)
    except InputError as error:
        raise InputError(f"{text}: {key}: {error}") from None
    least = 1 if key in ("node", "interval") else 0
    if not least <= found < math.inf or (key != "mtbf" and found != int(found)):
        raise InputError(f"{text}: {key}={value}: must be a whole number from {least} on (seconds, or cores)")
    return found


def _conditions(text: str, rule: str) -> list[tuple[str, str, tuple[str, ...]]]:
    found = []
    for piece in filter(None, text.split(",")):
        match = _CONDITION.fullmatch(piece)
        name = match[1].lower() if match else ""
        known = (*NAMES, *NUMBERS, *LEAST)
        if match is None or name not in known or (match[2] == ">=") != (name in LEAST):
            told = [*(f"{one}=" for one in (*NAMES, *NUMBERS)), *(f"{one}>=" for one in LEAST)]
            raise InputError(f"{rule}: {piece.strip()!r} is no condition: write one of {' '.join(told)} and a value")
        values = tuple(value.strip() for value in match[3].split("|"))
        if name in NUMBERS and not all(re.fullmatch(r"[0-9]{1,18}", value) for value in values):
            raise InputError(f"{rule}: {piece.strip()}: must be numbers, such as {name}=3|4")
        if name in LEAST:
            parse_duration(match[3])
        found.append((name, match[2], values))
    return found


@explained
def with_checkpoints(workload: Workload, rules: str) -> Workload:
    """Return jobs that write checkpoints by rules for groups of them; for each job, the first that fits counts.

    Parameters
    ----------
    workload
        The jobs. Those for which no rule is keep what they have. Their run times are taken for work, without the time
        in which checkpoints are written. Jobs that request no more than it takes to go on from a checkpoint and to
        write one write none.
    rules
        See `parse_checkpoint_rules`. An interval is in seconds of work. The MTBF is that of a node, so that a job on n
        nodes has the n-th part of it. With `requests=longer`, jobs request as much longer as the checkpoints of their
        requested time take.

    Raises
    ------
    InputError
        If a rule cannot be read or is for no job, or if checkpoints make no sense for a job.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 0], run_time=[9000, 60], requested_time=[20000, 90],
    ...                                   requested_processors=[128, 1]))
    >>> some = with_checkpoints(jobs, "daly(mtbf=2d,cost=5m,restart=10m,node=64) for processors>=64")
    >>> some["checkpoint_interval"].tolist(), some["restart_cost"].tolist()
    ([7001, 0], [600, 0])
    """
    resources = job_requests(workload)
    names = ("checkpoint_interval", "checkpoint_cost", "restart_cost", "checkpoint_when_told")
    columns = {name: getattr(resources, name).copy() for name in names}
    free, longer = np.ones(len(workload), dtype=np.bool_), np.zeros(len(workload), dtype=np.bool_)
    for rule in parse_checkpoint_rules(rules):
        members = rule.members(workload)
        if not members.any():
            raise InputError(f"{workload.name}: {rule.text}: this rule of checkpoints is for no job")
        cost, restart = (int(rule.values.get(name, 0)) for name in ("cost", "restart"))
        too_short = (workload.requested_time > 0) & (workload.requested_time <= cost + restart)
        rows = np.flatnonzero(members & free & ~too_short)
        free &= ~members
        columns["checkpoint_interval"][rows] = rule.interval(workload, rows)
        columns["checkpoint_cost"][rows] = cost
        columns["restart_cost"][rows] = restart
        columns["checkpoint_when_told"][rows] = int(rule.values.get("told", rule.kind == "told"))
        longer[rows] = bool(rule.values.get("requests", 0))
    written = workload.replace(resources=replace(resources, **columns))
    asked = np.where(longer & (written.requested_time > 0), stretched(written, written.requested_time), -1)
    written = written.replace(requested_time=np.maximum(asked, written.requested_time))
    check_checkpoints(written)
    return written
