"""Predicted run times, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import take_over
from schedlab.engine.part import Part
from schedlab.engine.parts.forecasts.groups import Groups
from schedlab.engine.parts.forecasts.kernels import NOTHING, Forecast, Forecasts, new_forecast, no_forecast
from schedlab.scheduler.formula import STATISTICS
from schedlab.scheduler.predictor import GroupMean, Predictor
from schedlab.scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    from schedlab.engine.axes import Moves
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


def _new(prepared: Prepared) -> Forecasts | None:
    scheduler = prepared.scheduler
    if not scheduler.runtimes.learns and not scheduler.ranking.learns:
        return None
    user, table = prepared.column("user_id"), _table_of_statistics(scheduler, len(prepared.jobs))

    def forecast_of(predictor: Predictor, correction: str, table: NDArray[np.float64] | None) -> Forecast:
        if not predictor.learns:
            return no_forecast(prepared.request)
        attributes = prepared.attributes(predictor.attributes)
        return new_forecast(predictor, correction, prepared.request, user, attributes, table)

    correction = scheduler.correction or "requested"
    if scheduler.order_runtimes is None:
        reserving = forecast_of(scheduler.runtimes, correction, table)
        reserving.kind[2] = 1
        return Forecasts(reserving, reserving, prepared.pilot)
    reserving = forecast_of(scheduler.runtimes, correction, None)
    return Forecasts(reserving, forecast_of(scheduler.order_runtimes, "requested", table), prepared.pilot)


def _table_of_statistics(scheduler: Scheduler, jobs: int) -> NDArray[np.float64] | None:
    """Return a table for the statistics that an order needs from its predictor; None if that returns a number."""
    programs = [policy.program for policy in (scheduler.policy, scheduler.order) if policy is not None]
    wanted = any(program is not None and program.uses_statistics for program in programs)
    return np.empty((jobs, len(STATISTICS))) if wanted and isinstance(scheduler.ranking, GroupMean) else None


def statistics_in(forecasts: Forecasts | None) -> NDArray[np.float64] | None:
    """Return the table to which the predictor of the order writes statistics; None if it predicts a number."""
    table = None if forecasts is None else forecasts.order.groups.table
    return None if table is None or not len(table) else table


def _grown(old: World, new: World, moves: Moves) -> None:
    """Bring over what predictors have learned, but of those that predict nothing and know no job."""
    for name in ("reservations", "order"):
        one, other = getattr(old.forecasts, name), getattr(new.forecasts, name)
        if one.kind[0] != NOTHING:
            take_over(one, other, moves)
            _take_over_groups(one.groups, other.groups, moves.jobs)


def _take_over_groups(old: Groups, new: Groups, jobs: NDArray[np.intp]) -> None:
    place = new.group[jobs]
    new.weight[place], new.total[place] = old.weight[old.group], old.total[old.group]
    if len(old.table):
        new.bins[place], new.table[jobs] = old.bins[old.group], old.table


def _output(prepared: Prepared, world: World) -> dict[str, Any]:
    if not prepared.scheduler.runtimes.learns:
        return {}
    return {
        "predicted": world.forecasts.reservations.first,
        "corrections": world.forecasts.reservations.corrections,
    }


FORECASTS = Part("forecasts", Forecasts, _new, _grown, output=_output)
