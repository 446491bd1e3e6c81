"""Multifactor priorities, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.part import Part
from schedlab.engine.parts.limits.tres import counted
from schedlab.engine.parts.priority.associations import associations
from schedlab.engine.parts.priority.kernels import Priority, new_priority
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.site_factor import order_of, points_of

if TYPE_CHECKING:
    from schedlab.engine.part import Given
    from schedlab.engine.prepared import Prepared


def _new(prepared: Prepared) -> Priority | None:
    return new_priority(prepared) if isinstance(prepared.scheduler.policy, Multifactor) else None


def _numbers(given: Given, prepared: Prepared) -> Prepared:
    """Take whose usage counts, and what requests and a site factor add to priorities."""
    policy, jobs = prepared.scheduler.policy, prepared.jobs
    if not isinstance(policy, Multifactor):
        return prepared
    machine = prepared.processors, policy, prepared.nodes, prepared.limits, given.cluster
    billing, added = counted(jobs["processors"], *machine)
    if policy.site:
        of_jobs = prepared.request, jobs["processors"], jobs["submit"]
        points = points_of(order_of(policy.order), policy.site, *of_jobs)
        added = points if added is None else added + points
    who = associations(prepared.workload, given.cluster, prepared.order, billing)
    return prepared._replace(associations=who, tres=added)


PRIORITY = Part("priority", Priority, _new, numbers=_numbers)
