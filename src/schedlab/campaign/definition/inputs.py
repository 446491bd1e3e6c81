"""The sources of a campaign's workloads: found, read and fingerprinted before anything runs."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.sources.entry import Entry, ModelEntry, StochasticEntry, TraceEntry, Windows
from schedlab.campaign.sources.experiment import ExperimentEntry
from schedlab.campaign.sources.experiment_files import experiment_inputs
from schedlab.campaign.sources.input import Input
from schedlab.errors import InputError
from schedlab.speculate.assignment import assign_laws, jobs_beyond_laws, read_laws
from schedlab.streams import workload_name
from schedlab.workload.cleaning import clean
from schedlab.workload.files import file_sha256, read_workload
from schedlab.workload.preceding import preceding_jobs
from schedlab.workload.sampling import windows
from schedlab.workload.workload import Workload


def find_inputs(campaign: Campaign, base: Path, known: Sequence[Input] = ()) -> list[Input]:
    """Find, read and fingerprint all sources of a campaign.

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
    files = {
        number: _files_of(entry, base)
        for number, entry in enumerate(campaign.workloads)
        if isinstance(entry, TraceEntry)
    }
    _refuse_missing([pattern for found in files.values() for pattern, paths in found if not paths], base)
    inputs = list(_inputs(campaign, base, files, {(item.entry, item.path): item for item in known}))
    names = [item.workload for item in inputs]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two workloads are called {name}; give their entries different names (name = ...)")
    return inputs


def _inputs(
    campaign: Campaign,
    base: Path,
    files: dict[int, list[tuple[str, list[str]]]],
    known: dict[tuple[int, str], Input],
) -> Iterator[Input]:
    for number, entry in enumerate(campaign.workloads):
        if isinstance(entry, ExperimentEntry):
            yield from experiment_inputs(entry, number, base)
            continue
        if isinstance(entry, ModelEntry | StochasticEntry):
            cut = _number_of_windows(entry.windows, None, entry.name or entry.generate)
            yield Input(entry.name or entry.generate, number, "", "", entry.jobs, entry.processors, cut)
            continue
        paths = list(dict.fromkeys(path for _, found in files[number] for path in found))
        for path in paths:
            name = _name_of(entry, path, alone=len(paths) == 1)
            yield _trace_input(entry, number, name, path, _laws_of(entry, base), known.get((number, path)))


def _files_of(entry: TraceEntry, base: Path) -> list[tuple[str, list[str]]]:
    """Return the files of each pattern of an entry, sorted."""
    found = []
    for pattern in entry.trace:
        expanded = _expanded(pattern)
        # A file may have brackets in its name, and so may the directory that patterns start from.
        names = [expanded] if (base / expanded).is_file() else glob.glob(expanded, root_dir=base)
        found.append((pattern, sorted(str(base / name) for name in names if (base / name).is_file())))
    return found


def _expanded(path: str) -> str:
    return os.path.expandvars(os.path.expanduser(path))


def _laws_of(entry: TraceEntry, base: Path) -> str:
    return "" if entry.laws is None else str(base / _expanded(entry.laws))


def _name_of(entry: TraceEntry, path: str, *, alone: bool) -> str:
    stem = workload_name(path)
    return stem if entry.name is None else entry.name if alone else f"{entry.name}/{stem}"


def _refuse_missing(patterns: list[str], base: Path) -> None:
    if patterns:
        what = "this trace is" if len(patterns) == 1 else f"these {len(patterns)} traces are"
        unset = (
            "; is the environment variable set?" if any("$" in os.path.expandvars(name) for name in patterns) else ""
        )
        raise InputError(f"{what} missing (relative paths start from {base.resolve()}): {', '.join(patterns)}{unset}")


def _trace_input(entry: TraceEntry, number: int, name: str, path: str, laws: str, known: Input | None) -> Input:
    sha256, laws_sha256 = file_sha256(path), file_sha256(laws) if laws else ""
    if known is not None and (known.sha256, known.laws_sha256, known.workload) == (sha256, laws_sha256, name):
        return known
    jobs = read_trace(path, entry.clean, entry.processors, entry.requests, laws, entry.dependencies)
    if jobs.processors is None:
        raise InputError(f"{path}: the size of the machine is unknown; give processors in the entry of {name}")
    only_cut = not entry.load and entry.resample is None
    cut = _number_of_windows(entry.windows, jobs if only_cut else None, name)
    beyond, with_law = jobs_beyond_laws(jobs)
    return Input(
        name, number, path, sha256, len(jobs), jobs.processors, cut, laws, laws_sha256, with_law, beyond_law=beyond
    )


def read_trace(
    path: str, rules: str, processors: int | None, requests: str | None, laws: str = "", dependencies: str = "none"
) -> Workload:
    """Read and clean a log as an entry says; parameters as for `TraceEntry`, no laws if empty."""
    workload = read_workload(path, processors)
    try:
        if dependencies == "preceding":
            workload = workload.replace(dependencies=preceding_jobs(workload)[0])
        workload = clean(workload, rules)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if laws:
        workload = assign_laws(workload, read_laws(laws))
    return workload if requests is None else workload.replace(requests_enforced=requests == "enforced")


def _number_of_windows(wanted: Windows | None, jobs: Workload | None, name: str) -> int:
    """Return how many windows are cut, and see to it that a log that is only cut has as many as that."""
    if wanted is None:
        return 0
    if jobs is None:
        if wanted.count == "all":
            raise InputError(f"{name}: jobs of a model differ in each repetition; give windows a number as count")
        return wanted.count
    limit = None if wanted.count == "all" else wanted.count
    there = sum(1 for _ in islice(windows(jobs, int(wanted.length), wanted.state), limit))
    if limit is not None and there < limit:
        raise InputError(f"{name}: {limit} windows are asked for, but there are only {there}; lower count")
    if not set(range(there)) - set(wanted.skip):
        raise InputError(f"{name}: no window is left: there are {there}, and skip leaves out all of them")
    return there


def entry_of(campaign: Campaign, item: Input) -> Entry:
    """Return the entry that an input belongs to."""
    return campaign.workloads[item.entry]
