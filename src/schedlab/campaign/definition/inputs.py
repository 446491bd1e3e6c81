"""The inputs of a campaign: found, read and fingerprinted before anything runs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.sources.input import Input
from schedlab.campaign.sources.machine import cluster_in
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
        If a file is missing (all missing ones are named), cannot be read or has too few windows, or if two workloads
        have the same name.
    """
    entries = campaign.workloads
    _refuse_missing([file for one in entries for file in (*one.missing(base), *one.missing_files(base))], base)
    inputs: list[Input] = []
    for number, entry in enumerate(entries):
        machine = entry.machine_files(base)
        before = {item.path: item for item in known if (item.entry, item.machine) == (number, machine)}
        found = list(entry.inputs(number, base, before, machine))
        _refuse_other_size(found)
        inputs += found
    name, times = Counter(item.workload for item in inputs).most_common(1)[0]
    if times > 1:
        raise InputError(f"two workloads are called {name}; give their entries different names (name = ...)")
    return inputs


def _refuse_other_size(inputs: list[Input]) -> None:
    """Raise InputError if jobs are made for another number of processors than their cluster has."""
    for item in inputs:
        cluster = cluster_in(item.machine)
        if cluster is not None and cluster.processors != item.processors:
            raise InputError(
                f"{item.workload}: its jobs are for {item.processors:,} processors, and the cluster "
                f"{item.machine.cluster} has {cluster.processors:,}"
            )


def _refuse_missing(patterns: list[str], base: Path) -> None:
    if patterns:
        what = "this file is" if len(patterns) == 1 else f"these {len(patterns)} files are"
        unset = (
            "; is the environment variable set?" if any("$" in os.path.expandvars(name) for name in patterns) else ""
        )
        raise InputError(f"{what} missing (relative paths start from {base.resolve()}): {', '.join(patterns)}{unset}")
