"""What a site's own priority is made of, for a policy that is deployed beside it or instead of it."""

from __future__ import annotations

import re
from os import PathLike

from schedlab.scheduler.multifactor import Multifactor
from schedlab.site.copies import USUAL, copies_of
from schedlab.site.jobs import numbers_of
from schedlab.site.ranking import rank_variants
from schedlab.site.samples import THE_LOG
from schedlab.site.site import Site
from schedlab.site.sweep import Sweep
from schedlab.site.variants import Variant
from schedlab.slurm.own_priority import OwnPriority

_MULTIFACTOR = re.compile(r"^\s*PriorityType\s*=\s*priority/multifactor", re.IGNORECASE | re.MULTILINE)

_PARAMETERS = {
    "age": "PriorityWeightAge",
    "fairshare": "PriorityWeightFairshare",
    "qos": "PriorityWeightQOS",
    "partition": "PriorityWeightPartition",
    "size": "PriorityWeightJobSize",
}


def own_priority(site: Site) -> OwnPriority:
    """Return what the priority of jobs is made of at a site: weights, and the points of QOS and partitions.

    Examples
    --------
    >>> import pathlib, tempfile, schedlab as sl
    >>> conf = pathlib.Path(tempfile.mkdtemp()) / "slurm.conf"
    >>> _ = conf.write_text('''
    ... ClusterName=lab
    ... PriorityType=priority/multifactor
    ... PriorityWeightPartition=1000
    ... NodeName=n[1-4] CPUs=16
    ... PartitionName=batch Nodes=ALL Default=YES PriorityJobFactor=10
    ... PartitionName=short Nodes=ALL PriorityJobFactor=20
    ... ''')
    >>> own = own_priority(sl.site.import_site(conf))
    >>> dict(own.tiers), own.suggested_weight
    ({'partition batch': 500.0, 'partition short': 1000.0}, 499)
    """
    policy = site.scheduler.policy
    if not isinstance(policy, Multifactor):
        basic = not any(_MULTIFACTOR.search(text) for text in site.files.values())
        return OwnPriority(site.name, basic, {})
    points = {parameter: getattr(policy, name) for name, parameter in _PARAMETERS.items()}
    weights = {parameter: f"{weight:.0f}" for parameter, weight in points.items() if weight}
    if policy.tres:
        weights["PriorityWeightTRES"] = ", ".join(f"{name}: {weight:,g}" for name, weight in policy.tres.items())
    numbers = numbers_of(site.jobs, site.cluster)
    tiers = {
        f"{kind} {name}": float(weight * factors.get(number, 0.0))
        for kind, names, factors, weight in (
            ("partition", numbers.partitions, policy.partitions, policy.partition),
            ("QOS", numbers.qos, policy.qoses, policy.qos),
        )
        if weight
        for name, number in names.items()
    }
    return OwnPriority(site.name, False, weights, tiers)


def consequences(directory: str | PathLike[str], policy: str) -> str:
    """Return what `site what-if --policy` has found of a policy at a site, in Markdown; "" if it was not asked.

    Raises
    ------
    InputError
        If the directory is not a site with jobs.
    """
    sweep, variant = Sweep(directory, anyway=True), Variant.of((), policy)
    simulated = [one for one in copies_of([THE_LOG], USUAL) if sweep.pair(variant, one) is not None]
    if not simulated:
        return ""
    told = rank_variants(sweep, [variant], simulated).sentences()
    first = "What `schedlab site what-if` has found, with the policy in place of all of Slurm's own priority:"
    return "\n".join([first, "", *(f"- {sentence}" for sentence in told)])
