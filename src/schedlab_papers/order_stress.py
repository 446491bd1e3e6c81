"""The study of predictions for the order under stress: noise, errors of a known size, and users who game the table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab import Scheduler, Workload, simulate
from schedlab.policies import FunctionPolicy
from schedlab_papers.order_logs import OrderLog
from schedlab_papers.order_runs import ACTUAL, AGED, EAF, EASY, SAF, Runs
from schedlab_papers.order_tables import Cells
from schedlab_papers.order_windows import mean, ratios
from schedlab_papers.reproduction import TextTable

if TYPE_CHECKING:
    import pandas as pd

ERRORS = (0.1, 0.7, 1.6)
"""Standard deviations of the logarithm: a tenth, about a factor of two, of five."""

GAMED = {
    "saf+easy": SAF,
    "eaf": EAF,
    "aged-eaf": AGED,
    "saf@groups(mean=arithmetic)+easy": "saf@groups(mean=arithmetic)+easy@requested",
    "saf@groups(user.request.processors)+easy": "saf@groups(user.request.processors)+easy@requested",
}

GAMED_LOGS = ("KTH-SP2", "CTC-SP2", "SDSC-SP2", "Mustang", "Theta-15k")

SHARE = 0.1
"""Of users who game."""


def noise_table(whole: pd.DataFrame, noise: pd.DataFrame) -> TextTable:
    """Return what is left of gains if run times are up to a tenth longer or shorter."""
    rows: list[Cells] = []
    for name, text in (("EASY", EASY), ("eaf", EAF), ("aged-eaf", AGED), ("SAF, actual run times", ACTUAL)):
        before, after = (ratios(frame, text).droplevel("window") for frame in (whole, noise))
        common = before.index.intersection(after.index)
        rows.append((name, len(common), mean(before[common]), mean(after[common]), float(after[common].max())))
    return TextTable(
        "Noise: run times up to a tenth longer or shorter, against saf+easy",
        ("scheduler", "logs", "as it is", "with noise", "worst log"),
        tuple(rows),
    )


def errors_table(study: Runs, whole: pd.DataFrame, logs: Sequence[OrderLog]) -> TextTable:
    """Return what an order by actual run times is worth if these are known with errors, reserving by requests."""
    exact = ratios(whole, ACTUAL).droplevel("window")
    slowdowns = whole[whole["scheduler"] == SAF].set_index("log")["mean_bounded_slowdown"]
    rows: list[Cells] = []
    for log in logs:
        facts = [study.fingerprint(log), ERRORS]
        found = study.kept(f"errors-{log.name}", facts, partial(_with_errors, study.jobs_of(log)))
        rows.append((log.name, float(exact[log.name]), *(found["slowdown"] / slowdowns[log.name]).tolist()))
    rows.append(("geometric mean", *(float(np.exp(np.mean(np.log(of_logs)))) for of_logs in _columns(rows))))
    return TextTable(
        "Errors: mean bounded slowdown of SAF by run times with random errors to saf+easy",
        ("log", "exact", *(f"error {error:g}" for error in ERRORS)),
        tuple(rows),
        notes=("run times in the order are multiplied by exp(error times a normal number); reservations by requests",),
    )


def _columns(rows: Sequence[Cells]) -> list[NDArray[np.float64]]:
    return list(np.array([row[1:] for row in rows], dtype=np.float64).T)


def _with_errors(jobs: Workload) -> pd.DataFrame:
    """Return the mean bounded slowdown for each size of the error."""
    import pandas as pd

    found = [float(simulate(jobs, _by_error(jobs, error)).bounded_slowdown.mean()) for error in ERRORS]
    return pd.DataFrame({"error": ERRORS, "slowdown": found})


def _by_error(jobs: Workload, error: float) -> Scheduler:
    """Return SAF that knows run times but for an error, while reservations keep requests."""
    order = np.argsort(jobs.submit_time, kind="stable")
    factor = np.exp(error * np.random.default_rng(0).standard_normal(len(jobs)))
    area = np.asarray(factor * np.maximum(jobs.run_time, 1) * jobs.job_processors, dtype=np.float64)[order]

    def area_with_errors(q: NDArray[np.int64]) -> NDArray[np.float64]:
        return area

    return Scheduler(FunctionPolicy(area_with_errors), "easy")


def gaming_table(study: Runs, logs: Sequence[OrderLog]) -> TextTable:
    """Return what a tenth of the users gain, and what the others lose, by two ways to look short."""
    import pandas as pd

    found = pd.concat(
        study.kept(
            f"gaming-{log.name}", [study.fingerprint(log), sorted(GAMED.values())], partial(_gamed, study.jobs_of(log))
        )
        for log in logs
    )
    rows: list[Cells] = []
    for trick, name in product(TRICKS, GAMED):
        gains = found[(found["trick"] == trick) & (found["scheduler"] == name)]
        theirs, others = (float(np.exp(np.log(gains[who]).mean())) for who in ("theirs", "others"))
        rows.append((trick, name, theirs, float(gains["theirs"].min()), others))
    return TextTable(
        "Users who game the table: mean bounded slowdown when they do over that when they do not",
        ("what they do", "scheduler", "the users who do", "best log for them", "all other users"),
        tuple(rows),
        notes=(
            f"a tenth of the users, drawn at random, on {', '.join(log.name for log in logs)}; decoys do not count",
            "decoys: before each job, a job of one processor with the same request that ends after a second",
            "fresh requests: each job asks for some other seconds more, so that no run shares its group of requests",
        ),
    )


def _gamed(jobs: Workload) -> pd.DataFrame:
    """Return the ratios of slowdowns with and without each trick, of those who play it, and of the others."""
    import pandas as pd

    users = np.unique(jobs.user_id)
    players = np.random.default_rng(1).choice(users, max(1, round(SHARE * len(users))), replace=False)
    playing = np.isin(jobs.user_id, players)
    honest = {name: simulate(jobs, text).bounded_slowdown for name, text in GAMED.items()}
    rows: list[dict[str, str | float]] = []
    for trick, play in TRICKS.items():
        for name, text in GAMED.items():
            # The jobs themselves come first, whatever a trick adds behind them.
            gamed = simulate(play(jobs, playing), text).bounded_slowdown[: len(jobs)]
            theirs, others = (float(gamed[who].mean() / honest[name][who].mean()) for who in (playing, ~playing))
            rows.append({"trick": trick, "scheduler": name, "theirs": theirs, "others": others})
    return pd.DataFrame(rows)


def with_decoys(jobs: Workload, playing: NDArray[np.bool_]) -> Workload:
    """Return jobs, and behind them for each of the players' a decoy that is submitted with it."""
    decoys = jobs[playing]
    ones = np.ones(len(decoys), dtype=np.int64)
    small = decoys.replace(run_time=ones, requested_processors=ones, allocated_processors=ones)
    return Workload.concat([jobs, small], sort=False)


def with_fresh_requests(jobs: Workload, playing: NDArray[np.bool_]) -> Workload:
    """Return jobs of which the players' ask for up to ten minutes more, each for some other seconds."""
    more = np.where(playing, np.random.default_rng(2).integers(1, 600, len(jobs)), 0)
    return jobs.replace(
        requested_time=np.where(jobs.requested_time > 0, jobs.requested_time + more, jobs.requested_time)
    )


TRICKS = {"decoys": with_decoys, "fresh requests": with_fresh_requests}
