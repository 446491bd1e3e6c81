"""ICPP'19: request sequences and speculative backfilling for jobs with stochastic run times.

References
----------
Gainaru, Pallez, Sun and Raghavan, "Speculative scheduling for stochastic HPC applications", ICPP 2019.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.types import Progress
from schedlab_papers import icpp19_scenarios as scenarios
from schedlab_papers.icpp19_sequences import table_1, theorem_1
from schedlab_papers.icpp19_tables import (
    histories_table,
    orders_table,
    scenario_1_tables,
    scenario_2_tables,
    scenario_3_tables,
    scenario_4_tables,
)
from schedlab_papers.reproduction import Reproductions, TextTable

if TYPE_CHECKING:
    import pandas as pd

RUNS = Path("runs")

SCENARIOS = (1, 2, 3, 4)

REPETITIONS = 50
"""Runs of each experiment, as in the paper."""


def reproduce(
    *,
    scenario: Iterable[int] = (),
    runs: int = REPETITIONS,
    directory: Path = RUNS,
    plots: Path | None = None,
    progress: Progress | None = None,
) -> Reproductions:
    """Repeat the paper's Table 1 and its scenarios.

    Parameters
    ----------
    scenario
        Numbers, 1 to 4; none are all.
    runs
        Of each experiment.
    directory
        Where run directories are made. What is in them is not simulated again.
    plots
        Directory for Figures 2 to 8.
    progress
        Called now and then, as for `run_campaign`.

    Returns
    -------
    Reproductions
        The tables: for each scenario the means, what the paper claims beside them, and what had to be assumed.
    """
    setting = scenarios.Setting(directory, runs, progress)
    wanted = set(scenario) or set(SCENARIOS)
    tables: list[TextTable] = [table_1(), theorem_1()]
    frames: dict[str, pd.DataFrame] = {}
    if 1 in wanted:
        frames |= {
            "distributions": scenarios.distributions_and_allocations(setting),
            "histories": scenarios.histories(setting),
            "orders": scenarios.orders(setting),
        }
        tables += scenario_1_tables(frames["distributions"])
        tables += [histories_table(frames["histories"]), orders_table(frames["orders"])]
    if 2 in wanted:
        frames["mixes"] = scenarios.mixes(setting)
        tables += scenario_2_tables(frames["mixes"])
    if 3 in wanted:
        frames |= {"fluid": scenarios.fluid(setting), "discrete": scenarios.discrete(setting)}
        tables += scenario_3_tables(frames["fluid"], frames["discrete"])
    if 4 in wanted:
        frames["weeks"] = scenarios.two_weeks(setting)
        tables += scenario_4_tables(frames["weeks"])
    if plots is not None:
        from schedlab_papers.icpp19_figures import save_figures

        save_figures(frames, plots)
    return Reproductions(tuple(tables))
