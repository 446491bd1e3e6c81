"""Rankings as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.learn.fit import Ranking


def ranking_text(ranking: Ranking, name: str, top: int) -> str:
    """Return what was fitted, what a constant would do, and the leaders with their policies.

    Parameters
    ----------
    ranking
        All fits.
    name
        What the scores are called.
    top
        How many leaders are shown.
    """
    tuples = len(np.unique(ranking.scores.group))
    weighted = "weighted by area" if ranking.settings["weights"] == "area" else "unweighted"
    intercept = "with" if ranking.settings["intercept"] else "without"
    lines = [
        f"{name}: {count_of(len(ranking.scores), 'score')} of {count_of(tuples, 'tuple')}; "
        f"{count_of(len(ranking.fits), 'form')}, {weighted}, {intercept} intercept",
        "",
        "rank        MAE  cross-validated  policy",
    ]
    for rank, fit in enumerate(ranking.fits[:top], start=1):
        validated = "-" if np.isnan(fit.cross_validated_mae) else f"{fit.cross_validated_mae:.7f}"
        lines.append(f"{rank:4}  {fit.mae:9.7f}  {validated:>15}  {fit.policy}")
    return "\n".join([*lines, "", f"The mean score, a constant, has MAE {ranking.constant_mae:.7f}."])
