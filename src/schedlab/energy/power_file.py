"""The power file: a power model as a document of TOML, with its series beside it."""

from __future__ import annotations

import hashlib
from os import PathLike, fspath
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter

from schedlab.arguments import explained
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_names
from schedlab.documents import checked, read_bytes, read_toml
from schedlab.energy.power import SERIES, GroupPower, Power
from schedlab.energy.series import Series
from schedlab.errors import InputError, located
from schedlab.wording import shown

FORMAT: Final = "schedlab power"
REMEDY = (
    "a power file has tables [[groups]] with idle and busy, and may have base, pue, price, currency, intensity, cap"
)

Hosts = Annotated[list[str], BeforeValidator(lambda value: host_names(value) if isinstance(value, str) else value)]
Figure = float | str
"""A number, or the name of a CSV file."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Group(_Table):
    idle: float
    busy: float
    nodes: Hosts = []
    feature: str = ""
    gpu: float = 0.0
    cores: int = 1
    off: float = 0.0
    boot: float | None = None


class _Document(_Table):
    format: Literal["schedlab power"] = FORMAT
    groups: list[_Group]
    base: float = 0.0
    pue: float = 1.0
    price: Figure | None = None
    currency: str = ""
    intensity: Figure | None = None
    cap: Figure | None = None
    repeat: list[Literal["price", "intensity", "cap"]] = []


_DOCUMENT = TypeAdapter(_Document)


@explained
def read_power(path: str | PathLike[str], cluster: Cluster | None = None) -> Power:
    """Read a power file.

    Parameters
    ----------
    path
        The file. `price`, `intensity` and `cap` are numbers or names of CSV files, relative to it; `repeat` lists those
        that begin again where they end.
    cluster
        The machine, if groups are named by features.

    Raises
    ------
    InputError
        If a file cannot be read or says something else; the message names it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "power.toml"
    >>> _ = file.write_text('''
    ... price = 0.25
    ... currency = "EUR"
    ...
    ... [[groups]]
    ... idle = 117
    ... busy = 358
    ... cores = 16
    ... ''')
    >>> read_power(file).groups[0].busy
    358.0
    """
    document = checked(_DOCUMENT, read_toml(path, "power file"), fspath(path), REMEDY)
    given = document.model_dump(exclude={"format", "groups", "repeat"})
    for name in SERIES:
        value, repeats = given[name], name in document.repeat
        if isinstance(value, str):
            given[name] = Series.read(Path(path).parent / value, repeats=repeats)
        elif repeats:
            what = "is not given" if value is None else f"is a flat figure ({shown(value)})"
            raise InputError(f"{fspath(path)}: repeat names {name}, which {what}")
    with located(fspath(path)):
        groups = tuple(GroupPower(**group.model_dump() | {"nodes": tuple(group.nodes)}) for group in document.groups)
        return Power(groups, **given).on(cluster)


def files_of(path: str | PathLike[str]) -> list[Path]:
    """Return a power file and the series that it names: all that it depends on."""
    document: dict[str, Any] = read_toml(path, "power file")
    named = [document.get(name) for name in SERIES]
    return [Path(path), *(Path(path).parent / name for name in named if isinstance(name, str))]


def power_sha256(path: str | PathLike[str]) -> str:
    """Return the fingerprint of a power file and its series."""
    digest = hashlib.sha256()
    for file in files_of(path):
        digest.update(hashlib.sha256(read_bytes(file, "series")).digest())
    return digest.hexdigest()
