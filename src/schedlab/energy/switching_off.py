"""What it saves to switch idle nodes off, and what it costs in waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from schedlab.arguments import explained
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.power_saving import PowerSaving
from schedlab.durations import duration_text
from schedlab.energy.accounting import EnergyAccount, account
from schedlab.energy.power import Power
from schedlab.energy.text import energy_text
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.sleeping import BOOTING
from schedlab.schedule.summary import duration, three_digits
from schedlab.scheduler.scheduler import Scheduler
from schedlab.wording import count_of
from schedlab.workload.workload import Workload

OF_BOOTS = ("boots", "jobs_that_waited_for_a_boot", "mean_boot_wait")
"""Metrics of nodes that are switched off: how often one boots, and jobs that wait for it (seconds, over all)."""


def boots_of(schedule: Schedule) -> dict[str, float]:
    """Return the metrics in `OF_BOOTS` of a schedule; none if its nodes are never switched off."""
    sleeps = None if schedule.placement is None else schedule.placement.sleeps
    waited = schedule.boot_wait
    if sleeps is None or waited is None:
        return {}
    found = (np.count_nonzero(sleeps["kind"] == BOOTING), np.count_nonzero(waited), waited.mean())
    return dict(zip(OF_BOOTS, map(float, found), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class SwitchedOff:
    """A machine whose idle nodes are switched off, or never are.

    Parameters
    ----------
    saving
        When they are; None: never.
    schedule
        What became of the jobs.
    account
        The energy of the schedule.
    """

    saving: PowerSaving | None
    schedule: Schedule
    account: EnergyAccount

    def metrics(self) -> dict[str, float]:
        """Return its numbers by name: waits (seconds), boots of nodes, jobs that waited for one, and its energy."""
        waits, none = self.schedule.metrics(), dict.fromkeys(OF_BOOTS, 0.0)
        return {
            **{name: waits[name] for name in ("mean_wait", "median_wait", "p95_wait", "max_wait", "makespan")},
            **(boots_of(self.schedule) or none),
            **self.account.metrics(),
        }

    def sentence(self, before: SwitchedOff) -> str:
        """Return what it saves and costs, beside a machine on which nodes are never switched off."""
        if self.saving is None:
            return f"Nodes stay on: {energy_text(self.account.kwh)}."
        mine, theirs = self.metrics(), before.metrics()
        saved = before.account.kwh - self.account.kwh
        share = saved / before.account.kwh if before.account.kwh else 0.0
        parts = [f"{energy_text(abs(saved))} ({abs(share):.1%})"]
        for name, unit in (("energy_cost", self.account.currency or "of money"), ("energy_co2_kg", "kg of CO2")):
            if name in mine:
                parts.append(f"{three_digits(abs(theirs[name] - mine[name]))} {unit}")
        booted = int(mine["jobs_that_waited_for_a_boot"])
        each = mine["mean_boot_wait"] * len(self.schedule) / booted if booted else 0.0
        jobs = count_of(booted, "job")
        boots = f"{jobs} {duration(each)} of boot{' each' if booted > 1 else ''}"
        return (
            f"Switch idle nodes off after {duration_text(self.saving.suspend_time)}: "
            f"{'saves' if saved >= 0 else 'takes more:'} {', '.join(parts)}; costs {boots}, "
            f"{duration(mine['mean_boot_wait'])} in the mean of all. The mean wait is {duration(mine['mean_wait'])} "
            f"instead of {duration(theirs['mean_wait'])}."
        )


@explained
def switch_off(
    jobs: Workload,
    scheduler: str | Scheduler,
    power: Power,
    cluster: Cluster,
    savings: Sequence[PowerSaving | None],
    *,
    progress: Callable[[int, int], None] | None = None,
    **simulation: Any,
) -> list[SwitchedOff]:
    """Simulate jobs on a cluster whose idle nodes are switched off, once for each way to do so.

    Parameters
    ----------
    jobs
        The jobs.
    scheduler
        A scheduler text or a `Scheduler`.
    power
        The power model.
    cluster
        The machine; whether it switches nodes off itself does not count.
    savings
        When idle nodes are switched off; None: never.
    progress
        Called with the number of simulations that are done and of all.
    simulation
        What else `simulate` is to be given.

    Raises
    ------
    InputError
        If the cluster has no nodes, or as `simulate` and `account`.

    Examples
    --------
    One node of 100 W idle, 300 W busy, 0 W off, with a job from 0 to 10, and one at 100 that waits 15 s for the boot.

    >>> from schedlab.cluster.nodes import NodeGroup
    >>> from schedlab.energy.power import GroupPower
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 100], run_time=[10, 10], requested_time=[10, 10],
    ...                                   requested_processors=[1, 1]))
    >>> machine = Cluster.of_nodes([NodeGroup.of("n1", cores=1)])
    >>> stays, sleeps = switch_off(jobs, "easy", Power((GroupPower(100, 300),)), machine, [None, PowerSaving(20, 15)])
    >>> stays.account.joules["idle"], sleeps.account.joules["idle"], sleeps.account.joules["boot"]
    (9000.0, 2000.0, 4500.0)
    >>> sleeps.sentence(stays)[:75]
    'Switch idle nodes off after 20s: saves 0.000694 kWh (16.7%); costs 1 job 15'
    """
    if not cluster.groups:
        raise InputError(f"{cluster.name}: the cluster has no nodes that could be switched off")
    power = power.on(cluster)
    found = []
    for done, saving in enumerate(savings, start=1):
        schedule = simulate(jobs, scheduler, cluster=replace(cluster, power_saving=saving), **simulation)
        found.append(SwitchedOff(saving, schedule, account(schedule, power)))
        if progress is not None:
            progress(done, len(savings))
    return found
