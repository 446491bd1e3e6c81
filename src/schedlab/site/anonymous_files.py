"""The configuration of a site without its names: only what decides about scheduling, with numbers for names."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from schedlab.cluster.hostlist import host_list, host_names
from schedlab.cluster.sacctmgr import account_file
from schedlab.cluster.slurm_lines import OBJECTS, ConfigLine, config_lines
from schedlab.cluster.slurm_memory import INFERRED, REPORTED
from schedlab.cluster.slurm_topology import CONF, YAML, as_topology_conf
from schedlab.documents import read_text
from schedlab.errors import InputError
from schedlab.site.parameters import PLACES, known

SPECIAL = frozenset({"", "ALL", "DEFAULT", "NONE", "N/A", "UNLIMITED", "root", "normal"})
"""Names that mean something to Slurm itself; they stay."""

_KEYS = {
    **dict.fromkeys(("nodename", "nodes"), "node"),
    **dict.fromkeys(("partitionname", "alternate", "partition"), "partition"),
    **dict.fromkeys(("qos", "qoslevel", "allowqos", "denyqos", "defaultqos", "preempt"), "QOS"),
    **dict.fromkeys(("account", "accounts", "allowaccounts", "denyaccounts", "parent", "defaultaccount"), "account"),
    **dict.fromkeys(("user", "users"), "user"),
    **dict.fromkeys(("feature", "features"), "feature"),
    **dict.fromkeys(("switchname", "switches"), "switch"),
    **dict.fromkeys(("clustername", "cluster", "clusters"), "cluster"),
    **dict.fromkeys(("allowgroups", "denygroups"), "group"),
    "nodeset": "node set",
    "licenses": "licence",
    "reservation": "reservation",
}
"""Of what kind the names are that stand behind a key."""

_LETTERS = {
    "node": "n", "partition": "part", "QOS": "qos", "account": "acct", "user": "user", "feature": "f", "switch": "s",
    "cluster": "cluster", "group": "group", "node set": "set", "licence": "lic", "reservation": "resv",
}  # fmt: skip

_LICENCE = re.compile(r"license/([\w.-]+)")
_WORD = re.compile(r"[A-Za-z_][\w.-]*")
_DUMPED = re.compile(r"(Cluster|Parent|Account|User)(\s+-\s+)(.*)")
_QUOTED_PARTS = re.compile(r"(?:[^:']|'[^']*')+")


@dataclass(slots=True)
class Names:
    """New names by kind: numbers in the order of the old names, so that whatever goes by name keeps its order.

    Parameters
    ----------
    new
        By kind and old name.
    """

    new: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, kind: str, names: Iterable[str], order: Callable[[str], object] = str) -> None:
        """Give all names of a kind their numbers, once."""
        there = sorted({name for name in names if name not in SPECIAL}, key=order)  # type: ignore[arg-type]
        width = len(str(len(there)))
        self.new |= {(kind, name): f"{_LETTERS[kind]}{place:0{width}d}" for place, name in enumerate(there, 1)}

    def of(self, kind: str, name: str) -> str:
        """Return the new name; a name that was not added, such as one that only a limit has, gets a number behind."""
        if name in SPECIAL or name.upper() in SPECIAL:
            return name
        if (kind, name) not in self.new:
            others = ((old.lower(), new) for (what, old), new in self.new.items() if what == kind)
            alike = next((new for old, new in others if old == name.lower()), "")
            count = sum(other == kind for other, _ in self.new)
            self.new[kind, name] = alike or f"{_LETTERS[kind]}x{count + 1}"
        return self.new[kind, name]

    def told(self) -> Iterator[str]:
        """Yield how many names of each kind there are; and how many got theirs behind, if others did not."""
        for kind in dict.fromkeys(kind for kind, _ in self.new):
            distinct = {new for (one, _), new in self.new.items() if one == kind}
            behind = sum(new.startswith(f"{_LETTERS[kind]}x") for new in distinct)
            mentioned = f", and {behind:,} more that only files or jobs mention" if 0 < behind < len(distinct) else ""
            yield f"{len(distinct) - (behind if mentioned else 0):,} names ({kind}){mentioned}"

    def value(self, key: str, value: str) -> str:
        """Return a value with new names, by the key that it stands behind."""
        kind = _KEYS.get(key.lower())
        if kind == "node" and value.upper() not in SPECIAL:
            return self.hosts(value)
        if kind == "switch":
            return host_list(self.of(kind, name) for name in host_names(value))
        if kind == "licence":
            pairs = (part.strip().partition(":") for part in value.split(","))
            return ",".join(f"{self.of(kind, name)}{colon}{count}" for name, colon, count in pairs)
        if kind is not None:
            return ",".join(self._listed(kind, part.strip()) for part in value.split(","))
        return _LICENCE.sub(lambda found: f"license/{self.of('licence', found[1])}", value)

    def _listed(self, kind: str, name: str) -> str:
        """Return a name of a list, whose sign before it (add to, take out of) stays."""
        sign = name[:1] if name[:1] in ("+", "-") else ""
        return sign + self.of(kind, name.removeprefix(sign))

    def hosts(self, text: str) -> str:
        """Return a host list of nodes and sets of nodes with their new names."""
        found = []
        for name in host_names(text):
            known_set = ("node set", name) in self.new
            found.append(self.of("node set" if known_set else "node", name))
        return host_list(found)

    def expression(self, kind: str, text: str) -> str:
        """Return an expression of names, such as ib&(a100|h100), with the new ones."""
        return _WORD.sub(lambda found: self.of(kind, found[0]), text)


def anonymous_files(directory: Path, main: str, names: Names) -> tuple[dict[str, str], Counter[str]]:
    """Return the files of a site with new names, by name, and how many options were taken out, by why.

    Parameters
    ----------
    directory
        With the files as they are.
    main
        The name of the slurm.conf.
    names
        New names; those of node sets, features and switches are added.
    """
    gone: Counter[str] = Counter()
    lines = list(config_lines(directory / main))
    names.add("node set", (line.value.split()[0] for line in lines if line.key == "nodeset"))
    found = {main: "".join(_conf_lines(lines, names, gone))}
    if (gres := directory / "gres.conf").is_file():
        found["gres.conf"] = "".join(_other_lines(gres, "gres.conf", names, gone))
    if (document := directory / YAML).is_file():
        # A topology.yaml stands for TopologyPlugin; what it says of a tree of switches is written as topology.conf.
        (written := directory / CONF).write_text(as_topology_conf(document), encoding="utf-8")
        if written.stat().st_size:
            found[main] += "TopologyPlugin=topology/tree\n"
    if (switches := directory / CONF).is_file():
        found[CONF] = "".join(_other_lines(switches, "topology.conf", names, gone))
    accounts = account_file(directory)
    if accounts is not None:
        text = read_text(accounts, "file of sacctmgr")
        found["accounts.dump" if accounts.suffix == ".dump" else "accounts.script"] = "".join(
            _account_lines(text, names, gone)
        )
    for name in (REPORTED, INFERRED):
        if (directory / name).is_file():
            raise InputError(
                f"{name}: nodes from sinfo or from jobs cannot be made anonymous: import the site with RealMemory in "
                "slurm.conf"
            )

    return found, gone


def _conf_lines(lines: Iterable[ConfigLine], names: Names, gone: Counter[str]) -> Iterator[str]:
    places = {place.lower(): place for place in PLACES}
    for line in lines:
        place = places[line.key] if line.key in OBJECTS else "slurm.conf"
        kept = _kept(place, line.pairs(), names, gone)
        if kept and (place == "slurm.conf" or kept[0].lower().startswith(line.key)):
            yield " ".join(kept) + "\n"


def _other_lines(path: Path, place: str, names: Names, gone: Counter[str]) -> Iterator[str]:
    for line in config_lines(path, place):
        kept = _kept(place, line.pairs(), names, gone)
        if kept:
            yield " ".join(kept) + "\n"


def _kept(place: str, pairs: Iterable[tuple[str, str]], names: Names, gone: Counter[str]) -> list[str]:
    """Return the options of a line that decide about scheduling, with new names."""
    kept = []
    for key, value in pairs:
        if key.lower() == place.lower() or key.lower() in ("clustername", "switchname") or _decides(place, key):
            written = names.value(key, value)
            kept.append(f'{key}="{written}"' if " " in written else f"{key}={written}")
        else:
            gone["options that decide nothing about scheduling"] += 1
    return kept


def _decides(place: str, key: str) -> bool:
    found = known(place, key)
    return found is not None and found.decides


def _account_lines(text: str, names: Names, gone: Counter[str]) -> Iterator[str]:
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        dumped = _DUMPED.match(line)
        yield (_dumped(dumped, names, gone) if dumped else _command(line, names, gone)) + "\n"


def _dumped(line: re.Match[str], names: Names, gone: Counter[str]) -> str:
    name, *options = _QUOTED_PARTS.findall(line[3])
    kind = {"Cluster": "cluster", "User": "user"}.get(line[1], "account")
    written = [f"'{names.of(kind, name.strip(chr(39)))}'"]
    for option in options:
        key, _, value = option.partition("=")
        if _decides("sacctmgr", key):
            quote = "'" if value.startswith("'") else ""
            written.append(f"{key}={quote}{names.value(key, value.strip(chr(39)))}{quote}")
        else:
            gone["options that decide nothing about scheduling"] += 1
    return f"{line[1]}{line[2]}{':'.join(written)}"


_KINDS: Mapping[str, str] = {"user": "user", "account": "account", "qos": "QOS", "cluster": "cluster"}


def _command(line: str, names: Names, gone: Counter[str]) -> str:
    """Return a command of sacctmgr with new names."""
    words, kind = shlex.split(line.removeprefix("sacctmgr").strip()), ""
    written: list[str] = []
    for word in words:
        key, equals, value = word.partition("=")
        bare = key.rstrip("+-")
        if not equals:
            found = next((known_kind for start, known_kind in _KINDS.items() if word.lower().startswith(start)), "")
            verb = word.lower() in ("add", "modify", "remove", "delete", "set", "where", "-i", "-q", "create")
            kind, written = (kind or found, [*written, word if verb or not kind else names.value(kind, word)])
            continue
        if bare.lower() in ("name", "names"):
            value = ",".join(names.of(kind, name) for name in value.split(","))
        elif bare.lower() not in _KEYS and not _decides("sacctmgr", bare):
            gone["options that decide nothing about scheduling"] += 1
            continue
        else:
            value = names.value(bare, value)
        written.append(f"{key}={value}")
    return " ".join(shlex.quote(word) if " " in word else word for word in written)
