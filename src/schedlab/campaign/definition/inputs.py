"""The inputs of a campaign: found, read and fingerprinted before anything runs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.sources.input import Input
from schedlab.errors import InputError


def find_inputs(campaign: Campaign, base: Path, known: Sequence[Input] = ()) -> list[Input]:
    """Find, read and fingerprint all files of a campaign.

    Parameters
    ----------
    campaign
        The campaign.
    base
        Directory that relative paths start from.
    known
        What was found before for the same entries: a file that has not changed is not read again.

    Raises
    ------
    InputError
        If a trace is missing (all missing ones are named), cannot be read or has too few windows, or if two workloads
        have the same name.
    """
    _refuse_missing([file for entry in campaign.workloads for file in entry.missing(base)], base)
    inputs: list[Input] = []
    for number, entry in enumerate(campaign.workloads):
        inputs += entry.inputs(number, base, {item.path: item for item in known if item.entry == number})
    name, times = Counter(item.workload for item in inputs).most_common(1)[0]
    if times > 1:
        raise InputError(f"two workloads are called {name}; give their entries different names (name = ...)")
    return inputs


def _refuse_missing(patterns: list[str], base: Path) -> None:
    if patterns:
        what = "this trace is" if len(patterns) == 1 else f"these {len(patterns)} traces are"
        unset = (
            "; is the environment variable set?" if any("$" in os.path.expandvars(name) for name in patterns) else ""
        )
        raise InputError(f"{what} missing (relative paths start from {base.resolve()}): {', '.join(patterns)}{unset}")
