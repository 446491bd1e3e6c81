"""A site as another version of Slurm takes it: by its rules, and with its defaults of parameters that are not set."""

from __future__ import annotations

from dataclasses import replace

from schedlab.cluster.slurm_key_changes import REMEDIES
from schedlab.cluster.slurm_releases import SlurmRelease, default_select
from schedlab.site.changes import changed
from schedlab.site.priority_default import DEFAULT_PRIORITY, PRIORITY, sets_priority
from schedlab.site.select_default import SELECT, lacks_select
from schedlab.site.site import Site
from schedlab.site.slurm_release import with_release

SELECT_PARAMETERS = "SelectTypeParameters"


def changed_defaults(site: Site, old: str, new: str) -> tuple[str, ...]:
    """Return the changes by which a site of one version has the defaults of another, where its files say nothing."""
    usual = DEFAULT_PRIORITY[new]
    if usual == DEFAULT_PRIORITY[old] or not site.files or site.inferred or sets_priority(site):
        return ()
    return (f"{PRIORITY}={usual}",)


def changed_select(site: Site, old: str, new: str) -> tuple[str, ...]:
    """Return the changes by which jobs share nodes, or do not, as is the default of another version."""
    if not lacks_select(site) or site.ledger.find(SELECT_PARAMETERS):
        return ()
    before, after = (default_select(SlurmRelease(one, one)) for one in (old, new))
    names = {name.lower(): name for name in (SELECT, SELECT_PARAMETERS)}
    return () if before == after else tuple(f"{names[name]}={value}" for name, value in after.items())


def remedies(site: Site, new: str) -> tuple[str, ...]:
    """Return the changes without which a version does not start, of options that a laboratory does not drop."""
    release = SlurmRelease(new, new)
    found = (line for line in site.ledger if release.refuses(line.place, line.name))
    keys = ((line.place, line.name.lower()) for line in found)
    return tuple(dict.fromkeys(REMEDIES[key] for key in keys if key in REMEDIES))


def site_under(site: Site, version: str) -> Site:
    """Return a site by the rules, and with the defaults, of a version of Slurm; "": as it is."""
    if not version:
        return site
    release = SlurmRelease(version, version, "given")
    if lacks_select(site) or (site.files and not site.inferred and not sets_priority(site)):
        return changed(replace(site, settings=replace(site.settings, slurm=release)), ())
    return with_release(site, release)
