"""Whether drawn cases keep the laws of schedules, of nodes, closures, limits and metrics, without the reference."""

from __future__ import annotations

from drawn_cases import Case
from laws import assert_laws_hold

from schedlab.engine.simulation import simulate
from schedlab.errors import InputError


def limits_are_plain(case: Case) -> bool:
    """Return whether each job has one account, one QOS and no more than it asks for, so that limits are easily told."""
    cluster, asked = case.options["cluster"], case.workload.resources
    if cluster.accounting is None or asked is None:
        return False
    by_partition = any(one.qos for one in cluster.partitions) or any(one.partition for one in cluster.accounting.users)
    whole = bool(asked.exclusive.any()) or any(one.exclusive for one in cluster.partitions)
    return not (by_partition or whole or any(one.over_partition for one in cluster.accounting.qos))


def broken_laws(case: Case) -> list[str]:
    """Return the law that the schedule of a case breaks; those of nodes are asked of cases on nodes only."""
    try:
        schedule = simulate(case.workload, case.scheduler, **case.options)
    except InputError:
        return []
    if schedule.placement is None:
        return []
    asked = case.workload.resources
    try:
        assert_laws_hold(
            schedule,
            cluster=case.options["cluster"] if limits_are_plain(case) else None,
            events=case.options.get("node_events"),
            reservation=None if asked is None else asked.reservation.texts(),
        )
    except AssertionError as error:
        return [f"a law does not hold: {error}"]
    return []
