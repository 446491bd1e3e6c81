"""How often Slurm's backfill passes come in a simulation that is under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedlab.engine.steps.stepwise import Simulation


def backfill_interval(simulation: Simulation) -> int:
    """Return the seconds between Slurm's backfill passes; 0: there are none, or one after every event."""
    return simulation._driver.world.rules.interval


def let_passes_come(simulation: Simulation, seconds: int) -> None:
    """Let the next backfill passes come so many seconds apart, until jobs are submitted.

    Parameters
    ----------
    simulation
        One under Slurm's scheduler with an interval.
    seconds
        At least 1.
    """
    world = simulation._driver.world
    simulation._driver.world = world._replace(rules=world.rules._replace(interval=seconds))
