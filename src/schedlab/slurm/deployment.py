"""Deploy a policy on a stock Slurm: everything that an administrator installs."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from schedlab.atomic import atomic_path, make_directory
from schedlab.errors import InputError, whole_number
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import Policy
from schedlab.scheduler.predictor import REQUESTED, GroupMean, Predictor
from schedlab.scheduler.scheduler import Scheduler
from schedlab.scheduler.site_factor import codes_of
from schedlab.slurm.own_priority import HIGHEST_WEIGHT, WEIGHT, OwnPriority, counting, not_counting

Way = Literal["lua-site-factor", "site-factor", "lua", "priority-loop", "rest"]

WAYS: dict[str, str] = {
    "lua-site-factor": "a job_submit plugin adds a site factor to Slurm's own priority at submission",
    "site-factor": "a daemon adds a site factor to Slurm's own priority through scontrol",
    "lua": "a job_submit plugin sets the priority at submission, instead of Slurm's own",
    "priority-loop": "a daemon sets priorities through scontrol, instead of Slurm's own",
    "rest": "a daemon sets priorities through slurmrestd, instead of Slurm's own",
}

WITHIN = ("lua-site-factor", "site-factor")
"""Ways within Slurm's own priority: age, fair share, QOS and partition go on counting."""

AT_SUBMISSION = ("lua-site-factor", "lua")
"""Ways that act once, as a job is submitted; the others are daemons."""

KNOWN_TO_SQUEUE = {"user", "account", "partition", "request", "processors"}
"""The attributes of groups that the daemon can ask for."""

_LUA = {"ln": "math.log"} | {name: f"math.{name}" for name in ("log", "log10", "sqrt", "exp", "abs", "min", "max")}
_PYTHON = {"log": "math.log", "ln": "math.log", "log2": "math.log2", "log10": "math.log10", "sqrt": "math.sqrt",
           "exp": "math.exp", "abs": "abs", "min": "min", "max": "max"}  # fmt: skip
_OPERATORS: dict[type[ast.AST], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


@dataclass(frozen=True, slots=True)
class Deployment:
    """What is to be installed: files by name, and which way it takes.

    Parameters
    ----------
    policy
        Scheduler text of the policy.
    way
        One of `WAYS`.
    files
        Contents by name.
    period
        Seconds between two looks of a daemon.
    """

    policy: str
    way: str
    files: Mapping[str, str]
    period: int = 30

    def live(self) -> Deployment:
        """Return it as it is once somebody has edited DRY_RUN; as written, it only logs what it would do."""
        edited = dict(self.files)
        for name, before, after in (
            ("job_submit.lua", "local DRY_RUN = true", "local DRY_RUN = false"),
            ("priority_daemon.py", "DRY_RUN = True", "DRY_RUN = False"),
        ):
            if name in edited:
                edited[name] = edited[name].replace(before, after, 1)
        return replace(self, files=edited)

    def save(self, directory: str | PathLike[str]) -> list[Path]:
        """Write the files into a directory, and return their paths."""
        directory = make_directory(directory)
        paths = []
        for name, content in self.files.items():
            with atomic_path(directory / name) as temporary:
                temporary.write_text(content, encoding="utf-8")
                if name.endswith(".py"):
                    temporary.chmod(0o755)
            paths.append(directory / name)
        return paths


def deploy(
    policy: str,
    *,
    way: Way | None = None,
    partitions: Sequence[str] | None = None,
    period: int = 30,
    weight: int | None = None,
    own: OwnPriority | None = None,
    consequences: str = "",
    origin: int = 0,
    default_minutes: int = 525_600,
) -> Deployment:
    """Return everything that deploys a policy on a stock Slurm. As written, it only logs what it would do.

    Parameters
    ----------
    policy
        A policy, such as `saf`, `f1`, a formula of p, q, r and w, or `saf@groups(...)`: p is then what runs of the same
        group used of their limits, see `GroupMean`. A whole scheduler, such as `saf@groups+easy`, deploys its order.
    way
        How, see `WAYS`. None: within Slurm's own priority, by Lua for scores that are fixed at submission, else by a
        daemon; where Slurm has no priorities of its own (priority/basic), instead of them.
    partitions
        Jobs of other partitions are left alone; None: all.
    period
        Seconds between two looks of a daemon.
    weight
        Within Slurm's own priority: what the first job gets more than the last, in points of that priority. None: what
        `own` suggests, or `WEIGHT`.
    own
        What Slurm's own priority is made of at the site; None: not known.
    consequences
        Who will wait longer, in sentences, for the README; empty: it says how to find out.
    origin
        Unix time from which the submit time r counts.
    default_minutes
        Request of a job where neither it nor its partition has a time limit; a year, as Slurm plans it.

    Raises
    ------
    InputError
        If the policy is no formula, or does not go with the way.

    Examples
    --------
    >>> sorted(deploy("saf").files)
    ['README.md', 'job_submit.lua']
    >>> deploy("saf").way, deploy("wfp3").way, deploy("eaf").way
    ('lua-site-factor', 'site-factor', 'site-factor')
    """
    scheduler = Scheduler.parse(policy)
    chosen, predict = scheduler.policy, _prediction(scheduler.ranking)
    formula = formula_of(chosen)
    moving = _moves(scheduler)
    taken = way or usual_way(policy, within=own is None or not own.basic)
    if taken not in WAYS:
        raise InputError(f"unknown way of deployment {taken!r}; known are {', '.join(WAYS)}")
    if taken in AT_SUBMISSION and moving:
        reason = "changes with time" if chosen.changes_with_time else "needs recent runs"
        raise InputError(f"{policy} {reason}, and Lua acts at submission only: take site-factor, priority-loop or rest")
    if taken in WITHIN and own is not None and own.basic:
        raise InputError("PriorityType=priority/basic has no site factors: take lua, priority-loop or rest")
    if weight is not None and not 1 <= weight <= HIGHEST_WEIGHT:
        raise InputError(f"weight={weight}: must be from 1 to {HIGHEST_WEIGHT:,} points")
    points = weight or (own.suggested_weight if own is not None else WEIGHT)
    values = _values(policy, formula, taken, predict, origin, default_minutes, period) | {"WEIGHT": str(points)}
    language: Literal["lua", "python"] = "lua" if taken in AT_SUBMISSION else "python"
    values["FORMULA"] = translated(formula, language)
    values["PARTITIONS"] = _partitions(partitions, language)
    if language == "lua":
        low, high = codes_of(chosen, origin)
        written = {"job_submit.lua": _filled("job_submit.lua", values | {"LOW": str(low), "HIGH": str(high)})}
    else:
        written = {"priority_daemon.py": _filled("priority_daemon.py.in", values)}
        written["schedlab-priority.service"] = _filled("schedlab-priority.service", values)
    counts = counting(own, points) if taken in WITHIN else not_counting(own)
    told = {
        "HOW": WAYS[taken],
        "COUNTS": counts,
        "PAYS": consequences or _find_out(policy, taken, weight, at_site=own is not None),
        "SEED": _filled("seed.md", values) if predict else "",
    }
    part = "README-lua.md" if language == "lua" else "README-daemon.md"
    written["README.md"] = _filled(part, values | told)
    return Deployment(policy, taken, written, period)


def usual_way(policy: str, *, within: bool = True) -> Way:
    """Return the way that a policy is deployed without being told: Lua for scores that are fixed at submission.

    Parameters
    ----------
    policy
        As for `deploy`.
    within
        Whether within Slurm's own priority, or instead of it.

    Examples
    --------
    >>> usual_way("saf"), usual_way("eaf", within=False)
    ('lua-site-factor', 'priority-loop')
    """
    moving = _moves(Scheduler.parse(policy))
    if within:
        return "site-factor" if moving else "lua-site-factor"
    return "priority-loop" if moving else "lua"


def deployed_as(policy: str, simulated: Scheduler) -> Deployment:
    """Return a policy as it counts in a simulation: as one factor of so many points, or in place of all priorities.

    Examples
    --------
    >>> text = "multifactor(age=5,site=700,order=saf)+slurm"
    >>> deployed_as("saf", Scheduler.parse(text)).way, deployed_as("saf", Scheduler.parse("saf+slurm")).way
    ('lua-site-factor', 'lua')
    """
    own = simulated.policy
    if isinstance(own, Multifactor) and own.order:
        return deploy(policy, way="lua-site-factor", weight=int(own.site))
    return deploy(policy, way=usual_way(policy, within=False))


def _moves(scheduler: Scheduler) -> bool:
    """Return whether scores change while a job waits, or depend on runs that have ended."""
    return scheduler.policy.changes_with_time or scheduler.ranking != REQUESTED


def _values(
    policy: str, formula: str, way: str, predict: dict[str, Any] | None, origin: int, default_minutes: int, period: int
) -> dict[str, str]:
    """Return what all templates are filled with."""
    from schedlab import __version__

    return {
        "TITLE": _one_line(f"the order of {policy} ({formula}, smallest first)"),
        "VERSION": __version__,
        "ORIGIN": str(whole_number("origin", origin)),
        "DEFAULT_MINUTES": str(whole_number("default_minutes", default_minutes)),
        "PERIOD": str(whole_number("period", period)),
        "PREDICT": repr(predict),
        "WAY": {"priority-loop": "priority", "site-factor": "sitefactor"}.get(way, way),
        "WHAT": "the site factor" if way in WITHIN else "the priority",
    }


def _partitions(names: Sequence[str] | None, language: str) -> str:
    if language == "python":
        return ascii(None if names is None else sorted(names))
    return "nil" if names is None else "{" + ", ".join(f"[{_lua_text(name)}]=true" for name in names) + "}"


def _find_out(policy: str, way: str, weight: int | None, *, at_site: bool) -> str:
    """Say how to find out who will wait longer; at a site that is imported, that is one command."""
    within, fixed = way in WITHIN, not _moves(Scheduler.parse(policy))
    points = (0 if not within else weight) if fixed else None
    asked = f"schedlab site what-if SITE --policy '{' '.join(policy.split())}'"
    asked = f"`{asked}{'' if points is None else f' --policy-points {points}'}`"
    how = f"{asked} replays" if at_site else f"`schedlab site import` and {asked} replay"
    told = (
        f"Not known yet. {how} your own jobs and {'says' if at_site else 'say'} who gains and who pays; "
        "`schedlab deploy --site SITE` then writes it here."
    )
    if not within or fixed:
        return told
    return (
        f"{told} That simulates the policy in place of Slurm's own priorities: of one factor beside them, as these "
        "files install it, there is no forecast: its scores change while jobs wait or depend on runs that have ended."
    )


def _prediction(runtimes: Predictor) -> dict[str, Any] | None:
    """Return what the daemon needs to know of a predictor, None for requests.

    Raises
    ------
    InputError
        If the daemon cannot predict so.
    """
    if runtimes == REQUESTED:
        return None
    if not isinstance(runtimes, GroupMean) or not set(runtimes.attributes) <= KNOWN_TO_SQUEUE:
        raise InputError(
            f"deployed are @requested and @groups(...) of {', '.join(sorted(KNOWN_TO_SQUEUE))}, not @{runtimes.text}"
        )
    facts = {"geometric": runtimes.mean == "geometric", "shrink": runtimes.shrink, "decay": runtimes.decay}
    return {"by": list(runtimes.attributes)} | facts


def formula_of(policy: Policy) -> str:
    """Return the formula of a policy.

    Raises
    ------
    InputError
        If it has none.
    """
    program = policy.program
    if program is None or policy.name in ("multifactor",):
        raise InputError(f"{policy.text} is not a formula of p, q, r and w, so it cannot be written for Slurm")
    if program.uses_statistics:
        raise InputError(
            f"{policy.text} asks for statistics of expected run times, which a deployment does not keep; a deployment "
            "orders by p, which groups predict: saf@groups+easy"
        )
    return program.text


def translated(formula: str, language: Literal["lua", "python"]) -> str:
    """Return a formula as an expression of Lua or Python.

    Examples
    --------
    >>> translated("p^2 * log2(q) - 1", "lua")
    '(((p ^ 2.0) * (math.log(math.max(q, 1e-300)) / math.log(2))) - 1.0)'
    """
    tree = ast.parse(formula.strip().replace("^", "**"), mode="eval").body
    return _expression(tree, language)


def _expression(node: ast.expr, language: str) -> str:
    if isinstance(node, ast.Constant):
        return repr(float(node.value))  # type: ignore[arg-type]
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.UnaryOp):
        inner = _expression(node.operand, language)
        return f"(-{inner})" if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp):
        sign = ("^" if language == "lua" else "**") if isinstance(node.op, ast.Pow) else _OPERATORS[type(node.op)]
        return f"({_expression(node.left, language)} {sign} {_expression(node.right, language)})"
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    arguments = ", ".join(_expression(argument, language) for argument in node.args)
    if node.func.id.startswith(("log", "ln")):
        arguments = f"{'math.max' if language == 'lua' else 'max'}({arguments}, 1e-300)"
    if language == "lua" and node.func.id == "log2":
        return f"(math.log({arguments}) / math.log(2))"
    return f"{(_LUA if language == 'lua' else _PYTHON)[node.func.id]}({arguments})"


def _one_line(text: str) -> str:
    """Return a text for comments, headings and unit files: one line of plain characters, others as question marks."""
    return re.sub(r"[^A-Za-z0-9 _.,:;()+*/^<>=@{}|&-]", "?", " ".join(text.replace('"', "").split()))


def _lua_text(text: str) -> str:
    """Return a text as a literal of any version of Lua, with all but plain characters as numbers of bytes.

    Examples
    --------
    >>> print(_lua_text('gpu"é'))
    "gpu\\034\\195\\169"
    """
    escaped = re.sub(rb"[^A-Za-z0-9 _.-]", lambda found: b"\\%03d" % found[0][0], text.encode())
    return f'"{escaped.decode()}"'


def _filled(name: str, values: Mapping[str, str]) -> str:
    content = files("schedlab.slurm").joinpath("templates", name).read_text(encoding="utf-8")
    for key, value in values.items():
        content = content.replace(f"%{key}%", value)
    return content
