"""What agents may decide: the arguments of environments, checked, as rules and policies; on processors and on nodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal, get_args

from schedlab.errors import InputError
from schedlab.gym.moves import BACKFILL, COMMIT, INSPECT, NEXT, PICK, Rules
from schedlab.scheduler.backfilling import Easy
from schedlab.scheduler.formula import Formula
from schedlab.scheduler.scheduler import Scheduler

Decision = Literal["next", "backfill", "inspect", "policy"]
KINDS = dict(zip(get_args(Decision), (NEXT, BACKFILL, INSPECT, PICK), strict=True))

POLICIES = ("fcfs+easy", "saf+easy", "spf+easy", "f1+easy", "wfp3+easy")
"""Among which an agent chooses, unless it is told others."""


def rules_for(
    processors: int,
    *,
    decision: Decision = "next",
    base: str = "fcfs",
    policies: Sequence[str] = POLICIES,
    commit: bool = False,
    slots: int = 128,
    order: str = "fcfs",
    pause: int = 600,
    period: int = 3_600,
    increments: bool = True,
) -> tuple[list[str], Rules]:
    """Return the texts of the policies that the rules name, and the rules; parameters as for `SchedulingEnv`.

    Policy 0 is the base; where a policy is what is decided, those to choose from come first.

    Raises
    ------
    InputError
        If an argument makes no sense.
    """
    if decision not in KINDS:
        raise InputError(f"decision={decision!r} is unknown; known are {', '.join(KINDS)}")
    if commit and decision != "next":
        raise InputError(f"commit=True needs decision='next', not {decision!r}: remove it")
    for name, value in (("slots", slots), ("pause", pause)):
        if not isinstance(value, int) or value < 1:
            raise InputError(f"{name}={value!r}: give a whole number, at least 1")
    if not isinstance(period, int) or period < 0:
        raise InputError(f"period={period!r}: give whole seconds, or 0 to choose at every event")
    if decision == "policy" and not policies:
        raise InputError("no policies to choose from: give policies=")
    kind = COMMIT if commit else KINDS[decision]
    texts = [Scheduler.parse(one).text for one in (policies if kind == PICK else [base])]
    for text in texts:
        formula_of(text)
    choices = len(texts)
    shown = Scheduler.parse(order).text
    if formula_of(shown).uses_waiting_time:
        raise InputError(f"order={order!r} changes with time; give an order of visible jobs that does not")
    if shown not in texts:
        texts.append(shown)
    actions = {NEXT: slots + 1, BACKFILL: slots + 1, INSPECT: 2, PICK: choices, COMMIT: slots}[kind]
    rules = Rules(
        *(kind, processors, slots, actions, texts.index(shown), pause, period),
        dense=increments,
        at_end=not increments,
    )
    return texts, rules


def known_policy(policy: str, texts: Sequence[str], rules: Rules) -> str:
    """Return the text of a policy that an agent is to play.

    Raises
    ------
    InputError
        If it cannot be played, or not by these rules.
    """
    text = Scheduler.parse(policy).text
    formula_of(text)
    if rules.kind == PICK and text not in texts[: rules.actions]:
        raise InputError(f"{text} is not one of the policies to choose from: {', '.join(texts[: rules.actions])}")
    return text


def formula_of(text: str) -> Formula:
    """Return the formula of a policy that an environment can follow.

    Raises
    ------
    InputError
        If the scheduler is something else than a policy, or a policy with EASY, by requested times.
    """
    scheduler = Scheduler.parse(text)
    policy = scheduler.policy
    plain = Scheduler(policy, scheduler.backfill if scheduler.backfill == Easy() else "none")
    if policy.program is None or policy.program.uses_statistics or dataclasses.replace(plain) != scheduler:
        raise InputError(
            f"{scheduler.text}: inside an environment, policies are formulas without backfilling or with +easy, by "
            'requested times, such as "saf" or "wfp3+easy"; compare with any other scheduler by evaluate()'
        )
    return policy.program
