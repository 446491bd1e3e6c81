"""Random schedulers with every policy, predictor, pass and option, for the fuzzer of the engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from drawing import Draw, Table
from features import TwiceTheLast
from own_passes import Everything, Reserving
from random_workloads import small_work_and_age

from schedlab.scheduler import FunctionPolicy, Scheduler

POLICIES = (
    *("fcfs", "lcfs", "spf", "lpf", "sqf", "lqf", "saf", "laf"),
    *("wfp3", "unicef", "f1", "f2", "f3", "f4", "smith", "gittins"),
)
BY_RUN_TIME = ("spf", "lpf", "saf", "f1", "smith")
FORMULAS = (
    *("p*q", "p/R+q", "log10(p)*q+870*log10(r)", "max(w,1)*q", "-w", "w*0", "min(p,q)-r", "p**2/(w+1)", "R-w", "p-p"),
    *("sqrt(p)*q-w/3", "x50*q", "-h", "G+m-g"),
)
AGE: Table = {"max_age": (0.7, (10, 60, 300, 604800)), "accrue": (0.3, ("always",))}
SIZE: Table = {"favor": (0.4, ("small",)), "relative": (0.3, ("yes",))}
SHARES: Table = {"half_life": (0.6, (0, 20, 200)), "shares": (0.4, ("classic",)), "ends": (0.3, ("lost",))}
FACTORS: dict[str, tuple[float, tuple[Any, ...], Table]] = {
    "age": (0.6, (1, 3.5, 50, 500, 1000), AGE),
    "size": (0.6, (1, 100, 1000), SIZE),
    "fairshare": (0.6, (10, 1000, 5000), SHARES),
    "tres": (0.3, ("cpu:100", "cpu:10;mem:5", "node:100;gres/gpu:50", "billing:3"), {"amounts": (0.4, ("yes",))}),
    "partition": (0.3, (100,), {"partitions": (1, ("1:0.5;2:1",))}),
    "qos": (0.3, (100,), {"qoses": (1, ("1:0.5;2:1",))}),
}
OFTEN_OR_SELDOM = {"often": (0, 5, 10), "seldom": (60,)}
"""Seconds between backfill passes, where others would hide what a case is about."""


def interval(draw: Draw) -> int:
    """Return the seconds between backfill passes."""
    return draw.choice(next((times for name, times in OFTEN_OR_SELDOM.items() if name in draw.wanted), (0, 1, 5, 60)))


def version(draw: Draw) -> str:
    """Return a version of Slurm: ties of priorities are not always by submission in the oldest one alone."""
    return "22.05" if "ties" in draw.wanted else draw.one("22.05", "24.11")


def depth(draw: Draw) -> int:
    """Return how many jobs a backfill pass looks at: one alone says nothing of how the tasks of a workflow count."""
    return draw.one(2, 3) if "wf_count" in draw.wanted else draw.one(1, 2, 5)


# In seconds, a regression with the usual step asks for the whole request of nearly all jobs, whatever its loss.
PREDICTORS = (
    *("requested", "actual", "ave2", "ave(3)", "mean", "median", "quantile(0.9)", "similar", "similar(0.3,jobs=2)"),
    *("groups", "groups(user.processors,shrink=0)", "groups(user.executable,mean=arithmetic)", "e-loss", "log-nag"),
    *("nag(over=linear,under=square,weight=wide,step=5,penalty=0)", "log-nag(pairs)"),
)
PASSES: Table = {
    "interval": (0.6, interval),
    "depth": (0.4, depth),
    "resolution": (0.4, (1, 7, 30)),
    "origin": (0.15, (13, 30, 40)),
    "window": (0.4, (10, 40, 100)),
    "reserve": (0.25, (0, 1, 2)),
    "reserve_age": (0.2, (5, 30)),
    "partition_reserve": (0.15, (1, 2)),
    "array_reserve": (0.15, (0, 0, 1)),
    "partitions": (0.2, ("first",)),
    "limits": (0.25, ("stop",)),
    "queue_depth": (0.3, (1, 2, 5)),
    "partition_queue_depth": (0.15, (1, 2)),
    "delay": (0.4, (0, 1, 10)),
    "overtime": (0.25, (5, 30, 60, "all")),
    "tick": (0.35, (1, 2, 5)),
    "user_depth": (0.2, (1, 2)),
    "partition_depth": (0.1, (1, 3)),
    "association_depth": (0.1, (1, 2)),
    "user_partition_depth": (0.1, (1, 2)),
    "starts": (0.15, (1, 2)),
    "main_starts": (0.15, (1, 2)),
    "plan_size": (0.2, (1, 3, 5)),
    "ties": (0.6, ("number",)),
    "wf_depth": (0.1, (1, 3)),
    "wf_plan": (0.1, ("ready",)),
    "wf_count": (0.1, ("workflows",)),
    "hetjob_prio": (0.25, ("min", "avg", "max")),
    "hetjob_immediate": (0.2, ("yes",)),
    "switch_wait": (0.2, (0, 10)),
    "version": (0.4, version),
}
MOST_OPTIONS = 5
"""Options of Slurm's passes at a time."""
ON_NODES: Table = {"serial": (0.15, ("last",)), "busy": (0.15, ("first",))}
PLACEMENTS = ("first", "weight", "best", "spread", "fgd", "consecutive", "consecutive", "consecutive")
"""Beside the nodes of few switches."""
BESIDE_SLURM = {"starvation", "speculation", "order of events", "fixed"}
"""What Slurm's passes do not have."""
OTHERS: Table = {"starvation": (0.12, (0, 5, 60)), "window": (0.1, (1, 2, 5))}


def drawn_policy(draw: Draw) -> str:
    """Return a policy as text."""
    if "equal" in draw.wanted:
        return "fcfs"
    if draw.has("multifactor", 0.0 if "predictions" in draw.wanted else 0.3):
        return _multifactor(draw)
    if "predictions" in draw.wanted:
        return draw.choice(BY_RUN_TIME)
    return draw.choice(POLICIES) if draw.chance(0.7) else f'"{draw.choice(FORMULAS)}"'


def _multifactor(draw: Draw) -> str:
    parts, about = [], draw.wanted & FACTORS.keys()
    for name, (share, weights, options) in FACTORS.items():
        if draw.has(name, share / 4 if about else share):  # others would outweigh what it is about
            parts += [f"{name}={draw.choice(weights[-2:] if name in about else weights)}", *draw.text(options)]
    parts = parts or ["age=10"]
    return f"multifactor({','.join([*parts, *draw.text({'period': (0.7, (1, 7, 30, 60))})])})"


def drawn_scheduler(draw: Draw, *, nodes: bool, switches: bool, heterogeneous: bool) -> str:
    """Return a scheduler as text, for a cluster of nodes or a number of processors."""
    policy = drawn_policy(draw)
    own = f"@{_predictor(draw)}" if draw.has("predictions", 0.25) else ""
    backfilling = _backfilling(draw, policy, nodes=nodes, heterogeneous=heterogeneous)
    others = draw.text(OTHERS)
    options = [] if backfilling.startswith("+slurm") else others
    if backfilling and draw.has("predictions", 0.6 if own else 0.4):
        predictor = _predictor(draw)
        corrected = predictor not in ("requested", "actual") and draw.chance(0.5)
        backfilling += f"@{predictor}" + (f"/{draw.one('requested', 'incremental', 'doubling')}" if corrected else "")
    if backfilling.startswith("+conservative") and draw.has("fixed", 0.3):
        options.append("reservations=fixed")
    if nodes and draw.has("placement", 0.6):
        whole = "consecutive" if "placement" in draw.wanted else draw.choice(PLACEMENTS)
        options.append(f"placement={'switches' if switches and draw.has('few switches', 0.6) else whole}")
    return ",".join([policy + own + backfilling, *options])


def _predictor(draw: Draw) -> str:
    wanted = [one for one in PREDICTORS if any(f"{name}=" in one for name in draw.wanted)]
    return draw.choice(wanted or PREDICTORS)


def _backfilling(draw: Draw, policy: str, *, nodes: bool, heterogeneous: bool) -> str:
    beside = bool(draw.wanted & BESIDE_SLURM)
    kind = 1.0 if draw.has("slurm", 0.5 * (not beside)) else draw.random() * (1 - 0.3 * beside)
    if "fixed" in draw.wanted and not heterogeneous:
        return "+conservative"
    if kind < 0.24 and "speculation" not in draw.wanted:
        return ""
    if kind < 0.7 and not heterogeneous:
        return f"+easy:{draw.choice(POLICIES)}" if draw.chance(0.3) else "+easy"
    if kind < 1.0 and not heterogeneous:
        return "+conservative"
    options = draw.text(PASSES, MOST_OPTIONS)
    if policy.startswith("multifactor"):
        options += draw.text({"reserve_priority": (0.2, (20, 100, 400))})
    if nodes:
        options += draw.text(ON_NODES)
    elif draw.has("whole nodes", 0.4):
        options.append(f"{draw.one('node', 'shared', 'shared')}={draw.randint(2, 4)}")
    return f"+slurm({','.join(options)})" if options else "+slurm"


def with_python(draw: Draw, text: str) -> Scheduler:
    """Return a scheduler whose order, run times or passes come from functions of Python."""
    scheduler = Scheduler.parse(text)
    if draw.has("own_pass", 0.35):
        own = draw.one(Reserving(draw.randint(0, 3)), Everything(draw.randint(0, 3), draw.randint(0, 2)))
        return Scheduler(scheduler.policy, own, window=scheduler.window, placement=scheduler.placement)
    if draw.chance(0.5):
        return replace(scheduler, runtimes=TwiceTheLast(), correction="incremental")
    return replace(scheduler, policy=FunctionPolicy(draw.one(small_work_and_age, _small_and_short)))


def _small_and_short(p, q):
    return p * q
