"""Longest waits of expected area first: starvation limits and ageing, chosen on other logs than they are judged on.

Ageing makes the area of a waiting job count e times less with each tau that it waits: p q exp(-w / tau). All jobs wait
equally fast, so that the queue is that of log(p q) + r / tau, which is fixed at submission. A job is overtaken at most
by those that come less than tau log(A / a) later, A being its area and a theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedlab import Scheduler
from schedlab.durations import DAY
from schedlab_papers.order_runs import AGED, EAF, SAF, Runs
from schedlab_papers.order_tables import HOUR, SLOWDOWN, Cells
from schedlab_papers.reproduction import Part, TextTable

if TYPE_CHECKING:
    import pandas as pd

AGEING = tuple(int(days * DAY) for days in (0.25, 0.5, 1, 2, 4))
LIMITS = tuple(int(days * DAY) for days in (0.5, 1, 2, 4, 7))


def _aged(tau: int, run_times: str) -> str:
    return Scheduler.parse(f'"log(p*q)+r/{tau}"{run_times}').text


PATIENT = (
    EAF,
    *(_aged(tau, "@groups+easy") for tau in AGEING),
    *(f"{EAF},starvation={limit}" for limit in LIMITS),
)
"""Among which is chosen."""

SHORTER = 0.5
"""What is chosen has longest waits of at most so much of SAF's."""

CONTROLS = (SAF, *(_aged(tau, "+easy") for tau in AGEING))
"""The same ageing of requested areas."""


def patience_tables(study: Runs) -> list[Part]:
    """Return what limits of waits cost, all logs together, and what the one is worth that is chosen on other logs."""
    frame = study.results("order-patience", study.logs, ("0",), (*PATIENT, *CONTROLS))
    return [limits_table(frame), patient_table(frame)]


def _against_saf(frame: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return logarithms of ratios to SAF, a row for each log; waits below a second count as one."""
    table = frame.pivot_table(index="log", columns="scheduler", values=metric, sort=False).clip(lower=1)
    return table.div(table[SAF], axis=0).apply(np.log)


def limits_table(frame: pd.DataFrame) -> TextTable:
    """Return each candidate against SAF: slowdowns, and longest waits."""
    slow, longest = _against_saf(frame, SLOWDOWN), _against_saf(frame, "max_wait")
    rows: list[Cells] = []
    for text in (*PATIENT, *CONTROLS[1:]):
        counted = float((longest[text] > 0).sum())
        of_text = (slow[text].mean(), slow[text].max(), longest[text].mean(), longest[text].max())
        rows.append((text.removesuffix("@requested"), *(float(np.exp(value)) for value in of_text), counted))
    return TextTable(
        "Limits of waits against saf+easy: geometric means over the logs",
        ("scheduler", "slowdown", "worst log", "longest wait", "worst log", "logs with a longer one"),
        tuple(rows),
    )


def patient_choice(frame: pd.DataFrame) -> dict[str, str]:
    """Return for each log the candidate with the smallest slowdown on the others, of those with short longest waits.

    On the other logs, the longest waits must be at most `SHORTER` times those of SAF, in geometric mean; where none is
    so, all candidates count.
    """
    slow, longest = (_against_saf(frame, metric)[list(PATIENT)] for metric in (SLOWDOWN, "max_wait"))
    choice = {}
    for log in map(str, slow.index):
        others = [name for name in slow.index if name != log] or [log]
        short = longest.loc[others].mean() <= np.log(SHORTER)
        allowed = list(short.index[short]) or list(PATIENT)
        choice[log] = str(slow.loc[others, allowed].mean().idxmin())
    return choice


def patient_table(frame: pd.DataFrame) -> TextTable:
    """Return for each log what a limit that is chosen on the other logs does to slowdown and longest wait."""
    choice = patient_choice(frame)
    slow, longest = _against_saf(frame, SLOWDOWN), _against_saf(frame, "max_wait")
    hours = frame.pivot_table(index="log", columns="scheduler", values="max_wait") / HOUR
    rows: list[Cells] = []
    for log, text in choice.items():
        shown = [float(np.exp(slow[name][log])) for name in (EAF, AGED, text)]
        waits = [float(hours[name][log]) for name in (SAF, EAF, AGED, text)]
        rows.append((log, *shown, *waits, text.removesuffix("@requested")))
    chosen = [float(np.exp(np.mean([table[text][log] for log, text in choice.items()]))) for table in (slow, longest)]
    longer = [log for log, text in choice.items() if longest[text][log] > 0]
    return TextTable(
        "Goal and longest waits: slowdown to saf+easy, longest wait in hours",
        (
            *("log", "slowdown, eaf", "aged-eaf", "chosen on the others"),
            *("longest wait, SAF", "eaf", "aged-eaf", "chosen", "which"),
        ),
        tuple(rows),
        notes=(
            f"chosen on the other logs, geometric means: slowdown {chosen[0]:.2f}, longest wait {chosen[1]:.2f}",
            f"longest wait longer than SAF's: {', '.join(longer) or 'on no log'}",
        ),
    )
