"""The energy of a schedule: what machine and jobs draw over time, in kWh, money and CO2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.cluster.cluster import ONE_NODE, Cluster
from schedlab.energy.power import Power
from schedlab.energy.series import Series
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.sleeping import BOOTING
from schedlab.schedule.stretches import by_stretch
from schedlab.schedule.timeline import Steps, count_present
from schedlab.workload.workload import Workload

JOULES = 3.6e6
"""In a kWh."""

WATTS = "watts"
"""The own column of jobs that says what each was measured to draw, on all its nodes together."""

MILLI = 1_000
"""Power over time is added up in whole milliwatts, so that a job that ends leaves nothing behind."""

PARTS = ("jobs", "idle", "off", "boot", "base", "overhead")
"""Where energy goes: what jobs draw, what nodes and cores draw that are on and that no job holds, nodes that are off or
boot (if any are switched off), what is always on, and cooling."""


class Draws(NamedTuple):
    """What each run draws: when, how many watts in all, and how many of them what it holds would draw idle."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    job: NDArray[np.int64]
    watts: NDArray[np.float64]
    idle: NDArray[np.float64]


class Sleeps(NamedTuple):
    """When nodes were not on: off or booting, with the watts that they drew, and those that they would have drawn."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    boots: NDArray[np.bool_]
    watts: NDArray[np.float64]
    idle: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class EnergyAccount:
    """The energy of a schedule.

    Parameters
    ----------
    power
        Watts of the site over time, cooling included.
    joules
        By the parts in `PARTS`.
    of_jobs
        float64 kWh that each job drew, in all its runs, cooling included; whatever of them lies in the period.
    cost, co2
        Of all energy, in the currency of the model and in kg; None if the model does not say.
    currency
        Of the cost.
    above_cap
        Seconds in which the power was above the cap; None without one.
    estimated
        How many runs are of jobs without a measured power, where others have one.
    idle
        Watts of the site while no job runs and all nodes are on, cooling included.
    """

    power: Steps
    joules: Mapping[str, float]
    of_jobs: NDArray[np.float64]
    cost: float | None = None
    co2: float | None = None
    currency: str = ""
    above_cap: int | None = None
    estimated: int = 0
    idle: float = 0.0

    @property
    def kwh(self) -> float:
        """All energy in kWh."""
        return sum(self.joules.values()) / JOULES

    @property
    def seconds(self) -> int:
        """How long the period is."""
        return int(self.power.times[-1] - self.power.times[0])

    def metrics(self) -> dict[str, float]:
        """Return its numbers by name, for tables; see `schedlab.energy.metrics`."""
        known = {"energy_cost": self.cost, "energy_co2_kg": self.co2, "seconds_above_cap": self.above_cap}
        return {
            "energy_kwh": self.kwh,
            "energy_of_idle_kwh": self.joules["idle"] / JOULES,
            "mean_power_kw": self.kwh * 3_600 / max(self.seconds, 1),
            "max_power_kw": float(self.power.values.max()) / 1_000,
            **{name: float(value) for name, value in known.items() if value is not None},
        }

    def __str__(self) -> str:
        from schedlab.energy.text import account_text

        return account_text(self)


@explained
def account(
    schedule: Schedule,
    power: Power,
    *,
    cluster: Cluster | None = None,
    begin: int | None = None,
    end: int | None = None,
) -> EnergyAccount:
    """Return the energy of a schedule.

    Parameters
    ----------
    schedule
        What was simulated or recorded. On nodes, each draws what its group says; else every processor its share.
    power
        The power model. Jobs with a number in an own column `watts` draw that, on all their nodes together.
    cluster
        The machine, if the model names groups by features.
    begin, end
        Seconds: what is counted; by default from the first submission to the last end.

    Raises
    ------
    InputError
        If there are no jobs, the model does not fit the machine, or a series does not cover the period.

    Examples
    --------
    Two cores of a node of 100 W idle and 300 W busy are held for an hour, and one of them for another hour: 300 W, then
    200 W, 0.5 kWh in all.

    >>> from schedlab.energy.power import GroupPower
    >>> from schedlab.engine.simulation import simulate
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 0], run_time=[3600, 7200], requested_time=[3600, 7200],
    ...                                   requested_processors=[1, 1]))
    >>> schedule = simulate(jobs, "fcfs", processors=2)
    >>> found = account(schedule, Power((GroupPower(idle=100, busy=300, cores=2),), price=0.2))
    >>> found.kwh, round(found.cost, 6), found.power.values.tolist()
    (0.5, 0.1, [300.0, 200.0, 200.0])
    """
    if not len(schedule):
        raise InputError(f"{schedule.workload.name}: there are no jobs, so that there is no period to count")
    power = power.on(cluster).on_clock(schedule.workload.start_time)
    first = int(schedule.workload.submit_time.min()) if begin is None else begin
    last = max(int(schedule.end_time.max()), first + 1) if end is None else end
    if last <= first:
        raise InputError(f"the period from second {first:,} to {last:,} is empty")
    schedule = by_stretch(schedule)
    on_nodes = schedule.placement is not None and schedule.placement.nodes != (ONE_NODE,)
    draws, idle = (_on_nodes if on_nodes else _on_processors)(schedule, power)
    measured = measured_watts(schedule.workload)
    known = np.isfinite(measured[draws.job])
    draws = draws._replace(
        start=np.clip(draws.start, first, last),
        end=np.clip(draws.end, first, last),
        watts=np.where(known, measured[draws.job], draws.watts),
    )
    estimated = int((~known).sum()) if known.any() else 0
    return _account(
        draws, _sleeps(schedule, power, (first, last)), idle, power, (first, last), len(schedule), estimated
    )


def _account(
    draws: Draws,
    sleeps: Sleeps | None,
    idle: float,
    power: Power,
    period: tuple[int, int],
    jobs: int,
    estimated: int,
) -> EnergyAccount:
    """Add up what runs draw, and what is drawn besides, in a period."""
    first, last = period
    length = draws.end - draws.start
    of_runs = draws.watts * length
    joules = {
        "jobs": float(of_runs.sum()),
        "idle": idle * (last - first) - float((draws.idle * length).sum()),
    }
    start, end, more = draws.start, draws.end, draws.watts - draws.idle
    if sleeps is not None:
        slept = sleeps.end - sleeps.start
        joules["idle"] -= float((sleeps.idle * slept).sum())
        joules["off"] = float((sleeps.watts * slept)[~sleeps.boots].sum())
        joules["boot"] = float((sleeps.watts * slept)[sleeps.boots].sum())
        start, end = np.append(start, sleeps.start), np.append(end, sleeps.end)
        more = np.append(more, sleeps.watts - sleeps.idle)
    joules["base"] = power.base * (last - first)
    joules["overhead"] = (power.pue - 1) * sum(joules.values())
    constant = idle + power.base

    def priced(name: str, series: Series | None) -> float | None:
        if series is None:
            return None
        series.check_covers(first, last)
        whole = constant * series.integral(np.array([first]), np.array([last]))[0]
        return float(power.pue * (whole + (more * series.integral(start, end)).sum()) / JOULES)

    steps = _over_time(start, end, more, constant, period)
    steps = Steps(steps.times, steps.values * power.pue)
    grams = priced("intensity", power.intensity)
    return EnergyAccount(
        steps,
        joules,
        (np.bincount(draws.job, of_runs, jobs) * power.pue / JOULES).astype(np.float64),
        priced("price", power.price),
        None if grams is None else grams / 1_000,
        power.currency,
        None if power.cap is None else _seconds_above(steps, power.cap),
        estimated,
        constant * power.pue,
    )


def measured_watts(workload: Workload) -> NDArray[np.float64]:
    """Return what each job was measured to draw, NaN where that is not known."""
    if workload.own is None or WATTS not in workload.own.columns:
        return np.full(len(workload), np.nan)
    column = workload.own.array(WATTS)
    if column.dtype.kind not in "if":
        raise InputError(f"{workload.name}: the column {WATTS} holds texts: it must say what each job draws, in watts")
    wrong = np.flatnonzero(column < 0)
    if wrong.size:
        row = int(wrong[0])
        raise InputError(
            f"{workload.name}: job {workload.job_id[row]} draws {column[row]:g} W, which is below 0", row=row
        )
    return column.astype(np.float64)


def _jobs_of(schedule: Schedule) -> NDArray[np.int64]:
    return np.arange(len(schedule)) if schedule.runs is None else schedule.runs["job"].astype(np.int64)


def _on_processors(schedule: Schedule, power: Power) -> tuple[Draws, float]:
    """Return what runs draw on a number of processors, and what that draws idle."""
    group, held = power.of_processors(), schedule.held
    idle, busy = group.idle / group.cores, group.busy / group.cores
    processors = held.processors.astype(np.float64)
    draws = Draws(held.start, held.end, _jobs_of(schedule), busy * processors, idle * processors)
    return draws, idle * schedule.processors


def _on_nodes(schedule: Schedule, power: Power) -> tuple[Draws, float]:
    """Return what runs draw on nodes, and what these draw idle."""
    placement, held = schedule.placement, schedule.held
    assert placement is not None
    watts = power.watts_of(placement.nodes)
    run = np.repeat(np.arange(len(placement)), np.diff(placement.offsets))
    share = placement.held_cores / placement.cores[placement.node]
    busy = watts.busy[placement.node] * share + watts.gpu[placement.node] * placement.held_gpus
    idle = watts.idle[placement.node] * share
    drawn, shared = (np.bincount(run, part, len(placement)).astype(np.float64) for part in (busy, idle))
    return Draws(held.start, held.end, _jobs_of(schedule), drawn, shared), float(watts.idle.sum())


def _sleeps(schedule: Schedule, power: Power, period: tuple[int, int]) -> Sleeps | None:
    """Return when nodes were off or booted in a period; None if none is ever switched off."""
    if schedule.placement is None or schedule.placement.sleeps is None:
        return None
    spans, watts = schedule.placement.sleeps, power.watts_of(schedule.placement.nodes)
    boots = spans["kind"] == BOOTING
    drawn = np.where(boots, watts.boot[spans["node"]], watts.off[spans["node"]])
    start, end = (np.clip(spans[name], *period) for name in ("begin", "end"))
    return Sleeps(start, end, boots, drawn, watts.idle[spans["node"]])


def _over_time(
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    more: NDArray[np.float64],
    constant: float,
    period: tuple[int, int],
) -> Steps:
    weights = np.append(np.round(more * MILLI), 0).astype(np.int64)
    found = count_present(np.append(start, period[0]), np.append(end, period[1]), weights)
    values = found.values / MILLI + constant
    values[-1] = values[-2]  # nothing is known of what comes behind
    return Steps(found.times, values)


def _seconds_above(steps: Steps, cap: Series) -> int:
    """Return for how many seconds power is above a cap."""
    first, last = int(steps.times[0]), int(steps.times[-1])
    cap.check_covers(first, last)
    edges = np.union1d(steps.times, cap.changes(first, last))
    drawn = steps.values[np.searchsorted(steps.times, edges, side="right") - 1]
    above = drawn[:-1] > cap.at(edges[:-1]) + 1 / MILLI
    return int(np.diff(edges)[above].sum())
