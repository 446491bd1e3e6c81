"""Simulations in files: arrays and metadata; nothing in a file is executed when it is read.

A file is a ZIP archive with `header.json` (the arguments of the simulation with its cluster, its state, and the SHA-256
of all other members), `workload.parquet` and one NPY file for each mutable array of the engine. On loading, the
simulation is built again from the workload, and each array must have the type and shape that it has there.

The checksums find damage, not malice: the arrays' values are believed, and compiled code takes some of them for places
in other arrays. Load only files that come from people you trust.

A file can be resumed only in the version of schedlab that wrote it: another version may have other arrays or rules.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import tokenize
import zipfile
import zlib
from dataclasses import asdict, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from schedlab.atomic import atomic_path
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.documents import checked, parse_json
from schedlab.engine.logs import LOGS, with_room
from schedlab.engine.prepared import Prepared
from schedlab.engine.steps.copies import arrays_of, digest_of_fixed
from schedlab.engine.steps.observable import Progress, Told, put_together
from schedlab.engine.world import World
from schedlab.errors import InputError
from schedlab.schedule.provenance import input_sha256
from schedlab.scheduler.own_pass import OwnPass
from schedlab.scheduler.own_predictor import PythonPredictor
from schedlab.scheduler.policy import Policy
from schedlab.scheduler.scheduler import Scheduler
from schedlab.scheduler.slurm_rules import naming_version
from schedlab.scheduler.slurm_versions import NEWEST, OF_0_1
from schedlab.speculate.requests import DistributionTables, Requests
from schedlab.workload.tables import read_table, write_table
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    from schedlab.engine.steps.stepwise import Simulation

FORMAT = "schedlab simulation 2"
"""Another number where what is saved means something else than in the last release."""

HEADER, JOBS = "header.json", "workload.parquet"
LARGEST_HEADER = 1 << 24
SLACK = 4096
"""Maximum number of bytes of an NPY file besides its data."""

REQUESTS = ("offsets", "lengths", "most", "growth", "distribution", "application")


_OTHERWISE = (
    "put together again from this workload, the simulation numbers its requests and limits otherwise than when it was "
    "saved: load it without workload=, or save it again"
)
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError, ValueError)
_NO_ARRAY = (tokenize.TokenError, SyntaxError)  # what NumPy raises for the header of an NPY file


class Header(BaseModel):
    """The contents of `header.json`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: str
    schedlab: str
    name: str
    workload: str
    by_size: str
    scheduler: str | None
    processors: Annotated[int, Field(ge=1)] | None
    events: Literal["batched", "pyss"]
    in_order: Annotated[int, Field(ge=0)]
    history: int | None
    cluster: dict[str, Any] | None
    node_events: str | None
    interrupted: Literal["requeue", "lost"]
    requeue_delay: Annotated[int, Field(ge=0)]
    until: int
    deciding: bool
    started: bool
    by_hand: Annotated[int, Field(ge=0)]
    open_ended: bool
    fixed: str
    rounded: int
    requests_enforced: bool
    sha256: dict[str, str]


HEADERS = TypeAdapter(Header)


def save_simulation(simulation: Simulation, path: str | os.PathLike[str]) -> None:
    """Write a simulation to a file; errors as for `Simulation.save`."""
    told, at, workload = simulation._told, simulation._at, simulation._given
    if told.scheduler is not None:
        _refuse_python(told.scheduler)
    members = {JOBS: _parquet(workload)}
    for name, array in arrays_of(simulation._world):
        members[f"{name}.npy"] = _npy(array)
    if told.requests is not None:
        for name in REQUESTS:
            members[f"requests/{name}.npy"] = _npy(getattr(told.requests, name))
        for name, array in zip(DistributionTables._fields, told.requests.distributions, strict=True):
            members[f"requests/distributions.{name}.npy"] = _npy(array)
    header = Header(
        format=FORMAT,
        schedlab=version("schedlab"),
        name=workload.name,
        workload=input_sha256(workload),
        by_size=input_sha256(simulation.workload),
        scheduler=None if told.scheduler is None else naming_version(told.scheduler.text, NEWEST),
        processors=None if told.processors is None else int(told.processors),
        events="pyss" if told.events == "pyss" else "batched",
        in_order=int(told.in_order),
        history=None if told.requests is None else int(told.requests.history),
        cluster=None if told.cluster is None else told.cluster.to_dict(),
        node_events=None if told.node_events is None else told.node_events.to_csv(),
        interrupted="requeue" if told.node_events is None else told.node_events.interrupted,
        requeue_delay=0 if told.node_events is None else told.node_events.requeue_delay,
        rounded=workload.rounded,
        requests_enforced=workload.requests_enforced,
        fixed=_digest_of_fixed(simulation._prepared, simulation._world),
        sha256={name: hashlib.sha256(content).hexdigest() for name, content in members.items()},
        **asdict(at),
    )
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        file.writestr(HEADER, header.model_dump_json())
        for name, content in members.items():
            file.writestr(name, content)


def load_simulation(path: str | os.PathLike[str], workload: Workload | None) -> Simulation:
    """Read a simulation from a file; parameters and errors as for `Simulation.load`."""
    name = os.fspath(path)
    try:
        with zipfile.ZipFile(path) as file:
            return _load(file, name, workload)
    except FileNotFoundError:
        raise InputError(f"{name}: the file does not exist") from None
    except (*_DAMAGED, *_NO_ARRAY, OSError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name}: not a saved simulation, or damaged: save it again") from None


def _load(file: zipfile.ZipFile, path: str, given: Workload | None) -> Simulation:
    from schedlab.engine.steps.stepwise import Simulation

    header = _header(file, path)
    if set(file.namelist()) != {HEADER, *header.sha256}:
        raise ValueError("members are missing")
    moldable = header.by_size != header.workload
    by_size = moldable and given is not None and input_sha256(given) == header.by_size  # the simulation's own jobs
    workload = _workload(file, header) if given is None or by_size else given
    if input_sha256(workload) != header.workload or workload.requests_enforced != header.requests_enforced:
        raise InputError(f"{path}: this simulation belongs to the workload {header.name}, not to {workload.name}")
    scheduler = None
    if header.scheduler is not None:
        scheduler = Scheduler.from_file(naming_version(header.scheduler, OF_0_1), path)
    requests = None if header.history is None else _requests(file, header, len(workload))
    told = Told(scheduler, header.processors, header.events, header.in_order, requests, *_machine(header, path))
    prepared, world, first_estimate = put_together(workload, told, open_ended=header.open_ended)
    world = _with_logs(file, header, world)
    if _digest_of_fixed(prepared, world) != header.fixed:
        raise InputError(f"{path}: {_OTHERWISE}")
    _fill(file, header, world)
    simulation = Simulation.__new__(Simulation)
    simulation._told, simulation._observers = told, []
    simulation._at = Progress(**{field.name: getattr(header, field.name) for field in fields(Progress)})
    simulation._stand(prepared, world, first_estimate)
    return simulation


def _header(file: zipfile.ZipFile, path: str) -> Header:
    if file.getinfo(HEADER).file_size > LARGEST_HEADER:
        raise ValueError("the header is too long")
    content = parse_json(file.read(HEADER))
    if isinstance(content, dict) and (content.get("format"), content.get("schedlab")) != (FORMAT, version("schedlab")):
        wrote = str(content.get("schedlab", "unknown"))[:40]
        raise InputError(
            f"{path}: this simulation was saved by version {wrote} of schedlab, and can be resumed only by it; this is "
            f"{'a later one of that name' if wrote == version('schedlab') else version('schedlab')}"
        )
    return checked(HEADERS, content, f"{path}: the header is damaged", "save the simulation again")


def _machine(header: Header, path: str) -> tuple[Cluster | None, NodeEvents | None]:
    """Return the cluster and its node events."""
    cluster = None if header.cluster is None else Cluster.from_dict(header.cluster)
    if header.node_events is None:
        return cluster, None
    events = NodeEvents.from_csv(header.node_events, header.interrupted, path)
    return cluster, replace(events, requeue_delay=header.requeue_delay)


def _member(file: zipfile.ZipFile, header: Header, name: str, most: int) -> bytes:
    """Return a member after a check of its digest and of its size, at most `most` bytes."""
    if file.getinfo(name).file_size > most:
        raise ValueError(f"{name} is too long")
    content = file.read(name)
    if hashlib.sha256(content).hexdigest() != header.sha256[name]:
        raise ValueError(f"{name} has changed")
    return content


def _workload(file: zipfile.ZipFile, header: Header) -> Workload:
    with tempfile.TemporaryDirectory() as directory:
        target = Path(directory) / JOBS
        target.write_bytes(_member(file, header, JOBS, file.getinfo(JOBS).file_size))
        workload = read_table(target)
    origin = None if workload.origin is None else workload.origin.stored
    told = {name: getattr(header, name) for name in ("name", "rounded", "requests_enforced")}
    return workload.replace(origin=origin, **told)


def _with_logs(file: zipfile.ZipFile, header: Header, world: World) -> World:
    """Return the world with logs as long as those of the file."""
    there = [path for path in LOGS if f"{path}.npy" in header.sha256]
    return with_room(world, {path: len(_array(file, header, f"{path}.npy")) for path in there})


def _fill(file: zipfile.ZipFile, header: Header, world: World) -> None:
    """Copy the arrays of the file into the world, which were built from the same workload."""
    for name, array in arrays_of(world):
        saved = _array(file, header, f"{name}.npy", array.nbytes)
        if saved.dtype != array.dtype or saved.shape != array.shape:
            raise ValueError(f"{name} has another type or shape")
        array[...] = saved


def _digest_of_fixed(prepared: Prepared, world: World) -> str:
    """Return a fingerprint of the numbers that saved arrays refer to: requests, limits, partitions, reasons, users."""
    names = () if prepared.limits is None else tuple(prepared.limits.reason_names())
    users = () if prepared.associations is None else tuple(prepared.associations.names)
    return digest_of_fixed((world._replace(rules=world.rules._replace(observed=False)), names, users))


def _requests(file: zipfile.ZipFile, header: Header, jobs: int) -> Requests:
    columns = {name: _array(file, header, f"requests/{name}.npy") for name in REQUESTS}
    distributions = DistributionTables(
        *(_array(file, header, f"requests/distributions.{name}.npy") for name in DistributionTables._fields)
    )
    return Requests(**columns, history=header.history or 0, distributions=distributions)


def _array(file: zipfile.ZipFile, header: Header, name: str, size: int | None = None) -> NDArray[Any]:
    most = 64 * max(file.getinfo(name).compress_size, 1 << 24) if size is None else size + SLACK
    array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(_member(file, header, name, most)), allow_pickle=False)
    return array


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()


def _parquet(workload: Workload) -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        target = Path(directory) / JOBS
        write_table(workload, target)
        return target.read_bytes()


def _refuse_python(scheduler: Scheduler) -> None:
    """Raise InputError if a scheduler holds Python objects that cannot be saved."""
    for predictor in (scheduler.runtimes, scheduler.ranking):
        if isinstance(predictor, PythonPredictor):
            raise InputError(f"@{predictor.text} is a predictor in Python: what it has learned cannot be saved")
    if isinstance(scheduler.backfill, OwnPass):
        raise InputError(f"+{scheduler.backfill.text} is a pass in Python: its state cannot be saved")
    policies: list[Policy | None] = [scheduler.policy, scheduler.order]
    for policy in policies:
        if policy is not None and policy.program is None and policy.name == "function":
            raise InputError(f"{policy.text} is a function in Python, which cannot be saved; write it as a formula")
