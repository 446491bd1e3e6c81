"""Read and write the workloads of Batsim: jobs in JSON, each with a profile that sleeps for its run time."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from schedlab.arguments import explained
from schedlab.documents import parse_json
from schedlab.errors import InputError
from schedlab.streams import open_output, read_whole, workload_name
from schedlab.wording import shown
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.links import refuse_links
from schedlab.workload.origin import names_its_file
from schedlab.workload.workload import Workload

DELAY_TYPES = {4: "delay", 5: "DelayProfile"}
"""The type of profiles that only sleep, by Batsim's major version."""


@names_its_file("batsim")
@explained
def read_batsim(path: str | os.PathLike[str]) -> Workload:
    """Read a Batsim workload, of version 4 or 5, whose jobs have delay profiles.

    A job's delay becomes its run time, `res` its requested processors, `walltime` its requested time (unknown
    if it is -1 or absent), and `nb_res` the size of the machine. Fractions are rounded half up and counted.
    Jobs keep their numbers if all identifiers are whole numbers (a prefix like "w0!" is dropped); otherwise they
    are numbered from 1.

    Parameters
    ----------
    path
        The JSON file, plain or gzip-compressed.

    Raises
    ------
    InputError
        If the file cannot be read or is not a Batsim workload, or if a job has a profile of another type,
        whose run time only Batsim can compute.

    References
    ----------
    Dutot, Mercier, Poquet and Richard, "Batsim: a realistic language-independent resources and jobs
    management systems simulator", JSSPP 2016.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.json"
    >>> written = path.write_text('''{"nb_res": 4,
    ...     "jobs": [{"id": "0", "subtime": 10, "res": 2, "profile": "nap", "walltime": 60},
    ...              {"id": "1", "subtime": 11, "res": 1, "profile": "nap"}],
    ...     "profiles": {"nap": {"type": "DelayProfile", "delay": 20.25}}}''')
    >>> jobs = read_batsim(path)
    >>> jobs, jobs.run_time.tolist(), jobs.requested_time.tolist(), jobs.rounded
    (<Workload two: 2 jobs, 4 processors>, [20, 20], [60, -1], 2)
    """
    where = os.fspath(path)
    document = _load(path)
    jobs, profiles = document.get("jobs"), document.get("profiles")
    if not isinstance(jobs, list) or not isinstance(profiles, dict):
        raise InputError(f"{where}: this is not a Batsim workload, which has a list of jobs and a table of profiles")
    if not jobs:
        raise InputError(f"{where}: the workload has no jobs")
    rows = [_job(job, profiles, f"{where}, job {position + 1}") for position, job in enumerate(jobs)]
    names = ("submit_time", "requested_processors", "requested_time", "run_time")
    columns: dict[str, Any] = {
        name: np.array(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)
    }
    identifiers = [str(job.get("id", "")).rpartition("!")[2] for job in jobs]
    if all(text.isascii() and text.isdigit() and len(text) <= 18 for text in identifiers):
        columns["job_id"] = np.array([int(text) for text in identifiers])
    processors = document.get("nb_res")
    if processors is not None:
        processors = int(_number(document, "nb_res", where, least=1))
    return Workload.from_columns(columns, name=workload_name(path), processors=processors)


@explained
def write_batsim(workload: Workload, path: str | os.PathLike[str], version: int = 5) -> None:
    """Write a workload for Batsim, with one delay profile for each run time.

    Parameters
    ----------
    workload
        The jobs; all need a run time and processors. Without a machine size, that of the largest job is
        written. Requests for other resources are omitted.
    path
        The file; it appears when it is complete, compressed if its name ends with ".gz".
    version
        Batsim's major version, 4 or 5.

    Raises
    ------
    InputError
        If the version is unknown, or a job's submit time, run time or processors are; or if jobs depend on each other
        or belong to workflows, which the format cannot represent.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.json"
    >>> jobs = Workload.from_columns({"submit_time": [5], "run_time": [60], "requested_processors": [2]})
    >>> write_batsim(jobs.replace(processors=4), path)
    >>> print(path.read_text(), end="")
    {"nb_res": 4, "jobs": [
    {"id": "1", "subtime": 5, "res": 2, "profile": "delay60"}
    ], "profiles": {
    "delay60": {"type": "DelayProfile", "delay": 60}
    }}
    """
    if version not in DELAY_TYPES:
        raise InputError(f"the workloads of Batsim {version} are unknown; the known versions are 4 and 5")
    refuse_links(workload, path)
    processors = workload.job_processors
    unknown = (
        ("submit time", workload.submit_time < 0),
        ("run time", workload.run_time < 0),
        ("processors", processors < 1),
    )
    for what, bad in unknown:
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"{workload.name}: Batsim needs the {what} of job {workload.job_id[row]}; "
                "clean the jobs first (clean(jobs))",
                row=row,
            )
    size = workload.processors or int(processors.max(initial=1))
    with open_output(path) as stream:
        stream.write(f'{{"nb_res": {size}, "jobs": ['.encode())
        separator = "\n"
        for number, submit, width, limit, run in zip(
            workload.job_id.tolist(),
            workload.submit_time.tolist(),
            processors.tolist(),
            workload.requested_time.tolist(),
            workload.run_time.tolist(),
            strict=True,
        ):
            walltime = f'"walltime": {limit}, ' if limit > 0 else ""
            stream.write(
                f'{separator}{{"id": "{number}", "subtime": {submit}, "res": {width}, {walltime}'
                f'"profile": "delay{run}"}}'.encode()
            )
            separator = ",\n"
        profiles = ",\n".join(
            f'"delay{run}": {{"type": "{DELAY_TYPES[version]}", "delay": {run}}}'
            for run in np.unique(workload.run_time).tolist()
        )
        stream.write(f'\n], "profiles": {{\n{profiles}\n}}}}\n'.encode())


def _load(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a JSON object."""
    try:
        document = parse_json(read_whole(path))
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{os.fspath(path)}: this is not a Batsim workload: {error}") from None
    if not isinstance(document, dict):
        raise InputError(f"{os.fspath(path)}: this is not a Batsim workload, which is a JSON object")
    return document


def _job(job: Any, profiles: dict[str, Any], where: str) -> tuple[float, float, float, float]:
    """Return submit time, processors, requested time and run time of a job."""
    if not isinstance(job, dict):
        raise InputError(f"{where}: a job must be a JSON object with id, subtime, res and profile")
    name = job.get("profile")
    profile = profiles.get(name) if isinstance(name, str) else None
    if not isinstance(profile, dict):
        raise InputError(f"{where}: unknown profile {shown(name)}")
    kind = profile.get("type")
    if kind not in tuple(DELAY_TYPES.values()):
        raise InputError(
            f"{where}: its profile {shown(name)} is of type {shown(kind)}, but only delay profiles have a run time"
        )
    limit = UNKNOWN if job.get("walltime", UNKNOWN) == UNKNOWN else _number(job, "walltime", where, least=0)
    return (
        _number(job, "subtime", where, least=0),
        _number(job, "res", where, least=1),
        limit,
        _number(profile, "delay", f"{where}, profile {shown(name)}", least=0),
    )


def _number(holder: dict[str, Any], key: str, where: str, *, least: int) -> float:
    """Return a number of a JSON object, at least `least`."""
    value = holder.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{where}: {key} is {shown(value)}, not a number")
    if not least <= value < 2**63:  # this also rejects NaN
        raise InputError(f"{where}: {key} is {value}, but must be at least {least} and fit into 64 bits")
    return value
