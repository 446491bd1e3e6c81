"""Energy as metrics of comparisons and campaigns."""

from __future__ import annotations

from collections.abc import Callable

from schedlab.arguments import explained
from schedlab.cluster.cluster import Cluster
from schedlab.energy.accounting import account
from schedlab.energy.power import Power
from schedlab.schedule.schedule import Schedule

NAMES = ("energy_kwh", "energy_of_idle_kwh", "mean_power_kw", "max_power_kw")
"""Metrics that every power model has."""

MORE = {"energy_cost": "price", "energy_co2_kg": "intensity", "seconds_above_cap": "cap"}
"""Those that need a series, and which."""

OF_ENERGY = (*NAMES, *MORE)
"""All metrics that a power model may have."""


def words_of(metric: str) -> str:
    """Return a metric in words, also one that is not of energy.

    Examples
    --------
    >>> words_of("energy_kwh"), words_of("energy_co2_kg"), words_of("mean_wait")
    ('energy (kWh)', 'CO2 (kg)', 'mean wait')
    """
    words = metric.replace("_", " ")
    if metric not in OF_ENERGY:
        return words
    return words.replace("energy co2 kg", "CO2 (kg)").replace(" kwh", " (kWh)").replace(" kw", " (kW)")


def metric_names_of(power: Power) -> tuple[str, ...]:
    """Return the names of the metrics that a power model has; less of each is better.

    Examples
    --------
    >>> from schedlab.energy.power import GroupPower
    >>> metric_names_of(Power((GroupPower(idle=100, busy=300),), price=0.2))[-1]
    'energy_cost'
    """
    return (*NAMES, *(name for name, series in MORE.items() if getattr(power, series) is not None))


@explained
def metrics(power: Power, cluster: Cluster | None = None) -> list[Callable[[Schedule], float]]:
    """Return the metrics of a power model for `compare(..., metrics=)`: functions of a schedule, by their names.

    They count the whole schedule, from the first submission to the last end, whatever other metrics leave out.

    Parameters
    ----------
    power
        The power model.
    cluster
        The machine, if the model names groups by features.

    Examples
    --------
    >>> from schedlab.energy.power import GroupPower
    >>> from schedlab.campaign.results.comparison import compare
    >>> from schedlab.workload.workload import Workload
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 0], run_time=[3600, 7200], requested_time=[3600, 7200],
    ...                                   requested_processors=[1, 1]))
    >>> found = compare(jobs, ["fcfs"], processors=2, metrics=metrics(Power((GroupPower(idle=50, busy=150),))))
    >>> found.metrics["fcfs"]["energy_kwh"]
    0.5
    """
    resolved = power.on(cluster)
    last: dict[int, tuple[Schedule, dict[str, float]]] = {}

    def numbers(schedule: Schedule) -> dict[str, float]:
        if id(schedule) not in last:
            last.clear()  # one schedule is measured after the other
            last[id(schedule)] = schedule, account(schedule, resolved).metrics()
        return last[id(schedule)][1]

    def metric(name: str) -> Callable[[Schedule], float]:
        def measure(schedule: Schedule) -> float:
            return numbers(schedule)[name]

        measure.__name__ = name
        return measure

    return [metric(name) for name in metric_names_of(resolved)]
