"""Where a result comes from: versions, what the simulation was told, and a fingerprint of its input."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.scheduler.slurm_rules import naming_version
from schedlab.scheduler.slurm_versions import NEWEST
from schedlab.workload.links import link_facts
from schedlab.workload.resources import LABELS, NUMBERS, RARE, Labels
from schedlab.workload.workload import FIELDS, Workload

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule


def input_sha256(workload: Workload) -> str:
    """Return a fingerprint of the jobs: the SHA-256 of the 18 columns in order, little-endian, and of distributions.

    Dependencies, workflows, requests for resources and alternatives follow where there are some.

    Examples
    --------
    >>> a = Workload.from_columns(dict(submit_time=[0], run_time=[9], requested_processors=[1]), name="a")
    >>> input_sha256(a) == input_sha256(a.replace(name="b"))
    True
    >>> input_sha256(a) == input_sha256(a.replace(run_time=[8]))
    False
    """
    digest = hashlib.sha256()
    for field in FIELDS:
        column = getattr(workload, field)
        digest.update(np.ascontiguousarray(column, dtype=column.dtype.newbyteorder("<")).data)
    if workload.distribution is not None:
        digest.update(np.ascontiguousarray(workload.distribution, dtype="<i8").data)
        digest.update("\n".join((*workload.distributions, *workload.sequences)).encode())
    if (after := workload.dependencies) is not None:
        for numbers in (after.offsets, after.parents, after.delay):
            digest.update(np.ascontiguousarray(numbers, dtype="<i8").data)
    if workload.workflows is not None:
        digest.update(json.dumps(link_facts(workload), sort_keys=True).encode())
        for numbers in (workload.workflows.number, workload.workflows.task):
            digest.update(np.ascontiguousarray(numbers, dtype="<i8").data)
    if (resources := workload.resources) is not None:
        silent = set(RARE).difference(resources.said)
        for name in (name for name in NUMBERS if name not in silent):
            digest.update(np.ascontiguousarray(getattr(resources, name), dtype="<i8").data)
        for name in (name for name in LABELS if name not in silent):
            labels = getattr(resources, name).in_order()
            digest.update("\n".join(labels.names).encode())
            digest.update(np.ascontiguousarray(labels.codes, dtype="<i8").data)
    if workload.alternatives is not None:
        digest.update("\n".join(workload.alternatives.texts()).encode())
    _add_own(digest, workload)
    return digest.hexdigest()


def _add_own(digest: Any, workload: Workload) -> None:
    """Add the own columns to a fingerprint, if there are any."""
    if workload.own is not None:
        for name, column in workload.own.columns.items():
            digest.update(name.encode())
            if isinstance(column, Labels):
                digest.update("\n".join(column.in_order().names).encode())
            values = column.in_order().codes if isinstance(column, Labels) else column
            digest.update(np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).data)


def versions() -> dict[str, str]:
    """Return what computed a result: the versions of schedlab, of Python and of the libraries that numbers depend on.

    `commit` is that of a checkout, with "-dirty" if files in it have changed; it is left out of an installed package.

    Examples
    --------
    >>> sorted(set(versions()) - {"commit"})
    ['numba', 'numpy', 'pandas', 'pyarrow', 'python', 'schedlab', 'scipy']
    """
    libraries = ("schedlab", "numpy", "scipy", "numba", "pandas", "pyarrow")
    found = {"python": platform.python_version()} | {name: version(name) for name in libraries}
    commit = _commit()
    return found if commit is None else found | {"commit": commit}


def _commit() -> str | None:
    checkout = Path(__file__).parents[3]
    if not (checkout / ".git").exists():
        return None
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


@cache
def _commit_of_this_process() -> str | None:
    """Return the commit as it was when it was first asked for: many schedules are saved in a row."""
    return _commit()


def provenance(schedule: Schedule) -> dict[str, Any]:
    """Return what one needs to repeat a simulation and to trust its file.

    It is computed on demand: the fingerprint of a large workload takes longer than its simulation.

    Returns
    -------
    dict
        `schedlab`, `python`, `numpy` and `numba` (versions), `commit` (of a checkout, see `versions`), `workload` (its
        name), `input_sha256` (of the jobs, see above), `origin` (the file that they were read from with the SHA-256 of
        its bytes, and the rules that cleaned them, see `schedlab.workload.origin.Origin`; None for jobs made in
        memory), `scheduler`, `events`, `processors`, `specification`, and `utc_time`, the moment of this call.
    """
    commit = _commit_of_this_process()
    return {
        "schedlab": version("schedlab"),
        **({} if commit is None else {"commit": commit}),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": version("numba"),
        "workload": schedule.workload.name,
        "input_sha256": input_sha256(schedule.workload),
        "origin": None if schedule.workload.origin is None else schedule.workload.origin.to_dict(),
        "scheduler": naming_version(schedule.scheduler, NEWEST),
        "events": schedule.events,
        "processors": schedule.processors,
        "specification": dict(schedule.specification),
        "utc_time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def common_provenance(schedules: Iterable[Schedule]) -> dict[str, Any]:
    """Return what the provenance of several schedules of the same jobs has in common."""
    facts = provenance(next(iter(schedules)))
    return {name: value for name, value in facts.items() if name not in ("scheduler", "specification")}


def provenance_for_pages(schedule: Schedule) -> dict[str, Any]:
    """Return the provenance as texts and numbers by name; `input` has the file of the jobs and the cleaning rules."""
    found = {name: value for name, value in provenance(schedule).items() if not isinstance(value, Mapping | None)}
    origin = schedule.workload.origin
    return found if origin is None else found | {"input": "; ".join(origin.lines())}
