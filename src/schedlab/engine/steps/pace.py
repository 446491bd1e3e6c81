"""What a simulation that is under way does less of: Slurm's backfill passes, and counting why jobs wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedlab.engine.rules import Rules
    from schedlab.engine.steps.stepwise import Simulation


def backfill_interval(simulation: Simulation) -> int:
    """Return the seconds between Slurm's backfill passes; 0: there are none, or one after every event."""
    return simulation._driver.world.rules.interval


def leave_reasons(simulation: Simulation) -> None:
    """Do not count any longer for which reasons jobs wait, until jobs are submitted: its schedule will not tell it."""
    _follow(simulation, simulation._driver.world.rules._replace(tells_reasons=False))


def let_passes_come(simulation: Simulation, seconds: int) -> None:
    """Let the next backfill passes come so many seconds apart, until jobs are submitted.

    Parameters
    ----------
    simulation
        One under Slurm's scheduler with an interval.
    seconds
        At least 1.
    """
    _follow(simulation, simulation._driver.world.rules._replace(interval=seconds))


def let_passes_reserve_for(simulation: Simulation, jobs: int) -> None:
    """Let Slurm's next backfill passes reserve for no more than so many jobs, until jobs are submitted.

    Others can start, but nothing is kept for them.
    """
    rules = simulation._driver.world.rules
    _follow(simulation, rules._replace(reserve=min(rules.reserve, jobs)))


def _follow(simulation: Simulation, rules: Rules) -> None:
    simulation._driver.world = simulation._driver.world._replace(rules=rules)
