"""Ordering policies as text: a name, a formula, an agent, a function, or Slurm's multifactor priority."""

from __future__ import annotations

import re

from schedlab.errors import InputError
from schedlab.scheduler.agent import agent_at, agent_from_text
from schedlab.scheduler.function_policy import function_from_text, names_a_function
from schedlab.scheduler.grammar import ALIASES as SCHEDULERS
from schedlab.scheduler.grammar import BACKFILLING
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import ALIASES, POLICIES, FormulaPolicy, Policy
from schedlab.wording import did_you_mean


def policy_from_text(text: str) -> Policy:
    """Return the policy with this name or formula, or the function of this name (MODULE:FUNCTION).

    Raises
    ------
    InputError
        If it is neither a known name nor an allowed formula; the message lists the known names.

    Examples
    --------
    >>> policy_from_text("sjf")
    SPF()
    >>> policy_from_text('"p * q"').text
    '"p * q"'
    """
    plain = text.strip()
    if agent_at(plain):
        return agent_from_text(plain)
    if names_a_function(plain):
        return function_from_text(plain)
    name = ALIASES.get(plain.lower(), plain.lower())
    if name in POLICIES:
        return POLICIES[name]()
    if re.fullmatch(r"multifactor\s*(\(.*\))?", name, re.DOTALL):
        return Multifactor.parse(plain)
    if len(plain) >= 2 and plain[0] == plain[-1] and plain[0] in "\"'":
        return FormulaPolicy(plain[1:-1].strip())
    if plain and not plain.replace("_", "").replace("-", "").isalnum():
        return FormulaPolicy(plain)
    if (meant := SCHEDULERS.get(plain.lower())) is not None:
        raise InputError(f"{plain} is a whole scheduler ({meant}), not a policy: write it alone, or that text")
    if plain.lower() in BACKFILLING:
        raise InputError(f"{plain} is a kind of backfilling, not a policy: put it after one, as in fcfs+{plain}")
    near = did_you_mean(plain, [*POLICIES, *ALIASES, *SCHEDULERS, *BACKFILLING, "multifactor"])
    raise InputError(
        f"unknown policy {plain!r}; known are {' '.join(POLICIES)} multifactor(...), the schedulers "
        f"{' '.join(SCHEDULERS)}, a formula of p q r w R ... in double quotes, or MODULE:FUNCTION{near}"
    )
