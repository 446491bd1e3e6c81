"""`schedlab when LOG --followed`: what happens if users follow the advice to ask for less time."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING

from schedlab.cli.terminal import show, show_json

if TYPE_CHECKING:
    from schedlab.workload.workload import Workload

DRAWS = 5


def tell_followed(jobs: Workload, scheduler: str, processors: int | None, seed: int, *, as_json: bool) -> None:
    """Print how jobs fare if shares of the users follow."""
    from schedlab.when.followers import ShorterLimits, followed, followed_text

    limits = ShorterLimits()
    found = followed(jobs, scheduler, limits=limits, processors=processors, draws=DRAWS, seed=seed)
    if not as_json:
        return show(f"{followed_text(found, limits, DRAWS)}\nAll replays are under {scheduler}.")
    shares = [{name: None if math.isnan(one) else one for name, one in asdict(share).items()} for share in found]
    show_json({"scheduler": scheduler, "advice": limits._asdict(), "draws": DRAWS, "seed": seed, "shares": shares})
