"""What changed between two campaigns, or between two versions of schedlab that ran the same one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.campaign.results.overview import COORDINATES, Overview, failure_row, metric_names
from schedlab.campaign.run.directory import RunDirectory
from schedlab.errors import InputError
from schedlab.wording import table

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

SHOWN = 10
"""Tasks that a text shows of each kind."""

STATES = ("done", "failed", "absent")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Difference:
    """Two campaigns, task by task.

    Parameters
    ----------
    a, b
        The campaigns.
    tolerance
        Relative to A: smaller changes do not count.
    tasks
        One row per task that has a result or a failure in one of them: the coordinates; `state_a` and `state_b`
        ("done", "failed" or "absent"); `same_specification`; and for those that are done in both, `identical` (all
        metrics), `changed` (a metric, beyond the tolerance) and what changed most: `metric`, `value_a`, `value_b`, and
        `relative`, the change over the absolute value in A.
    metrics
        One row per metric of both, by name: in how many tasks it `changed`, the `largest_absolute` and the
        `largest_relative` change, and the `median_relative` of those that changed. A change is B minus A; NaN if one of
        the values is; relative to 0, it is infinite.
    only_in_a, only_in_b
        Metrics that the other one does not have.
    """

    a: Overview
    b: Overview
    tolerance: float
    tasks: pd.DataFrame
    metrics: pd.DataFrame
    only_in_a: tuple[str, ...]
    only_in_b: tuple[str, ...]

    def count(self, state_a: str, state_b: str) -> int:
        """Return how many tasks are in these states in A and in B."""
        return int(((self.tasks.state_a == state_a) & (self.tasks.state_b == state_b)).sum())

    @property
    def common(self) -> int:
        """Number of tasks that are done in both."""
        return self.count("done", "done")

    @property
    def identical(self) -> int:
        """Number of those of which all metrics are the same to the last bit."""
        return int(self.tasks.identical.sum())

    @property
    def changed(self) -> int:
        """Number of those of which a metric changed beyond the tolerance."""
        return int(self.tasks.changed.sum())

    @property
    def same_specification(self) -> int:
        """Number of those that were asked to simulate the very same thing."""
        return int(self.tasks.same_specification.sum())

    @property
    def unmatched(self) -> pd.DataFrame:
        """The tasks that are not in the same state in both."""
        return self.tasks[self.tasks.state_a != self.tasks.state_b]

    def most_changed(self, number: int = SHOWN) -> pd.DataFrame:
        """Return the tasks that changed most, by the largest relative change of any metric."""
        changed = self.tasks[self.tasks.changed]
        # A value that is there on one side only has no size: it stands first, like a change from 0.
        order = changed.relative.abs().fillna(np.inf).sort_values(ascending=False, kind="stable")
        return changed.loc[order.index[:number]]

    def to_frame(self) -> pd.DataFrame:
        """Return `metrics`."""
        return self.metrics.copy()

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the single tasks that are the same on both sides; None for what is not finite."""
        states = {f"{a}_{b}": self.count(a, b) for a in STATES for b in STATES if (a, b) != ("absent", "absent")}
        return {
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            "tolerance": self.tolerance,
            "common": self.common,
            "same_specification": self.same_specification,
            "identical": self.identical,
            "changed": self.changed,
            "states": states,
            "metrics": _records(self.metrics.reset_index()),
            "only_in_a": list(self.only_in_a),
            "only_in_b": list(self.only_in_b),
            "most_changed": _records(self.most_changed()[[*COORDINATES, "metric", "value_a", "value_b", "relative"]]),
            "unmatched": _records(self.unmatched[[*COORDINATES, "state_a", "state_b"]]),
        }

    def __repr__(self) -> str:
        return f"<Difference of {self.a.directory} and {self.b.directory}: {self.changed} of {self.common} changed>"

    def __str__(self) -> str:
        parts = ["\n".join([*_sides(self), "", *_sentences(self)])]
        if self.changed:
            parts += [_metrics_table(self), f"The tasks that changed most:\n{_tasks_table(self.most_changed())}"]
        if len(self.unmatched):
            parts.append(f"The tasks that are not on both sides alike:\n{_states_table(self.unmatched)}")
        return "\n\n".join(parts)


def difference(a: RunDirectory, b: RunDirectory, *, tolerance: float = 0.0) -> Difference:
    """Compare the results of two campaigns task by task; tasks are the same if their coordinates are.

    The time that a simulation took is not a result. NaN equals NaN.

    Parameters
    ----------
    a, b
        The run directories; they need not be complete.
    tolerance
        Relative change of a metric, by its value in A, up to which it does not count as changed.

    Raises
    ------
    InputError
        If a run directory cannot be read, or if the tolerance is negative.
    """
    if not tolerance >= 0:
        raise InputError(f"the tolerance is {tolerance:g}; it must be a fraction of 0 or more, such as 1e-9")
    overview_a, tasks_a, results_a = _read(a)
    overview_b, tasks_b, results_b = _read(b)
    tasks = tasks_a.merge(tasks_b, how="outer", on=list(COORDINATES), suffixes=("_a", "_b"))
    tasks = tasks.sort_values(["row_a", "row_b"], ignore_index=True)
    tasks[["state_a", "state_b"]] = tasks[["state_a", "state_b"]].fillna("absent")
    both = ((tasks.state_a == "done") & (tasks.state_b == "done")).to_numpy()
    names = sorted(set(results_a) & set(results_b))
    values_a = _values(results_a, names, tasks.row_a[both])
    values_b = _values(results_b, names, tasks.row_b[both])
    with np.errstate(invalid="ignore", divide="ignore"):
        change = values_b - values_a
        relative = change / np.abs(values_a)
        same = (values_a == values_b) | (np.isnan(values_a) & np.isnan(values_b))
        changed = ~same & ~(np.abs(change) <= tolerance * np.abs(values_a))
    tasks["same_specification"] = both & (tasks.task_a == tasks.task_b)
    tasks["identical"], tasks["changed"] = both, False
    tasks.loc[both, "identical"] = same.all(axis=1)
    tasks.loc[both, "changed"] = changed.any(axis=1)
    _add_largest(tasks, both, names, np.where(changed, relative, 0.0), values_a, values_b)
    return Difference(
        a=overview_a,
        b=overview_b,
        tolerance=tolerance,
        tasks=tasks.drop(columns=["row_a", "row_b"]),
        metrics=_by_metric(names, changed, change, relative),
        only_in_a=tuple(sorted(set(results_a) - set(results_b))) if results_b else (),
        only_in_b=tuple(sorted(set(results_b) - set(results_a))) if results_a else (),
    )


def _read(run: RunDirectory) -> tuple[Overview, pd.DataFrame, dict[str, NDArray[np.float64]]]:
    """Return a campaign's facts, its tasks with their states, those that are done at first, and its metrics by name."""
    import pandas as pd

    results: pa.Table | None = run.table()
    failures = [failure_row(failure) for failure in run.failures().values()]
    columns = ["task", *COORDINATES]
    done = pd.DataFrame(columns=columns) if results is None else results.select(columns).to_pandas()
    failed = pd.DataFrame(failures, columns=columns)
    parts = [part.assign(state=state) for part, state in ((done, "done"), (failed, "failed")) if len(part)]
    tasks = pd.concat(parts, ignore_index=True) if parts else done.assign(state="")
    tasks = tasks.astype({"load": "float64", "repetition": "int64", "window": "int64"})
    tasks["row"] = np.arange(len(tasks))
    metrics = {}
    if results is not None:
        for name in metric_names(results):
            metrics[name] = np.asarray(results.column(name).to_numpy(zero_copy_only=False), dtype=np.float64)
    return Overview.of(run, done=len(done), failed=len(failed)), tasks, metrics


def _values(metrics: dict[str, NDArray[np.float64]], names: list[str], rows: pd.Series) -> NDArray[np.float64]:
    """Return metrics, a column for each, of some rows of results."""
    chosen = rows.to_numpy(dtype=np.intp)
    return np.array([metrics[name][chosen] for name in names], dtype=np.float64).reshape(len(names), len(chosen)).T


def _add_largest(
    tasks: pd.DataFrame,
    both: NDArray[np.bool_],
    names: list[str],
    relative: NDArray[np.float64],
    values_a: NDArray[np.float64],
    values_b: NDArray[np.float64],
) -> None:
    """Add what changed most in each task; relative changes are 0 where there is none that counts."""
    tasks["metric"] = ""
    tasks[["value_a", "value_b", "relative"]] = np.nan
    rows = np.flatnonzero(np.any(relative != 0, axis=1))
    if len(rows):
        place = np.argmax(np.nan_to_num(np.abs(relative[rows]), nan=np.inf), axis=1)
        where = np.flatnonzero(both)[rows]
        tasks.loc[where, "metric"] = np.array(names)[place]
        for column, values in (("value_a", values_a), ("value_b", values_b), ("relative", relative)):
            tasks.loc[where, column] = values[rows, place]


def _by_metric(
    names: list[str], changed: NDArray[np.bool_], change: NDArray[np.float64], relative: NDArray[np.float64]
) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for place in range(len(names)):
        which = changed[:, place]
        shares = relative[which, place]
        shares = shares[~np.isnan(shares)]
        median = float(np.median(shares)) if len(shares) else math.nan
        rows.append((int(which.sum()), _largest(change[which, place]), _largest(shares), median))
    columns = ["changed", "largest_absolute", "largest_relative", "median_relative"]
    return pd.DataFrame(rows, index=pd.Index(names, name="metric", dtype="str"), columns=columns)


def _largest(values: NDArray[np.float64]) -> float:
    values = values[~np.isnan(values)]
    return float(values[np.argmax(np.abs(values))]) if len(values) else math.nan


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame; None for what JSON cannot say."""
    rows: list[dict[Any, Any]] = frame.to_dict("records")
    return [{name: None if _endless(value) else value for name, value in row.items()} for row in rows]


def _endless(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _sides(found: Difference) -> list[str]:
    lines = []
    for letter, side in (("A", found.a), ("B", found.b)):
        version = f"schedlab {side.schedlab or 'unknown'}" + (f" ({side.commit})" if side.commit else "")
        tasks = f"{side.done:,} of {side.planned:,} tasks done, {side.failed:,} failed"
        lines.append(f"{letter}  {side.directory}: {version}, {tasks}")
    return lines


def _sentences(found: Difference) -> list[str]:
    beyond = f" by more than {found.tolerance:g} of the value in A" if found.tolerance else ""
    sentences = [
        f"{found.common:,} tasks are done in both, {found.same_specification:,} of them with the same specification.",
        f"{found.identical:,} results are the same to the last bit; {found.changed:,} changed{beyond}.",
    ]
    for letter, names in (("A", found.only_in_a), ("B", found.only_in_b)):
        if names:
            sentences.append(f"Only {letter} has the metrics {', '.join(names)}.")
    return sentences


def _metrics_table(found: Difference) -> str:
    changed = found.metrics[found.metrics.changed > 0].sort_values("changed", ascending=False, kind="stable")
    rows: list[Any] = list(changed.itertuples())
    return table(
        ["metric", "tasks changed", "largest change", "relative largest", "relative median"],
        [
            [
                row.Index,
                f"{row.changed:,}",
                _number(row.largest_absolute),
                _share(row.largest_relative),
                _share(row.median_relative),
            ]
            for row in rows
        ],
    )


def _tasks_table(tasks: pd.DataFrame) -> str:
    rows: list[Any] = list(tasks.itertuples())
    return table(
        [*COORDINATES, "metric", "in A", "in B", "change"],
        [[*_place(row), row.metric, _number(row.value_a), _number(row.value_b), _share(row.relative)] for row in rows],
    )


def _states_table(tasks: pd.DataFrame) -> str:
    rows: list[Any] = list(tasks.head(SHOWN).itertuples())
    rest = f"\nand {len(tasks) - SHOWN:,} more" if len(tasks) > SHOWN else ""
    return table([*COORDINATES, "in A", "in B"], [[*_place(row), row.state_a, row.state_b] for row in rows]) + rest


def _place(row: Any) -> list[str]:
    """Return the coordinates of a task as text; what does not apply is a dash."""
    load = "-" if math.isnan(row.load) else f"{row.load:g}"
    return [row.workload, load, str(row.repetition), "-" if row.window < 0 else str(row.window), row.scheduler]


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:,.6g}"


def _share(value: float) -> str:
    """Return a relative change in per cent, with enough digits to see the smallest."""
    return "from 0" if math.isinf(value) else "-" if math.isnan(value) else f"{100 * value:+.3g} %"
