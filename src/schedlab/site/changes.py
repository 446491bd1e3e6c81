"""Changes to a site's configuration: any line of slurm.conf or of its accounts, as the texts behind --set."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from schedlab.arguments import explained
from schedlab.cluster.sacctmgr import account_file
from schedlab.cluster.slurm_lines import ASSIGNMENT, OBJECTS, VALUE, ConfigLine, own_lines
from schedlab.errors import Faults, InputError, located
from schedlab.site.importing import site_of
from schedlab.site.nodes_off import is_of_power, switching_off
from schedlab.site.parameters import LISTS
from schedlab.site.site import Site
from schedlab.site.slurm_release import with_release
from schedlab.wording import did_you_mean, shown

MAIN, ACCOUNTS = "slurm.conf", "changes.script"
TOPOLOGY = "topology.conf"
MORE_NODES = "more nodes like"
"""The key of a change that adds nodes of a kind; see `schedlab.site.more_nodes.expanded`."""

_MORE_NODES = re.compile(r"(\d{1,6})\s+more\s+nodes?\s+like\s+(\S+)", re.IGNORECASE)
_OF_ACCOUNTS = {"qos": "qos", "account": "account", "user": "user"}
_IN_WORDS = re.compile(r"(partition|nodes?|qos|account|user)\s+([^\s=]+)\s+(\S.*=.*)", re.IGNORECASE)
"""A line as tables and sentences call it, such as "partition batch MaxTime=1-0"."""

_LINES = {*OBJECTS, *_OF_ACCOUNTS, "switchname"}
"""What a line begins with that has options."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a configuration.

    Parameters
    ----------
    key
        A parameter; or what a line begins with, such as PartitionName.
    value
        Its value, or the name of the partition, nodes, QOS, account or user; empty: the parameter is taken out.
    option
        An option among the words of the parameter, as in SchedulerParameters.bf_interval; empty: none. Of `MORE_NODES`,
        their number.
    options
        What else stands on a line.
    """

    key: str
    value: str
    option: str = ""
    options: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """The change as it is written."""
        if self.key == MORE_NODES:
            return f"{self.option} {self.key if self.option != '1' else 'more node like'} {self.value}"
        head = f"{self.key}.{self.option}" if self.option else self.key
        words = [
            head if self.value == " " else f"{head}={self.value}",
            *(f"{name}={value}" for name, value in self.options),
        ]
        return " ".join(words)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters and options that it is about."""
        return (self.option,) if self.option else tuple(name for name, _ in self.options) or (self.key,)


def parse_change(text: str) -> Change:
    """Read a change.

    Parameters
    ----------
    text
        `PARAMETER=VALUE`, `SchedulerParameters.OPTION=VALUE` (or an option without a value; with "=" and nothing behind
        it, it is taken out), `PartitionName=NAME OPTION=VALUE ...`, the same with NodeName, or `QOS=NAME`,
        `Account=NAME` or `User=NAME` with options of sacctmgr; or `SwitchName=NAME Nodes=LIST` for topology.conf.
        `10 more nodes like NODES` adds nodes, with all that they need. `partition NAME OPTION=VALUE`, as tables call
        variants, is taken, too.

    Raises
    ------
    InputError
        If it is none of these. Whether the site has what it names, `schedlab.site.site_names.check_changes` says.

    Examples
    --------
    >>> parse_change("SchedulerParameters.bf_interval=60")
    Change(key='SchedulerParameters', value='60', option='bf_interval', options=())
    >>> parse_change("PartitionName=long MaxTime=2-0").options
    (('MaxTime', '2-0'),)
    >>> parse_change("partition long MaxTime=2-0").text
    'PartitionName=long MaxTime=2-0'
    >>> parse_change("10 more nodes like n[1-8]").text
    '10 more nodes like n[1-8]'
    """
    if matched := _MORE_NODES.fullmatch(text.strip()):
        if not int(matched[1]):
            raise InputError(f"change {shown(text)}: give a number of nodes above 0")
        return Change(MORE_NODES, matched[2], str(int(matched[1])))
    if matched := _IN_WORDS.fullmatch(text.strip()):
        kind = {"partition": "PartitionName", "node": "NodeName", "nodes": "NodeName", "qos": "QOS"}
        return parse_change(f"{kind.get(matched[1].lower(), matched[1].title())}={matched[2]} {matched[3]}")
    head, equals, value = text.strip().partition("=")
    parameter, dot, option = head.strip().partition(".")
    if dot:
        if parameter.lower() not in map(str.lower, LISTS):
            near = did_you_mean(parameter, LISTS)
            raise InputError(f"change {shown(text)}: only {', '.join(LISTS)} have options after a dot{near}")
        return Change(parameter, value.strip() if equals else " ", option)
    if not equals:
        raise InputError(f"change {shown(text)}: must be written PARAMETER=VALUE, or N more nodes like NODES")
    if parameter.lower() not in _LINES:
        return Change(parameter, value.strip())
    if rest := ASSIGNMENT.sub("", text).split():
        raise InputError(f"change {shown(text)}: {rest[0]} is not OPTION=VALUE")
    found = [(name, given.strip('"')) for name, given in ASSIGNMENT.findall(text)]
    return Change(parameter, found[0][1], options=tuple(found[1:]))


@explained
def changed(site: Site, changes: Iterable[str | Change], *, nodes_off: bool = False) -> Site:
    """Return a site whose configuration was changed, imported again; its jobs stay as they are.

    Parameters
    ----------
    site
        The site as it is.
    changes
        What to change, all together.
    nodes_off
        Whether idle nodes are switched off if the configuration says so; they are in any case if a change says when.

    Raises
    ------
    InputError
        If a change cannot be understood or made, names what the site does not have, or adds nodes that no job could
        use; or if slurmctld would refuse what comes of it.
    """
    from schedlab.site.more_nodes import expanded
    from schedlab.site.new_nodes import check_new_nodes
    from schedlab.site.site_names import check_changes

    if not site.files:
        raise InputError(f"site {site.name} has no configuration files: import it again")
    made = expanded(site, changes)
    check_changes(site, [made])
    with tempfile.TemporaryDirectory(prefix="schedlab-") as name:
        directory = Path(name)
        for file, text in site.files.items():
            (directory / file).write_text(text, encoding="utf-8")
        lines = {file: [line.text for line in _lines(directory / file)] for file in site.files if _is_conf(file)}
        commands: list[str] = []
        for change in made:
            with located(f"change {change.text}"):
                _apply(change, lines, commands)
        for file, texts in lines.items():
            (directory / file).write_text("\n".join(texts) + "\n", encoding="utf-8")
        if commands:
            _append(directory, commands)
        with _in_their_words(made, directory):
            other = site_of(
                directory / MAIN, site.jobs, site.settings.notes, site.node_events, release=site.settings.slurm
            )
            if nodes_off or any(map(is_of_power, made)):
                other = switching_off(other, directory, made)
    check_new_nodes(site, other)
    return with_release(other, site.settings.slurm)


@contextmanager
def _in_their_words(made: Sequence[Change], directory: Path) -> Iterator[None]:
    """Tell what is wrong with a changed configuration by the changes, not by lines of files that nobody has."""
    try:
        yield
    except InputError as error:
        said = re.sub(rf"{re.escape(str(directory))}/([^:\s]+)(:\d+)?", r"\1", str(error))
        raise InputError(f"change {'; '.join(one.text for one in made)}: {said}") from None


def check_questions(site: Site, questions: Iterable[Sequence[str]]) -> None:
    """Refuse changes before anything is simulated: those that name what is not there, or that slurmctld would refuse.

    Of several questions, only what is named and new nodes are checked: one that slurmctld would refuse fails by itself,
    and the others are answered.

    Parameters
    ----------
    site
        To be changed.
    questions
        Changes that are made together, once for each question.

    Raises
    ------
    InputError
        All that is wrong is told at once.
    """
    from schedlab.site.site_names import check_changes

    asked = list(questions)
    check_changes(site, asked)
    faults, single = Faults(), len(asked) == 1
    for changes in asked:
        if changes and (single or any(parse_change(text).key.lower() in ("nodename", MORE_NODES) for text in changes)):
            with faults.noted():
                changed(site, changes)
    faults.check()


def _is_conf(file: str) -> bool:
    """Return whether a file is slurm.conf, or included by it under whatever name, or topology.conf."""
    return file not in ("gres.conf", "topology.yaml", "sinfo.txt", "inferred.sinfo") and not file.endswith(
        (".script", ".dump", ".cfg")
    )


def _lines(path: Path) -> list[ConfigLine]:
    return list(own_lines(path))


def _append(directory: Path, commands: list[str]) -> None:
    """Put commands of sacctmgr behind the file of accounts."""
    found = account_file(directory)
    path = directory / ACCOUNTS if found is None else found
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    path.write_text("\n".join([before, *commands]) + "\n", encoding="utf-8")


def _apply(change: Change, lines: dict[str, list[str]], commands: list[str]) -> None:
    kind = change.key.lower()
    if kind in _OF_ACCOUNTS:
        options = " ".join(f"{name}={value}" for name, value in change.options)
        commands.append(f"modify {_OF_ACCOUNTS[kind]} where name={change.value} set {options}")
    elif kind in _LINES:
        _on_line(change, lines)
    elif change.option:
        _in_list(change, lines)
    else:
        _set(change.key, change.value, lines)


def _value(key: str, lines: Mapping[str, list[str]]) -> str:
    """Return the value of a parameter, empty if it is not set."""
    found = ""
    for text in (text for file, texts in lines.items() if file != TOPOLOGY for text in texts):
        if text.partition("=")[0].strip().lower() not in OBJECTS:
            for name, value in ASSIGNMENT.findall(text):
                found = value.strip('"') if name.lower() == key.lower() else found
    return found


def _set(key: str, value: str, lines: dict[str, list[str]]) -> None:
    """Take a parameter out of all lines, and put it at the end of the main file unless its value is empty."""
    pattern = re.compile(rf"(?<![\w.]){re.escape(key)}\s*=\s*{VALUE}", re.IGNORECASE)
    for file, texts in lines.items():
        if file == TOPOLOGY:
            continue
        kept = [
            text if text.partition("=")[0].strip().lower() in OBJECTS else pattern.sub("", text).strip()
            for text in texts
        ]
        lines[file] = [text for text in kept if text]
    if value:
        lines[MAIN].append(f"{key}={value}")


def _in_list(change: Change, lines: dict[str, list[str]]) -> None:
    """Set, add or take out an option among the words of a parameter."""
    words = [word.strip() for word in _value(change.key, lines).split(",") if word.strip()]
    kept = [word for word in words if word.partition("=")[0].lower() != change.option.lower()]
    if change.value == " ":
        kept.append(change.option)
    elif change.value:
        kept.append(f"{change.option}={change.value}")
    _set(change.key, ",".join(kept), lines)


def _on_line(change: Change, lines: dict[str, list[str]]) -> None:
    """Set options on the line of a partition, of nodes or of a switch; a line that is not there is added."""
    key = change.key.lower()
    files = [TOPOLOGY] if key == "switchname" else [file for file in lines if file != TOPOLOGY]
    for texts in (lines.get(file, []) for file in files):
        for place, text in enumerate(texts):
            if text.partition("=")[0].strip().lower() != key:
                continue
            if ASSIGNMENT.findall(text)[0][1].lower() == change.value.lower():
                texts[place] = _with_options(text, change.options)
                return
    # New nodes stand before all partitions, which may name them.
    lines.setdefault(TOPOLOGY if key == "switchname" else MAIN, []).append(change.text)


def _with_options(text: str, options: Iterable[tuple[str, str]]) -> str:
    for name, value in options:
        pattern = re.compile(rf"(?<![\w.]){re.escape(name)}\s*=\s*{VALUE}", re.IGNORECASE)
        text = f"{pattern.sub('', text)} {name}={value}"
    return " ".join(text.split())
