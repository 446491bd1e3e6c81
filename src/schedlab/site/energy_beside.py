"""Energy of a variant over the time that the site as it is takes for the same jobs.

A variant whose last job ends later would otherwise take the energy of an idle machine in addition, and one whose last
job ends sooner would save it, though the machine is there in both.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from schedlab.durations import HOUR
from schedlab.energy.accounting import JOULES
from schedlab.energy.power import Power
from schedlab.energy.series import Series

IDLE_POWER = "idle_power_kw"
"""Of the metrics of an answer: what the site draws while no job runs and all nodes are on."""


def in_time_until(metrics: Mapping[str, float], ends: int, until: int, power: Power) -> dict[str, float]:
    """Return metrics of jobs that end at one second as if the account were closed at another one.

    Between the two, an idle machine counts in addition, or no longer. Where nodes are switched off, nothing changes:
    they would be off then.

    Parameters
    ----------
    metrics
        Those of the variant.
    ends, until
        Seconds of the log.
    power
        The power model on the clock of the log.
    """
    found = dict(metrics)
    if not metrics.get(IDLE_POWER) or "boots" in metrics or ends == until:
        return found
    watts, hours = metrics[IDLE_POWER] * 1_000, metrics["energy_kwh"] / metrics["mean_power_kw"]
    more = watts * (until - ends) / JOULES
    found["energy_kwh"] += more
    found["energy_of_idle_kwh"] += more
    found["mean_power_kw"] = found["energy_kwh"] / (hours + (until - ends) / HOUR)
    for name, series, unit in (("energy_cost", power.price, 1), ("energy_co2_kg", power.intensity, 1_000)):
        if name in metrics and series is not None:
            found[name] += watts * _integral(series, ends, until) / JOULES / unit
    return found


def _integral(series: Series, begin: int, end: int) -> float:
    """Return the integral from one second to another, which may be before it."""
    first, last = min(begin, end), max(begin, end)
    found = float(series.integral(np.array([first]), np.array([last]))[0])
    return found if begin <= end else -found
