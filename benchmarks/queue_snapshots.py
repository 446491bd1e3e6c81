"""Predict further waits from the state of a queue alone, on the queue snapshots of Cedar and Graham (2021).

`python benchmarks/queue_snapshots.py cedar` trains gradient boosting on the first four fifths of the days and judges
the last fifth. Columns, weights and sizes of trees were chosen on the days between three and four fifths of Cedar; the
last fifth took no part in it, and Graham none in any choice. Needs the extra `predict` and the traces.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

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

PAST_DAYS = {"past_p": 3.0, "past_a": 3.0, "past_pa": 7.0}
"""Half-lives of the waits that jobs of the partition, of the account, and of both had in earlier snapshots."""


def read(cluster: str) -> pd.DataFrame:
    """Return the snapshots in order of their days."""
    traces = Path(os.environ.get("SCHEDLAB_TRACES", Path(__file__).parents[2] / "shared" / "traces"))
    frame = pd.read_parquet(traces / "queue-snapshots" / f"{cluster}-submitted-that-day.parquet")
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


def fitted(inputs: pd.DataFrame, wait: Any, weight: Any, rows: Any, **loss: Any) -> HistGradientBoostingRegressor:
    """Return trees that were fitted to some rows."""
    trees = HistGradientBoostingRegressor(random_state=0, **TREES, **loss)
    return trees.fit(inputs[rows], wait[rows], sample_weight=weight[rows])


def told(name: str, found: Any, wait: Any, batch: Any) -> None:
    """Print how good points are, by job and by batch."""
    error = pd.DataFrame({"e": found - wait, "batch": batch})
    error["x2"] = error.e.abs() <= np.log10(2)
    of_batch = error.assign(e2=error.e**2).groupby("batch")[["e2", "x2"]].mean().mean()
    median = np.median(np.abs(10**found - 10**wait)) / 3600
    print(
        f"{name}: MSE log10 {(error.e**2).mean():.3f}, within x2 {error.x2.mean():.1%}, median error {median:.2f} h; "
        f"by batch {of_batch.e2:.3f}, {of_batch.x2:.1%}",
        flush=True,
    )


def coverage(hit: Any, day: Any) -> str:
    """Return the share of intervals that hold, with 95 % by resampling days."""
    days, place = np.unique(day, return_inverse=True)
    hits, jobs = np.bincount(place, hit), np.bincount(place)
    drawn = np.random.default_rng(0).integers(0, len(days), (2_000, len(days)))
    low, high = np.quantile(hits[drawn].sum(axis=1) / jobs[drawn].sum(axis=1), [0.025, 0.975])
    return f"{len(hit):,} jobs, {hit.mean():.0%} ({low:.0%} to {high:.0%})"


def main(cluster: str) -> None:
    """Print points, intervals, and their coverage by partition and predicted wait."""
    frame = read(cluster)
    wait = np.log10(frame.poll_wait_sec.clip(lower=1)).to_numpy()
    inputs, batch, day = columns(frame, wait), batches(frame), frame.day.to_numpy()
    weight = 1 / np.sqrt(np.bincount(batch)[batch])
    days = np.unique(day)
    cut, before = (days[int(share * len(days))] for share in (TRAINED, CALIBRATED))
    trained, judged = day < cut, day >= cut
    count = len(set(batch[judged]))
    print(f"{cluster}: {len(days)} days, judged from {cut} on: {judged.sum():,} jobs in {count:,} batches")
    told("constant", np.full(judged.sum(), wait[trained].mean()), wait[judged], batch[judged])
    middle = fitted(inputs, wait, weight, trained).predict(inputs[judged])
    told("mean", middle, wait[judged], batch[judged])
    median = fitted(inputs, wait, weight, trained, loss="absolute_error").predict(inputs[judged])
    told("median", median, wait[judged], batch[judged])
    early, late = day < before, (day >= before) & trained
    bounds = []
    for level in (0.1, 0.9):
        trees = fitted(inputs, wait, weight, early, loss="quantile", quantile=level)
        shift = np.quantile(wait[late] - trees.predict(inputs[late]), level)
        bounds.append(trees.predict(inputs[judged]) + shift)
    hit = (wait[judged] >= bounds[0]) & (wait[judged] <= bounds[1])
    last = [np.quantile(wait[late], level) for level in (0.1, 0.9)]
    width = np.median(10 ** bounds[1] - 10 ** bounds[0]) / 3600
    print(f"80 % intervals: {coverage(hit, day[judged])}, width {width:.1f} h")
    naive = (wait[judged] >= last[0]) & (wait[judged] <= last[1])
    width = (10 ** last[1] - 10 ** last[0]) / 3600
    print(f"quantiles of the days before: {coverage(naive, day[judged])}, width {width:.1f} h")
    lead = np.digitize(middle, np.log10([3_600, 4 * 3_600, 86_400]))
    for place, name in enumerate(("below 1 h", "1 h to 4 h", "4 h to 1 d", "above 1 d")):
        if (lead == place).sum() > 500:
            print(f"  predicted {name}: {coverage(hit[lead == place], day[judged][lead == place])}")
    partition = frame.partition_id_x.to_numpy()[judged]
    for one, count in zip(*np.unique(partition, return_counts=True), strict=True):
        if count > 500:
            print(f"  partition {one}: {coverage(hit[partition == one], day[judged][partition == one])}")


if __name__ == "__main__":
    main(sys.argv[1])
