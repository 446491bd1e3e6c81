"""What a scheduler text can be made of, for people who do not want to guess: the grammar, printed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from textwrap import fill
from typing import Any

from schedlab.scheduler.grammar import (
    ALIASES,
    BACKFILLING,
    CORRECTION,
    EXAMPLES,
    OPTIONS,
    ORDERED,
    OWN_PREDICTOR,
    PARTS,
    POLICIES,
    RUN_TIMES,
    SYNTAX,
    Entry,
)
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import POLICIES as POLICY_CLASSES
from schedlab.scheduler.request_method import METHODS

POLICY_TITLE = (
    "Policies: the smallest score goes first; p run time assumed for the order, q processors, r submit time, w wait so "
    "far, R request"
)
WIDTH = 110


def catalogue() -> dict[str, Any]:
    """Return everything that a scheduler text may say, with formulas and sources."""
    return {
        "grammar": SYNTAX,
        "parts": [part._asdict() for part in PARTS],
        "policies": {
            name: {
                "formula": kind.formula,
                "meaning": POLICIES[name].meaning,
                "aliases": list(POLICIES[name].aliases),
            }
            for name, kind in POLICY_CLASSES.items()
        },
        "multifactor": {"formula": Multifactor.formula, "arguments": _arguments(POLICIES["multifactor"])},
        "backfilling": {entry.written: entry.meaning for entry in (*BACKFILLING.values(), ORDERED)},
        "slurm": _arguments(BACKFILLING["slurm"]),
        "run_times": {entry.written: entry.meaning for entry in (*RUN_TIMES.values(), OWN_PREDICTOR)},
        "groups": _arguments(RUN_TIMES["groups"]),
        "nag": _arguments(RUN_TIMES["nag"]),
        "corrections": _meanings(CORRECTION),
        "request_methods": METHODS,
        "aliases": ALIASES,
        "options": {name: f"{option.meaning}; default: {option.default}" for name, option in OPTIONS.items()},
        "examples": EXAMPLES,
    }


def catalogue_text() -> str:
    """Return the same for a terminal."""
    known = catalogue()
    rows = []
    for name, policy in known["policies"].items():
        also = f" Aliases: {', '.join(policy['aliases'])}." if policy["aliases"] else ""
        rows.append((name, policy["formula"], policy["meaning"] + also))
    rows.append(("multifactor(...)", "a weighted sum", f"{POLICIES['multifactor'].meaning} Arguments below."))
    rows.append(('"..."', "any formula of p q r w R ...", "In double quotes, with + - * / ** and functions."))
    rows.append(("@FILE", "that of a policy file", "Such as learn fit and search write; @policy.json+easy."))
    rows.append(("@agent:FILE", "no formula", "A trained agent, which decides all by itself; agent train writes one."))
    name_width, formula_width = (max(len(row[column]) for row in rows) for column in (0, 1))
    lines = [SYNTAX, "", *(_entry(f"{part.name:<13}", f"{part.values}; default: {part.default}") for part in PARTS)]
    lines += ["", fill(POLICY_TITLE, WIDTH)]
    lines += [_entry(f"{name:<{name_width}}  {formula:<{formula_width}}", text) for name, formula, text in rows]
    sections = {
        "Arguments of multifactor": known["multifactor"]["arguments"],
        "Backfilling": known["backfilling"],
        "Arguments of slurm": known["slurm"],
        "Run times": known["run_times"],
        "Arguments of groups": known["groups"],
        "Arguments of nag": known["nag"],
        "Corrections, when a job outlives its prediction": known["corrections"],
        "Options": known["options"],
        "Methods for requests=": known["request_methods"],
        "Whole schedulers": ALIASES,
    }
    for title, entries in sections.items():
        width = max(13, *map(len, entries))
        lines += ["", title, *(_entry(f"{name:<{width}}", meaning) for name, meaning in entries.items())]
    return "\n".join([*lines, "", "Examples", *(f"  {example}" for example in EXAMPLES)])


def _meanings(entries: Mapping[str, Entry]) -> dict[str, str]:
    return {name: entry.meaning for name, entry in entries.items()}


def _arguments(entry: Entry) -> dict[str, str]:
    """Return what each argument means, its values if there are a few, and its default."""
    found = {}
    for name, (one, default) in entry.arguments.items():
        values = f": {' '.join(one.words)}" if set(one.words) - set(re.split(r"\W+", one.meaning)) else ""
        usual = "" if default == {} else f" ({default:g})" if isinstance(default, float) else f" ({one.write(default)})"
        found[name] = f"{one.meaning}{values}{usual}"
    return found


def _entry(name: str, meaning: str) -> str:
    return fill(meaning, WIDTH, initial_indent=f"  {name}  ", subsequent_indent=" " * (len(name) + 4))
