"""From the files of a site to the ledger: every option of every line is looked up in the table of parameters."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from schedlab.cluster.cluster import IgnoredLine
from schedlab.cluster.sacctmgr import account_file
from schedlab.cluster.slurm_lines import OBJECTS, ConfigLine, included_file, own_lines
from schedlab.cluster.slurm_memory import INFERRED, REPORTED
from schedlab.cluster.slurm_topology import BLOCKS, CONF, OTHER_TOPOLOGY, YAML, topology_entries
from schedlab.documents import read_text
from schedlab.errors import InputError
from schedlab.site.ledger import Ledger, LedgerLine
from schedlab.site.parameters import LISTS, PLACES, Status, known, parameters
from schedlab.wording import did_you_mean

Notes = Mapping[tuple[str, str], tuple[Status, str]]
"""What a translation says of a parameter, by place and name in lower case, instead of the table."""

_PLACE_OF = {place.lower(): place for place in PLACES}
_REPEATED = frozenset({"slurmctldhost"})
"""Parameters of which all lines count."""

_DUMPED = re.compile(r"(Cluster|Parent|Account|User)\s+-\s+(.*)")
_NOT_KNOWN = "not known: neither to schedlab nor to any Slurm that it knows"

_STRAY = "not KEY=VALUE, for which slurmctld refuses the line; it decides nothing about scheduling"


def conf_file(path: Path) -> Path:
    """Return the slurm.conf of a directory, or its template, or the file itself.

    Raises
    ------
    InputError
        If there is none.
    """
    main = path / "slurm.conf" if path.is_dir() else path
    if path.is_dir() and not main.is_file() and (template := path / "slurm.conf.j2").is_file():
        return template
    if not main.is_file():
        raise InputError(
            f"{path}: the directory has no slurm.conf" if path.is_dir() else f"{path}: the file does not exist"
        )
    return main


def files_of(main: Path) -> dict[str, list[Path]]:
    """Return the files that belong to a slurm.conf, by the kind of their lines."""
    found = {"slurm.conf": list(_with_included(main))}
    for name in ("gres.conf", CONF):
        if (beside := main.with_name(name)).is_file():
            found[name] = list(_with_included(beside))
    if (beside := main.with_name(YAML)).is_file():
        found[YAML] = [beside]
    for name in (REPORTED, INFERRED):
        if (beside := main.with_name(name)).is_file():
            found[name] = [beside]
    accounts = account_file(main.parent) if main.name == "slurm.conf" else None
    return found | ({"sacctmgr": [accounts]} if accounts is not None else {})


def _with_included(path: Path, depth: int = 0) -> Iterator[Path]:
    yield path
    for line in own_lines(path):
        if line.included is not None:
            yield from _with_included(included_file(line, depth), depth + 1)


def ledger_of(main: Path, files: Mapping[str, Sequence[Path]], ignored: Iterable[IgnoredLine], notes: Notes) -> Ledger:
    """Return the ledger of a site's files.

    Parameters
    ----------
    main
        Its slurm.conf.
    files
        All that belong to it, see `files_of`.
    ignored
        What the reader of the cluster could not use.
    notes
        What the translation of the scheduler could not do.

    """
    lines: list[LedgerLine] = []
    for kind, paths in files.items():
        for path in paths:
            lines += _READERS[kind](path) if kind in _READERS else _of_file(path, kind)
    lines = _only_the_last(_noted(lines, notes))
    lines = list(_not_used(lines, ignored))
    if main.name == "slurm.conf":
        lines += _other_files(main, {path for paths in files.values() for path in paths})
    return Ledger(tuple(lines))


def _of_file(path: Path, kind: str) -> Iterator[LedgerLine]:
    for line in own_lines(path):
        if line.included is not None:
            yield LedgerLine(line.where, kind, "Include", line.included, "modelled", "the lines of that file follow")
            continue
        of_object = kind == "slurm.conf" and line.key in OBJECTS
        place = _PLACE_OF[line.key] if of_object else kind
        for name, value in line.pairs():
            yield _entry(line.where, place, name, value)
            if place == "slurm.conf" and (words := _list_of(name)) is not None:
                yield from _words(line, words, value)
        if strays := line.strays():
            yield LedgerLine(line.where, place, strays[0], "", "unknown", _STRAY)


def _list_of(name: str) -> str | None:
    return next((one for one in LISTS if one.lower() == name.lower()), None)


def _words(line: ConfigLine, place: str, value: str) -> Iterator[LedgerLine]:
    """Yield the words between the commas of a value; options of a word stand behind its "="."""
    for word in filter(None, (part.strip() for part in value.split(","))):
        name, _, rest = word.partition("=")
        yield _entry(line.where, place, name, rest)


def _of_accounts(path: Path) -> Iterator[LedgerLine]:
    for number, raw in enumerate(read_text(path, "file of accounts").splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        where, seen = f"{path.name}:{number}", False
        for name, value in _account_options(line):
            seen = True
            yield _entry(where, "sacctmgr", name, value)
            if name.lower() == "flags":
                yield from (_entry(where, "sacctmgr QOS flags", flag.strip(), "") for flag in value.split(","))
        if not seen:
            yield LedgerLine(where, "sacctmgr", line, "", "modelled", "who is in which account")


def _of_topologies(path: Path) -> Iterator[LedgerLine]:
    for one in topology_entries(path):
        line = _entry(f"{path.name}:{one.line}", YAML, one.name, one.value)
        reason = BLOCKS if one.kind == "block" else "" if one.counts else OTHER_TOPOLOGY
        yield replace(line, status="ignored", reason=reason) if reason else line


def _of_sinfo(path: Path) -> Iterator[LedgerLine]:
    reason = "the memory of nodes that have no RealMemory"
    yield LedgerLine(path.name, path.name, "RealMemory", "", "modelled", reason)


_READERS = {"sacctmgr": _of_accounts, YAML: _of_topologies, REPORTED: _of_sinfo, INFERRED: _of_sinfo}
"""Readers of files whose lines are no KEY=VALUE, by the kind of their lines."""


def _account_options(line: str) -> Iterator[tuple[str, str]]:
    dumped = _DUMPED.match(line)
    parts = re.findall(r"(?:[^:']|'[^']*')+", dumped[2]) if dumped else shlex.split(line)
    if dumped:
        yield dumped[1] if dumped[1] != "Parent" else "Account", parts.pop(0).strip("'")
    for part in parts:
        name, equals, value = part.partition("=")
        if equals:
            yield name.rstrip("+-"), value.strip("'")


def _entry(where: str, place: str, name: str, value: str) -> LedgerLine:
    found = known(place, name)
    if found is None:
        near = did_you_mean(name, [other for kind, other in parameters() if kind == place])
        return LedgerLine(where, place, name, value, "unknown", _NOT_KNOWN + near)
    return LedgerLine(where, place, name, value, found.status, found.how)


def _noted(lines: list[LedgerLine], notes: Notes) -> list[LedgerLine]:
    def said(line: LedgerLine) -> LedgerLine:
        note = notes.get((line.place, line.name.lower()))
        return line if note is None else replace(line, status=note[0], reason=note[1])

    return [said(line) for line in lines]


def _only_the_last(lines: list[LedgerLine]) -> list[LedgerLine]:
    """Return the lines, those of parameters without effect that are given again: to Slurm, the last line counts."""
    last = {line.name.lower(): line.where for line in lines if line.place == "slurm.conf"}

    def overruled(line: LedgerLine) -> LedgerLine:
        name = line.place if line.place in LISTS else line.name if line.place == "slurm.conf" else ""
        final = last.get(name.lower(), line.where)
        if final == line.where or name.lower() in _REPEATED or line.name == "Include":
            return line
        return replace(line, status="modelled", reason=f"has no effect: given again at {final}, which counts")

    return [overruled(line) for line in lines]


def _not_used(lines: list[LedgerLine], ignored: Iterable[IgnoredLine]) -> Iterator[LedgerLine]:
    """Yield the lines, with what the reader of the cluster said of them; what it says of no line follows."""
    ignored = list(ignored)
    said: dict[tuple[str, str], str] = {}
    unread = {one.where: one for one in ignored if one.text == "(all lines)"}
    for one in ignored:
        name = re.match(r"\w*", one.text)
        said[one.where, name[0].lower() if name else ""] = one.reason
    met: set[tuple[str, str]] = set()
    own = ("slurm.conf", *LISTS, "sacctmgr", "sacctmgr QOS flags")
    for line in lines:
        key = line.where, line.name.lower()
        if (file := line.where.partition(":")[0]) in unread:
            status: Status = "modelled" if unread[file].by_slurm else "ignored"
            yield replace(line, status=status, reason=unread[file].reason)
            continue
        met |= {key, (line.where, "")}
        used = line.place not in own and line.status in ("modelled", "approximated")
        yield replace(line, status="ignored", reason=said[key]) if used and key in said else line
    files = {line.where.partition(":")[0] for line in lines if line.place == "sacctmgr"}
    for one in ignored:
        name = re.match(r"\w*", one.text)
        key = one.where, name[0].lower() if name else ""
        if key not in met and one.where not in files and one.text != "(all lines)":
            yield LedgerLine(one.where, "slurm.conf", one.text, "", "ignored", one.reason)


def _other_files(main: Path, read: Collection[Path]) -> Iterator[LedgerLine]:
    """Yield the other files of the directory: one entry for each."""
    for path in sorted(main.parent.iterdir()):
        if path in read or not path.is_file() or path.name.startswith("."):
            continue
        reason = (
            "the records have the jobs as the script left them"
            if path.suffix == ".lua"
            else "does not say anything that decides about scheduling"
            if path.suffix == ".conf"
            else "not a file of the configuration"
        )
        yield LedgerLine(path.name, path.name, "(all lines)", "", "ignored", reason)
