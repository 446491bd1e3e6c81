"""Power over time beside the machine, and what its energy costs: a figure and a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from schedlab.arguments import explained
from schedlab.cluster.cluster import Cluster
from schedlab.energy.accounting import JOULES, EnergyAccount, account
from schedlab.energy.power import Power
from schedlab.energy.series import Series
from schedlab.energy.text import WORDS, energy_text, power_text
from schedlab.report.comparison import TIME_BINS
from schedlab.report.illustrations import Illustration, illustrate
from schedlab.report.style import COLOURS, TimeAxis, new_figure, number_ticks, percent_ticks, styled, title
from schedlab.report.tables import Cell, Table
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.summary import duration, three_digits
from schedlab.schedule.timeline import Steps, utilisation_over_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Strip(NamedTuple):
    """What one of the axes shows: a name with its unit, a curve, whether it is filled, and whether it is a share."""

    label: str
    curve: Steps
    filled: bool
    share: bool = False


@explained
def plot_power(schedule: Schedule, power: Power, *, cluster: Cluster | None = None) -> Figure:
    """Draw over time how much of the machine is in use, what it draws, and the price and intensity of its energy.

    Parameters
    ----------
    schedule
        The schedule.
    power
        The power model; its cap stands beside the power, if it has one.
    cluster
        The machine, if the model names groups by features.

    Returns
    -------
    matplotlib.figure.Figure
        Means over equal parts of the time, one above the other.
    """
    resolved = power.on(cluster)
    watts = account(schedule, resolved).power
    return _drawn(_Curve.of(schedule, resolved, watts, utilisation_over_time(schedule), schedule.scheduler))


class _Curve(NamedTuple):
    """The watts of a schedule and the share in use over time, the model that says them, and the name of the figure."""

    schedule: Schedule
    power: Power
    watts: Steps
    in_use: Steps
    name: str

    @classmethod
    def of(cls, schedule: Schedule, power: Power, watts: Steps, in_use: Steps, name: str) -> _Curve:
        """Return it with the model on the clock of the schedule."""
        return cls(schedule, power.on_clock(schedule.workload.start_time), watts, in_use, name)

    @property
    def period(self) -> tuple[int, int]:
        """The first submission and the last end."""
        return int(self.watts.times[0]), int(self.watts.times[-1])

    @property
    def highest(self) -> float:
        """The most watts that its figure has to show: of the power or of the cap."""
        cap = [] if self.power.cap is None else [float(_sampled(self.power.cap, *self.period).values.max())]
        return max([float(self.watts.values.max()), *cap])


def _drawn(curve: _Curve, highest: float = 0.0) -> Figure:
    """Draw a curve; with others, on the scale of the highest watts of all."""
    schedule, power, name = curve.schedule, curve.power, curve.name
    strips = list(_strips(curve))
    begin, end = curve.period
    axis = TimeAxis(begin, end, begin, schedule.workload.start_time)
    with styled():
        figure = new_figure((8.0, 1.0 + 1.6 * len(strips)))
        axes: list[Axes] = list(figure.subplots(len(strips), sharex=True, squeeze=False)[:, 0])
        for number, (ax, strip) in enumerate(zip(axes, strips, strict=True)):
            _draw(ax, strip, axis, COLOURS[number])
        if power.cap is not None:
            cap = _sampled(power.cap, begin, end)
            axes[1].step(axis(cap.times), cap.values / 1_000, where="post", color=COLOURS[4], label="cap")
            axes[1].legend(loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0)  # above: it hides nothing
        if power.cap is not None or highest:
            axes[1].set_ylim(top=1.05 * max(highest, curve.highest) / 1_000)
        title(axes[0], "Power", {name: schedule})
        axis.label(axes[-1])
    return figure


def _draw(ax: Axes, strip: Strip, axis: TimeAxis, colour: str) -> None:
    time, values = axis(strip.curve.times), strip.curve.values
    if strip.filled:
        ax.fill_between(time, 0, values, step="post", color=colour, linewidth=0)
        ax.set_ylim(bottom=0, top=1.04 if strip.share else None)
    else:
        ax.step(time, values, where="post", color=colour)
    (percent_ticks if strip.share else number_ticks)(ax.yaxis)
    ax.set_ylabel(strip.label)
    ax.set_xlim(*axis.limits)


def _strips(curve: _Curve) -> Iterator[Strip]:
    (begin, end), power = curve.period, curve.power
    yield Strip("In use", curve.in_use.binned(TIME_BINS, begin, end), True, True)
    drawn = curve.watts.binned(TIME_BINS, begin, end)
    yield Strip("Power (kW)", Steps(drawn.times, drawn.values / 1_000), True)
    if power.price is not None and not power.price.is_flat:
        yield Strip(f"Price\n({power.currency or 'money'} per kWh)", _sampled(power.price, begin, end), False)
    if power.intensity is not None and not power.intensity.is_flat:
        yield Strip("Intensity\n(g CO2 per kWh)", _sampled(power.intensity, begin, end), False)


def _sampled(series: Series, begin: int, end: int) -> Steps:
    """Return a series from second to second, as it is or, where it changes too often to be seen, as means."""
    times = np.concatenate([[begin], series.changes(begin, end), [end]])
    exact = Steps(times, np.append(series.at(times[:-1]), series.at(times[-2:-1])))
    return exact if len(times) <= TIME_BINS else exact.binned(TIME_BINS, begin, end)


@dataclass(frozen=True, slots=True)
class EnergyPart:
    """What a page says of the energy of a schedule: a sentence, figures and a table."""

    sentence: str
    figures: list[Illustration]
    table: Table


def energy_part(schedule: Schedule, power: Power) -> EnergyPart:
    """Return what a page says of the energy of a schedule."""
    found = account(schedule, power)
    curve = _Curve.of(schedule, power, found.power, utilisation_over_time(schedule), schedule.scheduler)
    return EnergyPart(energy_sentence(found), [_illustrated(curve)], _table(found))


def power_figures(given: Mapping[str, tuple[Schedule, Power, Steps, Steps]]) -> list[Illustration]:
    """Return the power of schedules over time, all on one scale.

    Parameters
    ----------
    given
        By name, a schedule, the power model, of which caps may differ, and over time the watts that it says and the
        share of the machine in use.
    """
    curves = [_Curve.of(*one, name) for name, one in given.items()]
    highest = max(curve.highest for curve in curves)
    return [_illustrated(curve, highest) for curve in curves]


def _illustrated(curve: _Curve, highest: float = 0.0) -> Illustration:
    return illustrate(
        _drawn(curve, highest),
        f"{curve.name}: share of the machine in use and power over time, with the cap, the price and the carbon "
        "intensity if known.",
        "Means over equal parts of the time, from the first submission to the last end.",
    )


def energy_sentence(found: EnergyAccount) -> str:
    """Return in one sentence what the energy of a schedule is and costs."""
    costs = [] if found.cost is None else [f"{found.cost:,.0f} {found.currency}".strip()]
    costs += [] if found.co2 is None else [f"{three_digits(found.co2)} kg of CO2"]
    told = f" ({', '.join(costs)})" if costs else ""
    idle = found.joules["idle"] / max(sum(found.joules.values()), 1)
    return f"All that took {energy_text(found.kwh)}{told}, of which {idle:.0%} went into what no job held."


def _table(found: EnergyAccount) -> Table:
    mean = found.kwh * JOULES / max(found.seconds, 1)
    rows = [["Energy", energy_text(found.kwh)]]
    rows += [[f"of it, {WORDS[part]}", energy_text(joules / JOULES)] for part, joules in found.joules.items() if joules]
    rows += [["Mean power", power_text(mean)], ["Highest power", power_text(float(found.power.values.max()))]]
    rows += [] if found.cost is None else [["Cost", f"{found.cost:,.2f} {found.currency}".strip()]]
    rows += [] if found.co2 is None else [["CO2", f"{three_digits(found.co2)} kg"]]
    rows += [] if found.above_cap is None else [["Time above the cap", duration(found.above_cap)]]
    note = f"The power of {found.estimated:,} runs was not measured; the power model speaks for them." * bool(
        found.estimated
    )
    return Table(
        "Energy",
        "From the first submission to the last end",
        [Cell("Of the site"), Cell("Value")],
        [[Cell(name), Cell(value)] for name, value in rows],
        note,
    )
