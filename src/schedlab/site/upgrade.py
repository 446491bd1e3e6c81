"""What an upgrade of Slurm changes at a site: its configuration on paper, its jobs in the twin, and by which rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from os import PathLike
from typing import Any

from schedlab.arguments import explained
from schedlab.cluster.slurm_releases import NOT_KNOWN
from schedlab.errors import InputError
from schedlab.scheduler.slurm_rules import check_version, version_of
from schedlab.scheduler.slurm_versions import OF_NODES, VERSIONS, VersionRule, differing, not_modelled
from schedlab.site.copies import in_copies
from schedlab.site.coverage import listed
from schedlab.site.effect_texts import effects_text
from schedlab.site.effects import Effect
from schedlab.site.headline import details_of_answer
from schedlab.site.priority_default import PRIORITY
from schedlab.site.ranked_variant import RankedVariant, differences_of
from schedlab.site.ranking import VariantRanking, rank_variants
from schedlab.site.samples import THE_LOG, SiteSample
from schedlab.site.select_default import SELECT, lacks_select
from schedlab.site.site import Site, read
from schedlab.site.slurm_defaults import changed_defaults, changed_select, remedies
from schedlab.site.sweep import Sweep
from schedlab.site.undecided import UNDECIDED
from schedlab.site.upgrade_lines import OnPaper, concerns, on_paper
from schedlab.site.variants import Variant
from schedlab.site.wait_text import signed
from schedlab.wording import count_of, table


def _default_of(name: str) -> VersionRule:
    """Return a cause that is no rule: what a version takes for a parameter that is not set."""
    return VersionRule(name, (), f"The default of {name}, which the configuration does not set.", "")


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """What one rule of the newer version does alone, with all others as in the older one.

    Parameters
    ----------
    rule
        Which.
    alone
        The site with it.
    """

    rule: VersionRule
    alone: RankedVariant

    @property
    def acts(self) -> bool:
        """Whether a job starts or ends at another second."""
        return not self.alone.unchanged

    @property
    def in_short(self) -> str:
        """What it does to the mean wait, and whether that is sure, in a few words."""
        change, _, verdict = self.alone.difference
        return f"mean wait {change}{', perhaps by chance' * (verdict == UNDECIDED)}"

    @property
    def most(self) -> Effect | None:
        """The group of jobs that it surely changes most, taken together; None: there is none."""
        sure = [one for one in self.alone.effects if one.kind != "all" and one.verdict in ("wins", "pays")]
        return max(sure, key=lambda one: abs(one.difference) * one.jobs, default=None)

    def to_document(self) -> dict[str, Any]:
        """Return it as numbers and texts, for JSON."""
        effects = [one.to_document() for one in self.alone.effects]
        return {"rule": self.rule.name, "meaning": self.rule.meaning, "acts": self.acts, "effects": effects}


@dataclass(frozen=True, slots=True)
class Upgrade:
    """An answer: what a newer version of Slurm makes of a site's configuration, and what its users will notice.

    Parameters
    ----------
    paper
        The configuration on paper.
    sweep
        Where the simulations are; None: the site has no jobs, so nothing was simulated.
    ranking
        The newer version as the only variant; None: as above.
    rules
        What each rule that differs does alone.
    """

    paper: OnPaper
    sweep: Sweep | None = None
    ranking: VariantRanking | None = None
    rules: tuple[RuleEffect, ...] = ()

    @property
    def variant(self) -> Variant:
        """The newer version."""
        assert self.ranking is not None
        return self.ranking.variants[0]

    @property
    def lead(self) -> list[str]:
        """What the answer begins with."""
        if self.ranking is None:
            return self.paper.sentences()[:1]
        first, *others = self.ranking.lead
        if self.paper.of("refused"):  # this needs no twin, and comes before all waits
            return [f"{self.paper.clause}.", first, *others]
        return [first, f"{self.paper.clause}.", *others]

    def sentences(self) -> list[str]:
        """Return the answer in plain sentences."""
        on_lines = self.paper.sentences()
        if self.ranking is None:
            return [*on_lines, "The site has no jobs: nothing was simulated."]
        return [*self.lead, *self._of_rules(), *details_of_answer(self.ranking), *on_lines[1:]]

    def _of_rules(self) -> list[str]:
        """Say which rules move jobs, and what these are, and of how many others they do not."""
        acting, number = [one for one in self.rules if one.acts], len(self.rules)
        told = (
            [f"None of {count_of(number, 'rule')} that differ{'s' * (number == 1)} moves a job here."] if number else []
        )
        if acting:
            each = listed([f"{one.rule.name} ({one.in_short})" for one in acting])
            add = "; together they need not add up" if len(acting) > 1 else ""
            move = "moves" if len(acting) == 1 else "move"
            told = [f"Of {count_of(number, 'rule')}, {len(acting):,} {move} jobs if taken alone: {each}{add}."]
            told.append("What a rule says in each version stands with the table of rules.")
        if others := self.others:
            concern = "concerns" if len(others) == 1 else "concern"
            told.append(f"{count_of(len(others), 'other rule')} {concern} options that the site does not use.")
        if of_nodes := self.of_nodes:
            are = "is" if len(of_nodes) == 1 else "are"
            told.append(f"{count_of(len(of_nodes), 'other rule')} {are} about nodes, and nodes were not simulated.")
        return told

    @property
    def others(self) -> list[str]:
        """Rules that differ, and are about options that the site does not have."""
        there = {*(one.rule.name for one in self.rules), *self.of_nodes}
        return [one.name for one in differing(self.paper.old, self.paper.new) if one.name not in there]

    @property
    def of_nodes(self) -> list[str]:
        """Rules that differ, and are about nodes where none were simulated."""
        if self.sweep is None or self.sweep.nodes:
            return []
        return [one.name for one in differing(self.paper.old, self.paper.new) if one.name in OF_NODES]

    def to_document(self) -> dict[str, Any]:
        """Return the answer as numbers and texts, for JSON."""
        return {
            "from": self.paper.old,
            "to": self.paper.new,
            "sentences": self.sentences(),
            "configuration": self.paper.to_document(),
            "answer": None if self.ranking is None else self.ranking.to_document(),
            "rules": [one.to_document() for one in self.rules],
        }

    def __str__(self) -> str:
        parts = ["\n".join(self.sentences()), self.paper.listed()]
        if self.ranking is None:
            return "\n\n".join(filter(None, parts))
        head = ("rule alone", "mean wait", "95 % interval", "", "most")
        parts.append(table(head, rows_of(self.rules)))
        versions = self.paper.old, self.paper.new
        parts.append("\n".join(f"{one.rule.name}: {one.rule.between(*versions)}" for one in self.rules))
        effects = self.ranking.best.effects
        if effects and not self.ranking.best.unchanged:
            parts += [f"{self.variant.name}: who wins, and who pays", effects_text(effects)]
        return "\n\n".join(filter(None, [*parts, str(self.ranking.grounds.omissions)]))


def rows_of(rules: Sequence[RuleEffect]) -> list[tuple[str, str, str, str, str]]:
    """Return rules as rows: rule, difference of the mean wait, interval, verdict, whose it is most."""
    most = ["" if one.most is None else f"{one.most.who} {signed(one.most.difference)}" for one in rules]
    told = differences_of([one.alone for one in rules])
    return [(one.rule.name, *difference, whose) for one, difference, whose in zip(rules, told, most, strict=True)]


def versions_of(site: Site, new: str, old: str = "") -> tuple[str, str]:
    """Return the versions of an upgrade: the older one, which is by default that of the site, and the newer one.

    Raises
    ------
    InputError
        If one is not known, both are the same, or the newer one is older.
    """
    newer = check_version(new, "--to")
    if not old and site.settings.slurm == NOT_KNOWN:
        raise InputError("which Slurm the site runs is not known: give it, such as --from 22.05")
    older = check_version(old, "--from") if old else version_of(site.settings.slurm)
    if older == newer:
        raise InputError(f"--from {older} --to {newer}: both are the same, so nothing would change")
    if older > newer:
        raise InputError(f"--from {older} --to {newer}: an upgrade goes to a newer version; change them round")
    return older, newer


@explained
def upgrade(
    directory: str | PathLike[str],
    new: str,
    *,
    old: str = "",
    sample: SiteSample = THE_LOG,
    copies: int | None = None,
    nodes: bool = True,
    anyway: bool = False,
    workers: int | None = None,
    progress: Callable[[int, int, int], None] | None = None,
) -> Upgrade:
    """Tell what an upgrade of Slurm changes at a site: lines of its configuration, and the waits of its jobs.

    Parameters
    ----------
    directory
        Of the site, which keeps the simulations. Without jobs, only its configuration is looked at.
    new, old
        The versions, of 22.05, 24.11 and 26.05; the older one is by default that of the site.
    sample
        Which jobs are replayed.
    copies, nodes, anyway, workers, progress
        As for `what_if`.

    Returns
    -------
    Upgrade
        With each rule that differs switched alone, beside all of them.

    Raises
    ------
    InputError
        If a version is not known, they are the same, or the twin is not good enough.
    """
    site = read(directory)
    older, newer = versions_of(site, new, old)
    paper = on_paper(site, older, newer)
    if site.jobs is None:
        return Upgrade(paper)
    as_read = older == version_of(site.settings.slurm) == VERSIONS[0] and not lacks_select(site)
    sweep = Sweep(directory, nodes=nodes, anyway=anyway, slurm="" if as_read else older)
    defaults = {PRIORITY: changed_defaults(sweep.site, older, newer), SELECT: changed_select(sweep.site, older, newer)}
    whole = Variant(f"Slurm {newer}", (*chain(*defaults.values()), *remedies(site, newer)), slurm=newer)
    acting = (rule for rule in differing(older, newer) if nodes or rule.name not in OF_NODES)
    rules = [rule for rule in acting if concerns(sweep.site, rule)]
    causes = [(rule, Variant(rule.name, slurm=newer, rules=(rule.name,))) for rule in rules]
    causes += [(_default_of(name), Variant(name, changes)) for name, changes in defaults.items() if changes]
    variants = [whole, *(variant for _, variant in causes)]
    samples = in_copies(sweep, [sample], copies, len(variants))
    sweep.run(variants, samples, workers=workers, progress=progress)
    ranking = _with_unknown(rank_variants(sweep, [whole], samples), sweep.site, older, newer)
    return Upgrade(paper, sweep, ranking, _of_rules(sweep, causes, samples))


def _of_rules(
    sweep: Sweep, causes: Sequence[tuple[VersionRule, Variant]], samples: Sequence[SiteSample]
) -> tuple[RuleEffect, ...]:
    """Return what each rule does alone, those that do most first."""
    found = {one.variant: one for one in rank_variants(sweep, [variant for _, variant in causes], samples).ranked}
    effects = [RuleEffect(rule, found[variant]) for rule, variant in causes if variant in found]
    return tuple(sorted(effects, key=lambda one: -abs(one.alone.mean_wait - one.alone.mean_wait_before)))


def _with_unknown(ranking: VariantRanking, site: Site, old: str, new: str) -> VariantRanking:
    """Return a ranking that says which differences between the versions are known, and not simulated."""
    unknown = [f"{one.name}: {one.meaning}" for one in not_modelled(old, new) if concerns(site, one)]
    left = ranking.grounds.omissions
    omissions = replace(left, versions=tuple(unknown))
    return replace(ranking, grounds=replace(ranking.grounds, omissions=omissions))
