"""A campaign as one file: inputs, code, definition and results with their fingerprints, and how to run it again.

README.md        what it is, what made it, and the command that runs it again
manifest.json    the SHA-256 of every other file, what has to be imported, and the versions of libraries
run/             the run directory, in which paths are those of the archive
inputs/          logs, machines, workflows
code/            modules of the user's own that the campaign names
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter

from schedlab.arguments import explained
from schedlab.atomic import atomic_path
from schedlab.campaign.results.readme import readme
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.run.own_files import DETAILS, own_files
from schedlab.campaign.sources.experiment_files import MODELS
from schedlab.campaign.sources.fields import expanded
from schedlab.campaign.sources.input import Input
from schedlab.documents import checked, parse_json
from schedlab.errors import InputError, check_type
from schedlab.imports import searched_first
from schedlab.own_code import digest_of_code, is_installed, module_paths
from schedlab.streams import file_sha256
from schedlab.wording import shown

SCHEMA = 1
LARGEST = 1 << 33
"""Bytes of all files of an archive that is opened."""

NOT_ONE = "is not an archive of a campaign"


class Manifest(BaseModel):
    """What manifest.json says."""

    model_config = ConfigDict(extra="ignore", strict=True)

    schedlab_archive: int
    name: str
    imports: list[str]
    files: dict[str, str]


MANIFEST = TypeAdapter(Manifest)


def archive(run: RunDirectory, path: str | os.PathLike[str]) -> Path:
    """Write a campaign with all that is needed to run it again elsewhere.

    Parameters
    ----------
    run
        The run directory.
    path
        The archive, .zip.

    Raises
    ------
    InputError
        If an input or the code has changed since the campaign was run, or is no longer there, or if the campaign names
        an agent, whose file it cannot hold.
    OutputError
        If it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from schedlab.campaign.definition.campaign import Campaign
    >>> from schedlab.campaign.run.coordinator import run_campaign
    >>> fields = {"workloads": [{"generate": "lublin", "jobs": 20, "processors": 16}], "schedulers": ["easy"]}
    >>> place = Path(tempfile.mkdtemp())
    >>> archive(run_campaign(Campaign(name="small", **fields), place / "small", workers=1), place / "small.zip").name
    'small.zip'
    """
    check_type(run, RunDirectory, "open one with schedlab.campaign.RunDirectory.open")
    target = Path(path)
    if target.suffix != ".zip":
        raise InputError(f"{target}: unknown suffix; an archive is written as .zip")
    content = {"run/campaign.json": b"", **dict(_code(run)), **dict(_results(run))}
    places = _Places(Path(run.facts["base"]))
    content["run/campaign.json"] = json.dumps(_elsewhere(run, places), indent=1).encode()
    hashes = {name: hashlib.sha256(held).hexdigest() for name, held in content.items()}
    hashes |= {name: file_sha256(str(file)) for name, file in places.files.items()}
    names = run.plan.campaign.named_classes()
    about = {"name": run.facts["name"], "imports": names, "versions": run.facts["provenance"]}
    manifest = {"schedlab_archive": SCHEMA, **about, "files": hashes}
    with atomic_path(target) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as written:
        written.writestr("README.md", readme(run, target.name, hashes))
        written.writestr("manifest.json", json.dumps(manifest, indent=1))
        for name, held in content.items():
            written.writestr(name, held)
        for name, file in places.files.items():
            written.write(file, name)
    return target


def unpacked(path: str | os.PathLike[str], directory: str | os.PathLike[str]) -> Manifest:
    """Open an archive in a directory, and check that every file is what it was.

    Raises
    ------
    InputError
        If it is no archive of a campaign, if a file was changed, or if the directory is not empty.
    """
    target = Path(directory)
    if target.exists() and any(target.iterdir()):
        raise InputError(f"{target} is not empty: name another directory (-d)")
    try:
        with zipfile.ZipFile(path) as opened:
            manifest = checked(MANIFEST, parse_json(opened.read("manifest.json")), f"{path} {NOT_ONE}", "take another")
            if sum(info.file_size for info in opened.infolist()) > LARGEST:
                raise InputError(f"{path}: its files are larger than {LARGEST >> 30} GiB")
            for name, sha256 in manifest.files.items():
                held = opened.read(_inside(name, path))
                if hashlib.sha256(held).hexdigest() != sha256:
                    raise InputError(f"{path}: {shown(name)} is not what it was when the archive was written")
                file = target / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(held)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, RuntimeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} {NOT_ONE} ({error})") from None
    return manifest


@explained
def rerun(
    path: str | os.PathLike[str], directory: str | os.PathLike[str], *, workers: int | None = None
) -> tuple[RunDirectory, RunDirectory]:
    """Open an archive in a new directory, and run its campaign there; return it as it was, and as it was run again.

    Parameters
    ----------
    path
        The archive.
    directory
        Where it is opened; its simulations are run in `rerun` there.
    workers
        How many processes, by default one for each core.

    Raises
    ------
    InputError
        If it is no archive, a file in it was changed, or the directory is not empty; or if the campaign imports code
        that is not allowed, see `schedlab.imports.allow_imports`.
    """
    target = Path(directory).absolute()
    if not Path(path).is_file():
        raise InputError(f"{path} does not exist")
    unpacked(path, target)
    code = str(target / "code")
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([code, *([before] if before else [])])
    try:
        with searched_first(code):
            first = RunDirectory.open(target / "run")
            second = run_campaign(
                first.plan.campaign, target / "rerun", base=target, workers=workers, text=first.facts["text"]
            )
        return first, second
    finally:
        del os.environ["PYTHONPATH"]
        if before is not None:
            os.environ["PYTHONPATH"] = before


def _inside(name: str, path: str | os.PathLike[str]) -> str:
    """Return the name of a file, or raise InputError if it leads out of the directory."""
    parts = PurePosixPath(name)
    if parts.is_absolute() or ".." in parts.parts or parts.parts[:1] not in (("run",), ("inputs",), ("code",)):
        raise InputError(f"{path}: {shown(name)} is no file of an archive")
    return name


class _Places:
    """Where the files of a campaign lie in its archive."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.files: dict[str, Path] = {}
        self._known: dict[Path, str] = {}

    def of(self, given: str) -> str:
        """Return the place of a file or directory, which is put into the archive."""
        path = self.base / expanded(given)
        if path not in self._known:
            if not path.exists():
                raise InputError(f"{path} is no longer there: an archive needs it")
            place = self._known[path] = f"inputs/{len(self._known) + 1}/{path.name}"
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if file.is_file():
                    self.files[place if file == path else f"{place}/{file.relative_to(path).as_posix()}"] = file
        return self._known[path]


def _elsewhere(run: RunDirectory, places: _Places) -> dict[str, Any]:
    """Return what campaign.json says, with paths in the archive."""
    if any("@agent:" in text for text in run.plan.schedulers):
        raise InputError("an archive cannot hold agents (@agent:FILE): take them out of the campaign")
    inputs = [_input_elsewhere(item, places) for item in run.plan.inputs]
    entries = [
        _entry_elsewhere(entry, [item["path"] for item in inputs if item["entry"] == number], places)
        for number, entry in enumerate(run.facts["definition"]["workloads"])
    ]
    definition = run.facts["definition"] | {"workloads": entries}
    return run.facts | {"definition": definition, "base": ".", "inputs": inputs}


def _input_elsewhere(item: Input, places: _Places) -> dict[str, Any]:
    """Return what is known of an input, with paths in the archive; its files must be what they were."""
    machine = item.machine
    for path, sha256 in ((item.path, item.sha256), (item.distributions, item.distributions_sha256), *item.files):
        if path and path not in MODELS and Path(path).is_file() and file_sha256(path) != sha256:
            raise InputError(f"{path} has changed since the campaign was run: run it again before you archive it")

    def place(path: str) -> str:
        return places.of(path) if path and path not in MODELS else path

    moved = machine._replace(cluster=place(machine.cluster), node_events=place(machine.node_events))
    facts = {"path": place(item.path), "distributions": place(item.distributions), "machine": list(moved)}
    return item.to_dict() | facts | {"files": [[place(path), sha256] for path, sha256 in item.files]}


def _entry_elsewhere(entry: dict[str, Any], traces: list[str], places: _Places) -> dict[str, Any]:
    """Return the entry of a workload, with paths in the archive."""
    moved = dict(entry)
    if "trace" in entry:
        moved["trace"] = traces
    for name in ("distributions", "cluster", "node_events", "model"):
        if isinstance(entry.get(name), str) and entry[name] not in MODELS:
            moved[name] = places.of(entry[name])
    if entry.get("workflows"):
        moved["workflows"] = [one | {"file": places.of(one["file"])} for one in entry["workflows"]]
    return moved


def _code(run: RunDirectory) -> Iterator[tuple[str, bytes]]:
    """Yield the modules of the user's own, as they were when the campaign was run; installed ones are left out."""
    for name, digest in run.plan.code.items():
        if digest_of_code(name) != digest:
            raise InputError(f"the code of {name} has changed since the campaign was run: run it again first")
        for file, place in module_paths(name).items():
            if not is_installed(file):
                yield f"code/{place.as_posix()}", file.read_bytes()


def _results(run: RunDirectory) -> Iterable[tuple[str, bytes]]:
    """Yield results, failures, details, and the schedules of simulations that have a result, each once."""
    orphans = set(run.orphaned_schedules())
    parts = {"results": ".parquet", "failed": ".json", "schedules": ".parquet", **dict.fromkeys(DETAILS, ".parquet")}
    for part, suffix in parts.items():
        for file in own_files(run.path, part, suffix):
            if file not in orphans:
                yield f"run/{part}/{file.name}", file.read_bytes()
