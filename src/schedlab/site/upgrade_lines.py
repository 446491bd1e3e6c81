"""What a newer version of Slurm makes of the lines of a site's configuration: on paper, and in that version's words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from schedlab.cluster.slurm_key_changes import OF_RULES, How, changes_between, instead_of
from schedlab.cluster.slurm_releases import LIFETIMES, SlurmRelease, within
from schedlab.errors import InputError
from schedlab.scheduler.slurm_versions import VersionRule, differing, not_modelled
from schedlab.site.coverage import listed
from schedlab.site.ledger import LedgerLine
from schedlab.site.parameters import known
from schedlab.site.site import Site
from schedlab.slurm.judgement import Refusal, refusals
from schedlab.wording import count_of

HEADINGS: dict[How, str] = {
    "refused": "slurmctld {new} refuses",
    "not read": "not read by {new}: without effect",
    "elsewhere": "still read, but written otherwise in {new}",
    "default": "not set, and another default in {new}",
    "otherwise": "means something else in {new}",
}
"""What is said of lines by what becomes of them, the gravest first."""


@dataclass(frozen=True, slots=True)
class UpgradeLine:
    """What becomes of an option of a line.

    Parameters
    ----------
    how
        One of `HEADINGS`.
    where
        File and line of the first one; empty: it is not set, or the version does not say where.
    text
        The option, as it is written.
    instead
        What to write instead, or what changes.
    takes
        Which releases take it; empty: that is not known, or all do.
    said
        The version's own words, if it was asked.
    lines
        How many lines have it.
    """

    how: How
    where: str
    text: str
    instead: str
    takes: str = ""
    said: str = ""
    lines: int = 1

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        return f"{self.where} and {self.lines - 1:,} more" if self.lines > 1 else self.where

    @property
    def advice(self) -> str:
        """What to write instead or what changes, and the version's own words."""
        return "; ".join(filter(None, (self.instead, f'it says "{self.said}"' if self.said else "")))


@dataclass(frozen=True, slots=True)
class OnPaper:
    """What a newer version of Slurm makes of a configuration.

    Parameters
    ----------
    old, new
        The versions.
    lines
        What becomes of options, the gravest first.
    judged
        Whether programs of the newer version read the configuration.
    added
        Parameters that decide about scheduling, and that only the newer version has.
    """

    old: str
    new: str
    lines: tuple[UpgradeLine, ...]
    judged: bool
    added: tuple[str, ...]

    def of(self, how: How) -> tuple[UpgradeLine, ...]:
        """Return the options of which one thing becomes."""
        return tuple(one for one in self.lines if one.how == how)

    @property
    def clause(self) -> str:
        """Say whether the newer version takes the configuration, as a part of a sentence."""
        refused = self.of("refused")
        if not refused:
            how = "its own programs read it" if self.judged else "as far as is known on paper"
            return f"Slurm {self.new} takes the configuration as it is ({how})"
        first = refused[0]
        more = f" and {count_of(len(refused) - 1, 'other option')}" if len(refused) > 1 else ""
        if not first.text:
            return f'Slurm {self.new} does not start with the configuration ("{first.said}"){more}'
        return f"Slurm {self.new} does not start with {first.text} ({first.where}){more}"

    def sentences(self) -> list[str]:
        """Say what becomes of the configuration, in numbers."""
        words: dict[How, str] = {
            "not read": "no longer read",
            "elsewhere": "to be written otherwise",
            "otherwise": "of another meaning",
        }
        told = [f"{count_of(len(self.of(how)), 'option')} {text}" for how, text in words.items() if self.of(how)]
        if defaults := [one.text for one in self.of("default")]:
            told.append(f"{count_of(len(defaults), 'other default')} of what is not set ({', '.join(defaults)})")
        return [f"{self.clause}.", *([f"Besides, the lists below have {listed(told)}."] if told else [])]

    def listed(self) -> str:
        """Return the options one by one, the gravest first, and what is new."""
        parts = []
        for how, heading in HEADINGS.items():
            for number, one in enumerate(self.of(how)):
                parts += [] if number else [f"{heading.format(new=self.new)}:"]
                taken = f" (taken by {one.takes})" if one.takes else ""
                parts.append("  " + ": ".join(filter(None, (one.place, one.text, one.advice))) + taken)
        if self.added:
            parts += [f"new since {self.old}, and about scheduling:", f"  {', '.join(self.added)}"]
        return "\n".join(parts)

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Return the options as rows: what becomes of it, where, the option, what instead, which releases take it."""
        return [
            (HEADINGS[one.how].format(new=self.new), one.place, one.text, one.advice, one.takes) for one in self.lines
        ]

    def to_document(self) -> dict[str, Any]:
        """Return it as numbers and texts, for JSON."""
        return {"judged": self.judged, "lines": [asdict(one) for one in self.lines], "added": list(self.added)}


def on_paper(site: Site, old: str, new: str) -> OnPaper:
    """Return what a newer version makes of a site's configuration; if that version is here, it is asked as well."""
    found = list(_of_lines(site, old, new))
    judged = _judged(site, old, new)
    if judged is not None:
        found = _with_words(found, judged)
    ways = list(HEADINGS)
    lines = sorted(_grouped(found), key=lambda one: ways.index(one.how))
    return OnPaper(old, new, tuple(lines), judged is not None, tuple(_added(old, new)))


def _of_lines(site: Site, old: str, new: str) -> Iterator[UpgradeLine]:
    """Yield what becomes of each option of the files, and of those that are not set."""
    release = SlurmRelease(new, new)
    changes = {(one.place, one.name.lower()): one for one in changes_between(old, new) if one.how != "default"}
    for line in site.ledger:
        change = changes.get((line.place, line.name.lower()))
        if release.refuses(line.place, line.name) and line.text.lower() != "fastschedule=1":
            instead, takes = instead_of(line.place, line.name.lower()), str(within(line.place, line.name))
            yield UpgradeLine("refused", line.where, line.text, instead, takes)
        elif change is not None:
            yield UpgradeLine(change.how, line.where, line.text, change.instead)
        yield from _of_rules(line, old, new)
    if site.files and not site.inferred:
        for one in changes_between(old, new):
            if one.how == "default" and not any(line.value for line in site.ledger.find(one.name)):
                yield UpgradeLine("default", "", one.name, one.instead)


def concerns(site: Site, rule: VersionRule) -> bool:
    """Return whether a rule can have an effect at a site: whether its files have an option that it is about."""
    if rule.name not in OF_RULES or (rule.name == "requeued_keep_place" and not site.ledger.find("PriorityType")):
        return True
    return any(_is_about(line, rule) for line in site.ledger)


def _is_about(line: LedgerLine, rule: VersionRule) -> bool:
    return (line.place, line.name.lower()) in ((place, name.lower()) for place, name in OF_RULES.get(rule.name, ()))


def _of_rules(line: LedgerLine, old: str, new: str) -> Iterator[UpgradeLine]:
    """Yield the rules that differ and have an effect only by this option."""
    for rule in (*differing(old, new), *not_modelled(old, new)):
        if _is_about(line, rule):
            yield UpgradeLine(
                "otherwise", line.where, line.text, f"{rule.between(old, new)} ({rule.name}; the line stays as it is)"
            )


def _judged(site: Site, old: str, new: str) -> list[Refusal] | None:
    """Return what the newer version itself refuses; None: it is not here, or there are no lines to read.

    What the older one refuses as well, without naming a line, is of the copy of the files, not of the upgrade.
    """
    if not site.files or site.inferred or site.machine is None:
        return None
    try:
        found = refusals(site.files, new)
    except InputError:
        return None
    if all(one.name for one in found):
        return found
    try:
        usual = {one.said for one in refusals(site.files, old)}
    except InputError:
        return found
    return [one for one in found if one.name or one.said not in usual]


def _with_words(found: Iterable[UpgradeLine], judged: Iterable[Refusal]) -> list[UpgradeLine]:
    """Return what is known on paper with the words of the version, and what it refuses besides."""
    words = {_key(one.where, one.name): one for one in judged}
    told = []
    for line in found:
        own = words.pop(_key(line.where, line.text), None) if line.how == "refused" else None
        told.append(line if own is None else replace(line, said=own.said))
    besides = [UpgradeLine("refused", one.where, one.name, "", said=one.said) for one in words.values()]
    return [*told, *besides]


def _key(where: str, text: str) -> tuple[str, str]:
    """Return line and name: a site's main file may have another name than slurm.conf."""
    return where.rpartition(":")[2], text.partition("=")[0].lower()


def _grouped(found: Iterable[UpgradeLine]) -> list[UpgradeLine]:
    """Return one entry for lines that say the same."""
    groups: dict[tuple[str, ...], UpgradeLine] = {}
    for one in found:
        key = (one.how, one.text.partition("=")[0].lower(), one.instead, one.said)
        groups[key] = replace(groups[key], lines=groups[key].lines + 1) if key in groups else one
    return list(groups.values())


def _added(old: str, new: str) -> Iterator[str]:
    """Yield the parameters that decide about scheduling and that only the newer version has."""
    before, after = SlurmRelease(old, old), SlurmRelease(new, new)
    for place, name in LIFETIMES:
        row = known(place, name)
        if row is not None and row.decides and before.refuses(place, name) and not after.refuses(place, name):
            yield row.name if place == "slurm.conf" else f"{row.name} ({place})"
