"""The table of a campaign: every scheduler by one metric, with its pairwise comparison against a baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.arguments import explained
from schedlab.campaign.results import latex
from schedlab.campaign.results.statistics import (
    FEWEST_PAIRS,
    LARGER_IS_BETTER,
    METRIC,
    MIXED,
    RESAMPLES,
    Paired,
    by_instance,
    compare_columns,
    interval_text,
    quantity,
    signed,
    statistic_of,
)
from schedlab.errors import InputError
from schedlab.wording import table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class RankedScheduler:
    """What a scheduler is worth, over the whole campaign or over one workload.

    Parameters
    ----------
    workload
        The workload, or "" for all of them.
    scheduler
        Its text.
    instances
        Number of instances of which it has a value.
    median, mean
        Over these instances.
    geometric_mean
        Over these instances; None where a value is not positive.
    paired
        The comparison with the baseline; None for the baseline itself.
    """

    workload: str
    scheduler: str
    instances: int
    median: float
    mean: float
    geometric_mean: float | None
    paired: Paired | None


@dataclass(frozen=True, slots=True, repr=False)
class SchedulerRanking:
    """All schedulers of a campaign by one metric, against a baseline: as a whole, and by workload.

    Parameters
    ----------
    metric, baseline, level
        What is compared, with what, and the level of the intervals.
    rows
        First over all workloads, the best first, then of each workload, in that order. What is best has the best metric
        over all jobs at once where that is known, else the best ratio to the baseline.
    whole
        The metric over all jobs at once, by scheduler, where the instances are the weeks of one log.
    """

    metric: str
    baseline: str
    level: float
    rows: tuple[RankedScheduler, ...]
    whole: Mapping[str, float] = field(default_factory=dict)

    def workloads(self) -> list[str]:
        """Return the workloads, "" (all of them) first, and nothing else if there is only one."""
        return list(dict.fromkeys(row.workload for row in self.rows))

    def of(self, workload: str = "") -> list[RankedScheduler]:
        """Return the rows of a workload, or of all of them together."""
        return [row for row in self.rows if row.workload == workload]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per workload and scheduler, with everything that is known of the pairs."""
        import pandas as pd

        return pd.DataFrame(self._records())

    def to_dict(self) -> dict[str, Any]:
        """Return the same as plain dictionaries and numbers."""
        return {"metric": self.metric, "baseline": self.baseline, "level": self.level, "rows": self._records()}

    def _records(self) -> list[dict[str, Any]]:
        records = []
        for row in self.rows:
            record: dict[str, Any] = {"workload": row.workload, "scheduler": row.scheduler, "instances": row.instances}
            record |= {"median": row.median, "mean": row.mean, "geometric_mean": row.geometric_mean}
            if row.scheduler in self.whole:
                record["whole"] = self.whole[row.scheduler]
            if row.paired:
                pair = row.paired
                record |= {name: getattr(pair, name) for name in ("pairs", "missing", "wins", "ties", "losses")}
                for name in ("difference", "ratio"):
                    low, high = getattr(pair, f"{name}_interval") or (None, None)
                    record |= {name: getattr(pair, name), f"{name}_low": low, f"{name}_high": high}
                record["verdict"] = pair.verdict
            records.append(record)
        return records

    def to_latex(self, *, caption: str = "", label: str = "") -> str:
        r"""Return a table for a paper, with `\usepackage{booktabs}`: means, and differences and ratios with intervals.

        The best mean of each workload is in bold.

        Parameters
        ----------
        caption, label
            With one of them, the table is a float.
        """
        metric, percent = self.metric, rf"{100 * self.level:g}\,\%"
        scale = latex.scale_of(metric, [row.mean for row in self.rows])
        means: list[str] = []
        for workload in self.workloads():
            part = self.of(workload)
            means += latex.of_metric(metric, [row.mean for row in part], [True] * len(part), scale).cells
        columns = [
            latex.Column("Scheduler", [latex.escaped(row.scheduler) for row in self.rows], "l"),
            latex.Column("Instances", [f"{row.instances}" for row in self.rows]),
            latex.Column(latex.heading(metric, scale), means),
            latex.Column(
                f"Difference{f' ({scale.name})' if scale.name else ''}",
                [
                    latex.number(row.paired.difference / scale.unit, sign=True) if row.paired else ""
                    for row in self.rows
                ],
            ),
            latex.Column(f"{percent} interval", [_interval(row, "difference", scale.unit) for row in self.rows]),
            latex.Column("Ratio", [_ratio(row) for row in self.rows]),
            latex.Column(f"{percent} interval", [_interval(row, "ratio", 1) for row in self.rows]),
        ]
        names, groups = self.workloads(), {}
        if len(names) > 1:
            sizes = [len(self.of(name)) for name in names]
            groups = {sum(sizes[:place]): name or "all workloads" for place, name in enumerate(names)}
        note = (
            f"Means over the instances. Difference and ratio (a geometric mean) are of pairs on the same instance, "
            f"against {latex.escaped(self.baseline)}; intervals by a bootstrap over the pairs of each workload. "
            f"--: not known, or of fewer than {FEWEST_PAIRS} pairs."
        )
        return latex.with_caption(latex.tabular(columns, groups), caption, label, [note])

    def __str__(self) -> str:
        sections = [self._section(workload) for workload in self.workloads()]
        if any(row.paired and row.paired.verdict == MIXED for row in self.rows):
            sections.append(f"{MIXED}: better by the ratios but worse in the mean, or the other way round")
        return "\n\n".join(sections)

    def __repr__(self) -> str:
        return f"<SchedulerRanking of {len(self.of())} schedulers by {self.metric} against {self.baseline}>"

    def _section(self, workload: str) -> str:
        """Return the table of a workload, under what it shows."""
        percent = f"{100 * self.level:g} %"
        header = [
            "scheduler",
            "instances",
            "median",
            "mean",
            "geometric mean",
            "mean difference",
            f"{percent} interval",
        ]
        header += ["mean ratio", f"{percent} interval", "better in", "verdict"]
        subject = f"{self.metric} of {workload or 'all workloads'}, against {self.baseline}"
        rows = self.of(workload)
        means = [row.mean for row in rows]
        return f"{subject}\n{table(header, [self._cells(row, means) for row in rows])}"

    def _cells(self, row: RankedScheduler, means: Sequence[float]) -> list[str]:
        """Return the row of a scheduler; means decide the unit of durations."""
        metric, pair = self.metric, row.paired
        cells = [row.scheduler, f"{row.instances:,}", *(quantity(metric, one, means) for one in (row.median, row.mean))]
        cells.append("-" if row.geometric_mean is None else quantity(metric, row.geometric_mean, means))
        if pair is None:
            return [*cells, "", "", "", "", "", "baseline"]
        cells += [signed(metric, pair.difference, means), interval_text(pair.difference_interval, metric, means)]
        cells += ["-" if pair.ratio is None else f"{pair.ratio:.3f}", interval_text(pair.ratio_interval)]
        wins = f"{pair.wins} of {pair.pairs}" + (f", {pair.ties} equal" if pair.ties else "")
        return [*cells, wins, pair.verdict]


def _interval(row: RankedScheduler, of: str, unit: float) -> str:
    """Return an interval of a row in LaTeX."""
    found = None if row.paired is None else getattr(row.paired, f"{of}_interval")
    if found is None:
        return "" if row.paired is None else "--"
    sign = of == "difference"
    return f"[{', '.join(latex.number(value / unit, sign=sign) for value in found)}]"


def _ratio(row: RankedScheduler) -> str:
    if row.paired is None:
        return ""
    return "--" if row.paired.ratio is None else latex.number(row.paired.ratio)


@explained
def ranking(
    frame: pd.DataFrame,
    baseline: str,
    metric: str = METRIC,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    whole: Mapping[str, float] | None = None,
) -> SchedulerRanking:
    """Compare all schedulers of a campaign with a baseline: as a whole, and by workload if there are several.

    Parameters
    ----------
    frame, metric, level, resamples, seed
        As for `paired`.
    baseline
        Scheduler text.
    whole
        The metric over all jobs at once, by scheduler, where the instances are the weeks of one log: it decides which
        one is best, and verdicts that it contradicts are "mixed".

    Raises
    ------
    InputError
        As `paired`.
    """
    known_whole = whole or {}
    values, workloads = by_instance(frame, metric)
    labels = np.unique(workloads)
    if known_whole and (lacking := [name for name in values.columns if name not in known_whole]):
        raise InputError(f"whole has no value of {', '.join(lacking)}; give one of each scheduler, or none")

    def ranked(scheduler: str, workload: str) -> RankedScheduler:
        part = workloads == workload if workload else np.ones(len(workloads), dtype=bool)
        known = values[scheduler][part].dropna().to_numpy()
        pair = (values[part], workloads[part], metric, scheduler, baseline, level, resamples, seed)
        return RankedScheduler(
            workload=workload,
            scheduler=scheduler,
            instances=len(known),
            median=statistic_of(np.median, known),
            mean=statistic_of(np.mean, known),
            geometric_mean=math.exp(np.log(known).mean()) if len(known) and (known > 0).all() else None,
            paired=None if scheduler == baseline else compare_columns(*pair).on_the_whole(known_whole),
        )

    first = _best_first([ranked(scheduler, "") for scheduler in values.columns], metric, known_whole)
    parts = [ranked(row.scheduler, label) for label in labels for row in first] if len(labels) > 1 else []
    return SchedulerRanking(metric, baseline, level, (*first, *parts), known_whole)


def _best_first(rows: list[RankedScheduler], metric: str, whole: Mapping[str, float]) -> list[RankedScheduler]:
    """Sort by the metric over all jobs at once if that is known, the baseline first of those that are equal.

    Else by the ratio to the baseline, or by the difference if not all have a ratio; what has no pairs comes last.
    """
    by_ratio = all(row.paired is None or row.paired.ratio is not None or not row.paired.pairs for row in rows)
    sign = -1 if metric in LARGER_IS_BETTER else 1
    if whole:
        return sorted(rows, key=lambda row: (sign * whole[row.scheduler], row.paired is not None))

    def place(row: RankedScheduler) -> tuple[bool, float]:
        if row.paired is None:
            return False, sign * (1.0 if by_ratio else 0.0)
        if not row.paired.pairs:
            return True, 0.0
        return False, sign * ((row.paired.ratio or 0.0) if by_ratio else row.paired.difference)

    return sorted(rows, key=place)
