"""What a prediction is worth by its use: for the order of the queue, for reservations, for both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedlab import Scheduler
from schedlab_papers.order_runs import SAF, Runs
from schedlab_papers.order_tables import SLOWDOWN, Cells
from schedlab_papers.reproduction import Part, TextTable

if TYPE_CHECKING:
    import pandas as pd

PREDICTED = ("groups", "similar", "ave2", "e-loss", "actual")

USES = {
    "order": "saf@{}+easy@requested",
    "reservations": "saf@requested+easy@{}",
    "both": "saf+easy@{}",
}
"""Schedulers by what a prediction serves in them."""

TEXTS = {(use, name): Scheduler.parse(text.format(name)).text for use, text in USES.items() for name in PREDICTED}


def uses_tables(study: Runs) -> list[Part]:
    """Return the table of the smaller logs, if there is one."""
    small, _ = study.by_size()
    if not small:
        return []
    return [uses_table(study.results("order-uses", small, ("0",), (SAF, *TEXTS.values())))]


def uses_table(frame: pd.DataFrame) -> TextTable:
    """Return slowdowns and longest waits against SAF by requests."""
    ratios = {}
    for metric in (SLOWDOWN, "max_wait"):
        table = frame.pivot_table(index="log", columns="scheduler", values=metric, sort=False).clip(lower=1)
        ratios[metric] = table.div(table[SAF], axis=0).apply(np.log)
    rows: list[Cells] = []
    for name in PREDICTED:
        texts = [TEXTS[use, name] for use in USES]
        slow = [float(np.exp(ratios[SLOWDOWN][text].mean())) for text in texts]
        worst = [float(np.exp(ratios[SLOWDOWN][text].max())) for text in texts]
        longest = [float(np.exp(ratios["max_wait"][text].mean())) for text in texts]
        rows.append((name, *slow, *worst, *longest))
    return TextTable(
        "Uses of a prediction: saf+easy with it for the order, for reservations, for both, to saf+easy by requests",
        (
            "prediction",
            *(f"{label}, {use}" for label in ("slowdown", "worst log", "longest wait") for use in USES),
        ),
        tuple(rows),
        notes=(f"{len(ratios[SLOWDOWN])} logs, geometric means; where reservations are predicted, /incremental",),
    )
