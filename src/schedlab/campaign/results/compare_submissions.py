"""Submission modes of workflows compared: the same workflows, submitted in different ways, pair by pair.

The same workload may finish different numbers of workflows until the cutoff in different submission modes. Two modes
are compared on those workflows that both have finished; how many each has not is said beside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from schedlab.arguments import explained
from schedlab.campaign.results.statistics import FEWEST_PAIRS, Paired, interval_text, paired, signed
from schedlab.campaign.run.details import read_details
from schedlab.errors import InputError
from schedlab.schedule.columns import in_columns
from schedlab.wording import table
from schedlab.workload.submissions import SUBMISSION_MODES

if TYPE_CHECKING:
    import pandas as pd

    from schedlab.campaign.run.directory import RunDirectory

MEASURES = ("wait", "run_time", "turnaround", "stretch")

Common = Literal["finished", "first"]


@dataclass(frozen=True, slots=True)
class SubmissionSummary:
    """What became of the workflows of an experiment under one submission mode, all repetitions together.

    Parameters
    ----------
    experiment, scheduler, submission_mode
        What was simulated.
    repetitions
        How many there are.
    submitted, unfinished
        Numbers of workflows, and of those that have not ended at the cutoff.
    wait, run_time, turnaround, stretch
        Medians over the finished ones, times in seconds; NaN without any.
    reserved, useful
        Shares of the machine that jobs held, and that were used; means over the repetitions.
    seconds
        Of a simulation; median over the repetitions.
    """

    experiment: str
    scheduler: str
    submission_mode: str
    repetitions: int
    submitted: int
    unfinished: int
    wait: float
    run_time: float
    turnaround: float
    stretch: float
    reserved: float
    useful: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Difference:
    """One submission mode against another, on workflows that both have finished.

    Parameters
    ----------
    experiment, scheduler
        What was simulated.
    measure
        One of `MEASURES`.
    submission_mode, baseline
        What is compared with what.
    workflows
        How many are compared, all repetitions together.
    left_out
        How many are not, as one of the two has not finished them.
    pair
        The comparison: a pair is the medians of one repetition. None if there is nothing to compare.
    """

    experiment: str
    scheduler: str
    measure: str
    submission_mode: str
    baseline: str
    workflows: int
    left_out: int
    pair: Paired | None

    @property
    def verdict(self) -> str:
        """What the interval says, see `schedlab.campaign.results.statistics.Paired.verdict`."""
        return "not enough data" if self.pair is None else self.pair.verdict


@dataclass(frozen=True, slots=True, repr=False)
class SubmissionComparison:
    """All submission modes of the experiments of a campaign, and their differences.

    Parameters
    ----------
    summaries
        One for each experiment, scheduler and submission mode.
    differences
        One for each measure and pair of submission modes.
    """

    summaries: tuple[SubmissionSummary, ...]
    differences: tuple[Difference, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries and numbers."""
        return {
            "summaries": [asdict(row) for row in self.summaries],
            "differences": [asdict(row) | {"verdict": row.verdict} for row in self.differences],
        }

    def of(self, experiment: str, measure: str, submission_mode: str, baseline: str) -> list[Difference]:
        """Return the differences of one experiment, measure and pair of submission modes; one for each scheduler."""
        wanted = (experiment, measure, submission_mode, baseline)
        return [
            row
            for row in self.differences
            if (row.experiment, row.measure, row.submission_mode, row.baseline) == wanted
        ]

    def __str__(self) -> str:
        schedulers = list(dict.fromkeys(row.scheduler for row in self.summaries))
        return "\n\n\n".join(f"under {scheduler}\n\n{self._section(scheduler)}" for scheduler in schedulers)

    def _section(self, scheduler: str) -> str:
        header = [
            "experiment",
            "mode",
            "runs",
            "workflows",
            "not finished",
            "median wait",
            "median run time",
        ]
        header += ["median turnaround", "median stretch", "reserved", "useful"]
        summaries = [_summary_cells(row) for row in self.summaries if row.scheduler == scheduler]
        parts = [table(header, in_columns(summaries))]
        differences = [row for row in self.differences if row.scheduler == scheduler]
        if differences:
            header = ["experiment", "measure", "compared", "workflows", "left out", "ratio", "95 % interval", "verdict"]
            parts.append(table(header, [_difference_cells(row) for row in differences]))
            if any(row.pair is None or row.pair.pairs < FEWEST_PAIRS for row in differences):
                parts.append(f"Intervals need {FEWEST_PAIRS} repetitions with workflows that both have finished.")
            if any(row.pair is not None and row.pair.ratio is None for row in differences):
                parts.append("Where a median is 0 there is no ratio; the mean difference stands in its place.")
        return "\n\n".join(parts)


@explained
def compare_submissions(
    run: RunDirectory, *, common: Common = "finished", level: float = 0.95, seed: int = 0
) -> SubmissionComparison:
    """Compare the submission modes of all experiments of a campaign.

    Parameters
    ----------
    run
        The run directory.
    common
        Which workflows two modes are compared on. "finished": all that both have finished. "first": by the rule of
        the program ScSF, those finished by both among the first n, n being the smallest number that any submission mode
        has finished.
    level, seed
        Of the bootstrap intervals, over repetitions.

    Raises
    ------
    InputError
        If the campaign has no workflows, or no result yet.
    """
    workflows = workflow_frame(run)
    results = run.results()
    summaries = list(_summaries(results[results["experiment"].notna()], workflows))
    differences: list[Difference] = []
    for (experiment, scheduler), rows in workflows.groupby(["experiment", "scheduler"], sort=False, observed=True):
        differences += _differences(str(experiment), str(scheduler), rows, common, level, seed)
    return SubmissionComparison(tuple(summaries), tuple(differences))


def workflow_frame(run: RunDirectory) -> pd.DataFrame:
    """Return what became of each workflow of a campaign, in the order of the campaign's tasks.

    Raises
    ------
    InputError
        If there is none.
    """
    kept = read_details(run, "workflows")
    if kept is None or not kept.num_rows:
        raise InputError(f"{run.path}: the campaign has simulated no workflow: add workflows to an entry of it")
    text = {"task", "experiment", "submission_mode", "scheduler", "workflow"}
    for place, field in enumerate(kept.schema):
        if field.name in text:
            kept = kept.set_column(place, field.name, kept.column(place).dictionary_encode())
    frame: pd.DataFrame = kept.combine_chunks().to_pandas()
    order = {name.decode(): place for place, name in enumerate(run.plan.names)}
    codes = frame["task"].cat.categories.map(order).to_numpy()[frame["task"].cat.codes]
    return frame.iloc[codes.argsort(kind="stable")]


def _summaries(results: pd.DataFrame, workflows: pd.DataFrame) -> Iterator[SubmissionSummary]:
    keys = ["experiment", "scheduler", "submission_mode"]
    of = dict(iter(workflows.groupby(keys, observed=True)))
    for key, runs in results.groupby(keys, sort=False):
        # Without workflows, all that is used is useful.
        useful = runs["useful_utilisation"].fillna(runs["utilisation"]) if "useful_utilisation" in runs else None
        values = {"reserved": float(runs["utilisation"].mean()), "seconds": float(runs["seconds"].median())}
        values["useful"] = float((runs["utilisation"] if useful is None else useful).mean())
        mine = of.get(key)
        finished = mine[mine["finished"]] if mine is not None else None
        for measure in MEASURES:
            values[measure] = float("nan") if finished is None else float(finished[measure].median())
        submitted = 0 if mine is None else len(mine)
        unfinished = submitted - (0 if finished is None else len(finished))
        experiment, scheduler, submission_mode = map(str, key)
        if mine is None:
            submission_mode = "-"
        yield SubmissionSummary(experiment, scheduler, submission_mode, len(runs), submitted, unfinished, **values)


def _differences(
    experiment: str, scheduler: str, rows: pd.DataFrame, common: Common, level: float, seed: int
) -> Iterator[Difference]:
    there = [
        submission_mode for submission_mode in SUBMISSION_MODES if (rows["submission_mode"] == submission_mode).any()
    ]
    tables: dict[str, pd.DataFrame] = {
        submission_mode: rows[rows["submission_mode"] == submission_mode].set_index(["repetition", "number"])
        for submission_mode in there
    }
    if common == "first":
        tables = _first(tables)
    for baseline, submission_mode in combinations(there, 2):
        first, second = tables[baseline], tables[submission_mode]
        both = first.merge(second, left_index=True, right_index=True, suffixes=("_baseline", "_other"))
        done = both[both["finished_baseline"] & both["finished_other"]]
        everything = len(first.index.union(second.index))
        for measure in MEASURES:
            pair = _paired(done, measure, submission_mode, baseline, level, seed) if len(done) else None
            left_out = everything - len(done)
            yield Difference(experiment, scheduler, measure, submission_mode, baseline, len(done), left_out, pair)


def _first(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the workflows with the lowest numbers, as many in each repetition as every mode has finished."""
    import pandas as pd

    finished = pd.DataFrame({name: rows.groupby("repetition")["finished"].sum() for name, rows in tables.items()})
    fewest = finished.min(axis=1)
    kept = {}
    for name, rows in tables.items():
        place = rows.groupby("repetition").cumcount().to_numpy()
        kept[name] = rows[place < fewest.reindex(rows.index.get_level_values("repetition")).to_numpy()]
    return kept


def _paired(done: pd.DataFrame, measure: str, submission_mode: str, baseline: str, level: float, seed: int) -> Paired:
    """Return the comparison of the medians of each repetition."""
    import pandas as pd

    parts = []
    for name, suffix in ((baseline, "baseline"), (submission_mode, "other")):
        medians = done.groupby("repetition")[f"{measure}_{suffix}"].median()
        place = {"workload": "", "load": float("nan"), "window": -1, "scheduler": name}
        parts.append(pd.DataFrame({"repetition": medians.index, measure: medians.to_numpy(), **place}))
    return paired(pd.concat(parts), measure, submission_mode, baseline, level=level, seed=seed)


def _summary_cells(row: SubmissionSummary) -> Sequence[str | float]:
    times = [row.wait, row.run_time, row.turnaround]
    stretch = "-" if math.isnan(row.stretch) else f"{row.stretch:.3f}"
    counts = [f"{row.repetitions}", f"{row.submitted:,}", f"{row.unfinished:,}"]
    return [row.experiment, row.submission_mode, *counts, *times, stretch, f"{row.reserved:.1%}", f"{row.useful:.1%}"]


def _difference_cells(row: Difference) -> Sequence[str]:
    """Return a line of the table; its verdict is of the ratio or, without one, of the difference."""
    pair = row.pair
    cells = [
        row.experiment,
        row.measure,
        f"{row.submission_mode} / {row.baseline}",
        f"{row.workflows:,}",
        f"{row.left_out:,}",
    ]
    if pair is None:
        cells += ["-", "-"]
    elif pair.ratio is None:
        cells += [signed(row.measure, pair.difference), interval_text(pair.difference_interval, row.measure)]
    else:
        cells += [f"{pair.ratio:.3f}", interval_text(pair.ratio_interval)]
    return [*cells, row.verdict]
