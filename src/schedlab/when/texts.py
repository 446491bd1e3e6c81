"""Start forecasts and backtests as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from schedlab.schedule.columns import in_columns
from schedlab.schedule.summary import duration
from schedlab.when.backtests import Backtest
from schedlab.when.methods import CHOSEN, PLAN
from schedlab.when.queue_forecast import QueueForecast
from schedlab.when.recalibration import FEWEST
from schedlab.when.scores import Score
from schedlab.when.start_forecast import CHANCES, StartForecast
from schedlab.wording import count_of, table

NOT_MEASURED = (
    "How often such answers are right on this log has not been measured: a backtest does. They hold as far as "
    "{scheduler} is what schedules."
)
FEW = 100
"""Judged jobs below which a class is not told by itself."""


def moment_text(second: float, epoch: int | None) -> str:
    """Return a second of a log as text: a date in UTC or, where the log has none, its day and time of day.

    Examples
    --------
    >>> moment_text(93_784, None), moment_text(0, 1_764_300_000)
    ('day 2, 02:03', '2025-11-28 03:20')
    """
    if epoch is None:
        return f"day {int(second // 86_400) + 1}, {int(second % 86_400 // 3_600):02}:{int(second % 3_600 // 60):02}"
    return f"{datetime.fromtimestamp(epoch + second, UTC):%Y-%m-%d %H:%M}"


def sentence(found: StartForecast, row: int) -> str:
    """Return when a job will start, in a sentence."""
    name, epoch = f"Job {found.jobs.job_id[row]}", found.jobs.start_time
    waits = found.waits[:, row]
    if bool((waits == 0).all()):
        return f"{name} starts at once."
    low, median, high = found.quantiles()[row] + found.now
    early, middle, late = (moment_text(second, epoch) for second in (low, median, high))
    if early == late:
        return f"{name} will start at about {early}."
    at_once = float(found.chance(0)[row])
    day = early[:-6].removesuffix(",")
    if late.startswith(day):  # it is named once
        name, (early, middle, late) = f"On {day}, job {found.jobs.job_id[row]}", (x[-5:] for x in (early, middle, late))
    begin = f"{name} may start at once ({at_once:.0%}); it" if at_once >= 0.05 else name
    return f"{begin} will probably start between {early} and {late}, most likely about {middle}."


def forecast_text(found: StartForecast, free: int, processors: int, scheduler: str, waiting: int) -> str:
    """Return a forecast as text: a sentence for one job, or a table for several, and what it rests on.

    Parameters
    ----------
    found
        The forecast.
    free, processors
        How many processors are free, and the size of the machine.
    scheduler
        The scheduler of the forks.
    waiting
        How many jobs wait.
    """
    lines = []
    if len(found) == 1:
        size = int(found.jobs.job_processors[0])
        lines += [
            sentence(found, 0),
            f"It asks for {size:,} of {processors:,} processors ({free:,} free);"
            f" {count_of(waiting - 1, 'other job')} {'waits' if waiting == 2 else 'wait'}.",
        ]
        chances = [f"within {name} {float(found.chance(CHANCES[key])[0]):.0%}" for key, name in _NAMED.items()]
        lines.append(f"Chances to start: {', '.join(chances)}.")
    else:
        lines.append(_table(found))
    lines.append(
        f"From {found.made_of} under {scheduler}, with {found.arrivals}, seed {found.seed}; "
        f"asked at {moment_text(found.now, found.jobs.start_time)}. {NOT_MEASURED.format(scheduler=scheduler)}"
    )
    return "\n".join(lines)


_NAMED = {"within_1_min": "1 min", "within_10_min": "10 min", "within_1_h": "1 h", "within_1_d": "1 d"}


def _table(found: StartForecast) -> str:
    quantiles, epoch = found.quantiles() + found.now, found.jobs.start_time
    order = np.argsort(quantiles[:, 1], kind="stable")
    return table(
        ["job", "processors", "start 10%", "start 50%", "start 90%", "at once", "within 1 h"],
        [
            [
                str(found.jobs.job_id[row]),
                f"{found.jobs.job_processors[row]:,}",
                *(moment_text(second, epoch) for second in quantiles[row]),
                f"{float(found.chance(0)[row]):.0%}",
                f"{float(found.chance(3_600)[row]):.0%}",
            ]
            for row in order.tolist()
        ],
    )


def backtest_text(found: Backtest) -> str:
    """Return how good forecasts were: a sentence, a table of the methods, and one of the classes."""
    scores = {method: found.score(method) for method in found.methods}
    first = lead_sentence(found, scores)
    lines = [first, *at_once_sentences(found), "", _of_methods(scores), "", *_of_classes(found)]
    used = len(found) - int(found.judged.sum())
    if used < FEWEST:
        lines.append(f"Only {count_of(used, 'forecast')} served to recalibrate; at least {FEWEST} are needed.")
    lines.append(f"Forks under {found.scheduler}; seed {found.seed}. Judged are jobs of the second half of the log.")
    return "\n".join(lines)


def lead_sentence(found: Backtest, scores: Mapping[str, Score]) -> str:
    """Return how good forecasts were, in a sentence."""
    plan, best = scores[PLAN], scores[CHOSEN]
    low, high = best.coverage_low, best.coverage_high
    return (
        f"{found.name}: of {count_of(best.jobs, 'job')} that did not start at once, forecasts at submission were "
        f"off by {duration(best.median_error)} in the median, a plan with requested times by "
        f"{duration(plan.median_error)}; "
        f"{best.coverage:.0%} (by weeks {low:.0%} to {high:.0%}) started within their interval of 80 %."
    )


def at_once_sentences(found: Backtest) -> list[str]:
    """Return how well forks tell jobs that start at once from others, as at most one sentence."""
    one = found.at_once
    if one is None or np.isnan(one.auc):
        return []
    low, high = one.interval()
    return [
        f"{one.came.mean():.0%} of {count_of(len(one.came), 'job')} of all that were submitted started within a "
        f"minute: forks tell them from the others with an AUC of {one.auc:.3f} (by weeks {low:.3f} to {high:.3f}; 1 is "
        "without error, 0.5 a guess)."
    ]


def backtest_document(found: Backtest) -> dict[str, Any]:
    """Return how good forecasts were, as JSON has it."""
    classes = [
        {"lead": lead, "processors": width, **one._asdict()}
        for (lead, width), one in found.scores_by_class(CHOSEN).items()
    ]
    told: dict[str, Any] = {"log": found.name, "scheduler": found.scheduler, "seed": found.seed}
    told |= {"scores": {method: found.score(method)._asdict() for method in found.methods}, "classes": classes}
    if (one := found.at_once) is not None:
        low, high = one.interval()
        told["at_once"] = {"jobs": len(one.came), "share": float(one.came.mean())}
        told["at_once"] |= {"auc": one.auc, "auc_low": low, "auc_high": high}
    return told


def _of_methods(scores: dict[str, Score]) -> str:
    return table(
        ["forecast", "median error", "pinball loss", "80 % hold", "by weeks", "width", "within 10 min", "within x2"],
        in_columns(
            [
                [
                    method,
                    one.median_error,
                    one.pinball,
                    "-" if np.isnan(one.coverage) else f"{one.coverage:.0%}",
                    "-" if np.isnan(one.coverage) else f"{one.coverage_low:.0%} to {one.coverage_high:.0%}",
                    "-" if np.isnan(one.coverage) else one.width,
                    f"{one.within_10_min:.0%}",
                    f"{one.within_factor_2:.0%}",
                ]
                for method, one in scores.items()
            ]
        ),
    )


def _of_classes(found: Backtest) -> list[str]:
    classes = {key: one for key, one in found.scores_by_class(CHOSEN).items() if one.jobs >= FEW}
    if not classes:
        return [f"No class of predicted lead and processors has {FEW} judged jobs.", ""]
    rows: list[list[str | float]] = [
        [f"{lead}, {width}", f"{one.jobs:,}", f"{one.coverage:.0%}", one.median_error]
        for (lead, width), one in classes.items()
    ]
    return [table(["predicted lead, processors", "jobs", "80 % hold", "median error"], in_columns(rows)), ""]


def queue_text(found: QueueForecast) -> str:
    """Return a forecast by the state of the queue alone as text: a sentence or a table, and what it rests on."""
    starts = found.starts
    lines = [sentence(starts, 0) if len(starts) == 1 else _table(starts)]
    similar = "that saw a similar queue" if found.learned else "last in its partition"
    lines.append(
        f"Times are in UTC. From the state of the queue at {moment_text(starts.now, 0)} alone, without simulating the "
        f"scheduler: what jobs waited {similar}, of {found.past:,} past ones that had to wait."
    )
    if found.judged is not None:
        one = found.judged
        lines.append(
            f"Learned on those before, {one.coverage:.0%} of the 80 % intervals of the last {one.jobs:,} of these "
            f"held, with a median error of {duration(one.median_error)}."
        )
    if not found.learned:
        lines.append("Install schedlab[predict] to learn which queues are similar.")
    return "\n".join(lines)
