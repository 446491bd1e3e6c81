"""Deploy a policy on a stock Slurm: everything that an administrator installs."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from schedlab.atomic import atomic_path
from schedlab.errors import InputError
from schedlab.scheduler.policy import Policy
from schedlab.scheduler.predictor import REQUESTED, GroupMean, Predictor
from schedlab.scheduler.scheduler import Scheduler

Way = Literal["lua", "priority-loop", "site-factor", "rest"]

WAYS: dict[str, str] = {
    "lua": "a job_submit plugin sets the priority at submission",
    "priority-loop": "a daemon sets priorities through scontrol",
    "site-factor": "a daemon adds a site factor to Slurm's own priority through scontrol",
    "rest": "a daemon sets priorities through slurmrestd",
}

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

    def save(self, directory: str | PathLike[str]) -> list[Path]:
        """Write the files into a directory, and return their paths."""
        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
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
    dry_run: bool = False,
    origin: int = 0,
    default_minutes: int = 525_600,
) -> Deployment:
    """Return everything that deploys a policy on a stock Slurm.

    Parameters
    ----------
    policy
        A policy, such as `saf`, `f1`, a formula of p, q, r and w, or `saf@groups(...)`: p is then what runs of the same
        group used of their limits, see `GroupMean`. A whole scheduler, such as `saf@groups+easy`, deploys its order.
    way
        How, see `WAYS`. None: Lua for scores that are fixed at submission, else a daemon that sets priorities.
    partitions
        Jobs of other partitions are left alone; None: all.
    period
        Seconds between two looks of a daemon.
    dry_run
        Whether the Lua script only logs.
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
    >>> deploy("wfp3").way
    'priority-loop'
    """
    scheduler = Scheduler.parse(policy)
    chosen, predict = scheduler.policy, _prediction(scheduler.ranking)
    formula = formula_of(chosen)
    moving = chosen.changes_with_time or predict is not None
    taken = way or ("priority-loop" if moving else "lua")
    if taken not in WAYS:
        raise InputError(f"unknown way of deployment {taken!r}; known are {', '.join(WAYS)}")
    if taken == "lua" and moving:
        reason = "changes with time" if chosen.changes_with_time else "needs recent runs"
        raise InputError(f"{policy} {reason}, and Lua acts at submission only: take priority-loop, site-factor or rest")
    from schedlab import __version__

    values = {
        "TITLE": f"the order of {policy} ({formula}, smallest first)",
        "VERSION": __version__,
        "ORIGIN": str(origin),
        "DEFAULT_MINUTES": str(default_minutes),
        "PERIOD": str(period),
        "PREDICT": repr(predict),
        "WAY": {"priority-loop": "priority", "site-factor": "sitefactor"}.get(taken, taken),
        "WHAT": "the site factor" if taken == "site-factor" else "the priority",
        "DRY_RUN": "true" if dry_run else "false",
    }
    if taken == "lua":
        values["FORMULA"] = translated(formula, "lua")
        names = (
            "nil" if partitions is None else "{" + ", ".join(f"[{json.dumps(name)}]=true" for name in partitions) + "}"
        )
        written = {"job_submit.lua": _filled("job_submit.lua", values | {"PARTITIONS": names})}
    else:
        values["FORMULA"] = translated(formula, "python")
        names = repr(None if partitions is None else sorted(partitions))
        written = {"priority_daemon.py": _filled("priority_daemon.py.in", values | {"PARTITIONS": names})}
        written["schedlab-priority.service"] = _filled("schedlab-priority.service", values)
    part = "README-lua.md" if taken == "lua" else "README-daemon.md"
    written["README.md"] = _filled(part, values | {"HOW": WAYS[taken]})
    return Deployment(policy, taken, written, period)


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


def _filled(name: str, values: Mapping[str, str]) -> str:
    content = files("schedlab.slurm").joinpath("templates", name).read_text(encoding="utf-8")
    for key, value in values.items():
        content = content.replace(f"%{key}%", value)
    return content
