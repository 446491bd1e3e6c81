"""What a site's own priority is made of, for a policy that is deployed beside it or instead of it."""

from __future__ import annotations

import re

from schedlab.scheduler.multifactor import Multifactor
from schedlab.site.jobs import numbers_of
from schedlab.site.site import Site
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
        each = " for each (amounts, NO_NORMAL_TRES)" if policy.amounts else ""
        weights["PriorityWeightTRES"] = ", ".join(f"{name}: {weight:,g}" for name, weight in policy.tres.items()) + each
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
