"""Further waits predicted from the state of a queue alone, on the queue snapshots of Cedar and Graham (2021).

Gradient boosting is trained on the first four fifths of the days, and judged on the last fifth. Columns, weights and
sizes of trees were chosen on the days between three and four fifths of Cedar; the last fifth took no part in that, and
Graham none in any choice. Needs the extra `predict`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from schedlab import InputError

if TYPE_CHECKING:
    import pandas as pd

KNOWN_AFTERWARDS = ["state", "start_time", "end_time", "run_time_sec", "alloc_nodes", "poll_wait_sec"]
NOT_NUMBERS = ["day", "job_unique_id", "time_limit", "req_tres", "submit_time", "eligible_time", "poll_time"]
TREES: dict[str, Any] = {
    "learning_rate": 0.05,
    "max_iter": 300,
    "max_leaf_nodes": 31,
    "min_samples_leaf": 200,
    "l2_regularization": 1.0,
    "max_features": 0.3,
}
RATIOS = {
    "drain_p": ("q_p_core_hours_above", "r_p_cores_above"),
    "drain": ("q_core_hours_above", "r_cores_above"),
    "drain_a": ("q_a_core_hours_above", "r_a_cores_above"),
    "left_p": ("r_p_core_hours_above", "r_p_cores_above"),
    "run_p": ("q_p_core_run_hours", "r_p_cores_above"),
}
TRAINED, CALIBRATED = 0.8, 0.65
"""The share of the days before those that are judged, and before those on which intervals are calibrated."""

LARGE = 500
"""Jobs above which a partition is judged by itself."""

POOLED = 20.0
"""As how many batches of a partition the errors of all count where its bounds are shifted; fixed beforehand."""

PAST_DAYS = {"past_p": 3.0, "past_a": 3.0, "past_pa": 7.0}
"""Half-lives of the waits that jobs of the partition, of the account, and of both had in earlier snapshots."""


def file_of(cluster: str) -> str:
    """Return where the snapshots of a cluster lie in the directory of traces."""
    return f"queue-snapshots/{cluster}-submitted-that-day.parquet"


def read(traces: Path, cluster: str) -> pd.DataFrame:
    """Return the snapshots in order of their days."""
    import pandas as pd

    frame = pd.read_parquet(traces / file_of(cluster))
    return frame.sort_values(["poll_time", "submit_time"], ignore_index=True)


def batches(frame: pd.DataFrame) -> Any:
    """Return the number of the batch of identical jobs of an account to which each job belongs."""
    key = ["day", "account_id", "partition_id_x", "req_cpus", "time_limit_sec"]
    return frame.groupby(key, sort=False).ngroup().to_numpy()


def columns(frame: pd.DataFrame, wait: Any) -> pd.DataFrame:
    """Return what is known of each job at its snapshot."""
    found = frame.drop(columns=[*KNOWN_AFTERWARDS, *NOT_NUMBERS]).astype(float)
    found["age"] = (frame.poll_time - frame.submit_time).dt.total_seconds()
    found["eligible_age"] = (frame.poll_time - frame.eligible_time).dt.total_seconds()
    found["weekday"] = frame.poll_time.dt.day_of_week
    found["nodes"] = frame.req_tres.str.extract(r"node=(\d+)")[0].astype(float)
    found["gpus"] = frame.req_tres.str.extract(r"gres/gpu=(\d+)")[0].astype(float).fillna(0)
    found["mem_per_core"] = found.req_mem_total / found.req_cpus.clip(lower=1)
    found["core_hours"] = found.req_cpus * found.time_limit_sec / 3600
    of_partition, of_account = ([frame.day, frame[name]] for name in ("partition_id_x", "account_id"))
    found["priority_rank"] = found.groupby(of_partition).priority_x.rank(pct=True)
    batch = batches(frame)
    found["batch"] = found.groupby(batch).req_cpus.transform("size")
    found["batch_place"] = found.groupby(batch).age.rank(ascending=False)
    found["account_jobs"] = found.groupby(of_account).req_cpus.transform("size")
    found["account_core_hours"] = found.core_hours.groupby(of_account).transform("sum")
    found["part_jobs"] = found.groupby(of_partition).req_cpus.transform("size")
    for name, (above, running) in RATIOS.items():
        found[name] = found[above] / found[running].clip(lower=1)
    both = frame.partition_id_x.astype(str) + "/" + frame.account_id.astype(str)
    for name, key in zip(PAST_DAYS, (frame.partition_id_x, frame.account_id, both), strict=True):
        found[name] = past_waits(frame, key, wait, PAST_DAYS[name])
    return found


def past_waits(frame: pd.DataFrame, key: Any, wait: Any, half_life: float) -> Any:
    """Return the mean logarithm of the waits of earlier snapshots, each batch once; a wait that goes on is a bound."""
    import pandas as pd

    seconds = frame.poll_time.astype("datetime64[s]").astype("int64")
    told = pd.DataFrame({"key": key, "poll": seconds, "wait": wait, "batch": batches(frame)})
    found = np.full(len(frame), np.nan)
    for now in told.poll.unique():
        past = told[told.poll < now]
        weight = 0.5 ** ((now - past.poll) / 86_400 / half_life) / past.groupby("batch").key.transform("size")
        seen = np.minimum(past.wait, np.log10(now - past.poll))
        sums = pd.DataFrame({"key": past.key, "w": weight, "ws": weight * seen}).groupby("key").sum()
        rows = (told.poll == now).to_numpy()
        found[rows] = told.key[rows].map(sums.ws / sums.w)
    return found


def fitted(inputs: pd.DataFrame, wait: Any, weight: Any, rows: Any, **loss: Any) -> Any:
    """Return trees that were fitted to some rows."""
    try:
        from sklearn.ensemble import HistGradientBoostingRegressor
    except ImportError:
        raise InputError("the queue snapshots need scikit-learn: install schedlab[predict]") from None
    trees = HistGradientBoostingRegressor(random_state=0, **TREES, **loss)
    return trees.fit(inputs[rows], wait[rows], sample_weight=weight[rows])


class Judged(NamedTuple):
    """How good forecasts of the last fifth of the days were.

    Parameters
    ----------
    jobs, batches
        How many, and how many batches of identical jobs of an account.
    squared_error
        Mean square of the error of log10 seconds.
    within_2
        Share of medians within a factor 2.
    coverage
        Share of 80 % intervals that held: as they are, and with shifts by partition.
    intervals
        95 % of these by resampling days.
    by_partition
        For each partition of more than 500 jobs: their number, and both shares.
    """

    jobs: int
    batches: int
    squared_error: float
    within_2: float
    coverage: tuple[float, float]
    intervals: tuple[tuple[float, float], tuple[float, float]]
    by_partition: tuple[tuple[int, float, float], ...]


def judged(frame: pd.DataFrame) -> Judged:
    """Train on the past, and return how good points and intervals are."""
    wait = np.log10(frame.poll_wait_sec.clip(lower=1)).to_numpy()
    inputs, batch, day = columns(frame, wait), batches(frame), frame.day.to_numpy()
    weight, days = 1 / np.sqrt(np.bincount(batch)[batch]), np.unique(day)
    cut, before = (days[int(share * len(days))] for share in (TRAINED, CALIBRATED))
    trained, last = day < cut, day >= cut
    told = wait[last]
    mean = fitted(inputs, wait, weight, trained).predict(inputs[last])
    median = fitted(inputs, wait, weight, trained, loss="absolute_error").predict(inputs[last])
    partition, bounds = frame.partition_id_x.to_numpy(), []
    early, late = day < before, (day >= before) & trained
    for level in (0.1, 0.9):
        trees = fitted(inputs, wait, weight, early, loss="quantile", quantile=level)
        error, found = wait[late] - trees.predict(inputs[late]), trees.predict(inputs[last])
        pooled = pooled_shifts(error, partition[late], batch[late], level)
        own = np.array([pooled.get(one, np.quantile(error, level)) for one in partition[last].tolist()])
        bounds.append((found + np.quantile(error, level), found + own))
    hits = [(told >= low) & (told <= high) for low, high in zip(*bounds, strict=True)]
    large = [one for one, count in zip(*np.unique(partition[last], return_counts=True), strict=True) if count > LARGE]
    of = [partition[last] == one for one in large]
    return Judged(
        jobs=int(last.sum()),
        batches=len(set(batch[last].tolist())),
        squared_error=float(((mean - told) ** 2).mean()),
        within_2=float((np.abs(median - told) <= np.log10(2)).mean()),
        coverage=(float(hits[0].mean()), float(hits[1].mean())),
        intervals=(by_days(hits[0], day[last]), by_days(hits[1], day[last])),
        by_partition=tuple((int(one.sum()), float(hits[0][one].mean()), float(hits[1][one].mean())) for one in of),
    )


def pooled_shifts(error: Any, partition: Any, batch: Any, level: float) -> dict[Any, float]:
    """Return by how much the bounds of each partition are shifted, by errors on earlier days.

    The quantile of a partition's errors counts by its batches, as identical jobs begin together; that of all counts as
    `POOLED` batches.
    """
    of_all, found = float(np.quantile(error, level)), {}
    for one in np.unique(partition).tolist():
        rows = partition == one
        count = len(np.unique(batch[rows]))
        own = float(np.quantile(error[rows], level))
        found[one] = (count * own + POOLED * of_all) / (count + POOLED)
    return found


def by_days(hit: Any, day: Any) -> tuple[float, float]:
    """Return a 95 % interval of the share of intervals that hold, by resampling days."""
    days, place = np.unique(day, return_inverse=True)
    hits, jobs = np.bincount(place, hit), np.bincount(place)
    drawn = np.random.default_rng(0).integers(0, len(days), (2_000, len(days)))
    low, high = np.quantile(hits[drawn].sum(axis=1) / jobs[drawn].sum(axis=1), [0.025, 0.975])
    return float(low), float(high)
