"""Records of the components of heterogeneous jobs, 123+0 and 123+1: named as one job, or joined to one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from schedlab.workload.columns import UNKNOWN

if TYPE_CHECKING:
    import pandas as pd

HetJobs = Literal["joined", "components"]
"""What becomes of heterogeneous jobs: one job each, or a row for each component."""


def with_het_jobs(records: pd.DataFrame, het_jobs: HetJobs) -> tuple[pd.DataFrame, list[str]]:
    """Return the records with heterogeneous jobs as rows of their components or joined, and notes.

    Parameters
    ----------
    records
        One row per record, with `identifier` (123+0 for a component), `submit`, `end`, `run_time`, `requested_time`,
        processors, `nodes`, `tasks` and `gpus`.
    het_jobs
        What becomes of them.
    """
    if het_jobs == "components":
        jobs = named(records)
        count = int(jobs["het_job"].nunique()) if "het_job" in jobs else 0
        return jobs, [f"heterogeneous jobs, whose components are rows: {count:,}"] if count else []
    jobs = joined(records)
    components = len(records) - len(jobs)
    return jobs, [f"components of heterogeneous jobs joined to others: {components:,}"] if components else []


def named(records: pd.DataFrame) -> pd.DataFrame:
    """Name the heterogeneous job of each component (123+0, 123+1), which follow each other; runs of it are its own."""
    component = records["identifier"].str.contains("+", regex=False, na=False)
    if not component.any():
        return records
    job, offset = (records["identifier"].str.partition("+")[part] for part in (0, 2))
    first = records[component].groupby(job[component])["submit"].transform("first")
    again = records["submit"].astype(str).where(records["submit"] != first.reindex(records.index), "")
    name = job.where(again == "", job + " submitted at " + again).where(component, None)
    place = records.index.to_series()
    place = place.groupby(name).transform("min").where(component, place)
    order = records.assign(place=place, offset=offset.where(component, "0").astype(int))
    return records.assign(het_job=name).loc[order.sort_values(["place", "offset"], kind="stable").index]


def joined(records: pd.DataFrame) -> pd.DataFrame:
    """Join the components of heterogeneous jobs (123+0, 123+1), which start together, to one job each."""
    import pandas as pd

    component = records["identifier"].str.contains("+", regex=False, na=False)
    if not component.any():
        return records
    parts = records[component]
    whole = parts.groupby([parts["identifier"].str.partition("+")[0], "submit"], sort=False)
    rules = dict.fromkeys(set(records) - {"submit"}, "first")
    rules |= dict.fromkeys(("run_time", "end", "requested_time"), "max")
    one = whole.agg(rules)
    for field in ("allocated_processors", "requested_processors"):
        one[field] = whole[field].agg(lambda count: count.sum() if (count > 0).all() else UNKNOWN)
    one["nodes"] = whole["nodes"].agg(lambda count: count.sum() if (count > 0).all() else 0)
    for field in ("tasks", "gpus"):
        one[field] = whole[field].sum()
    one = one.reset_index(level="submit")
    return pd.concat([records[~component], one[list(records)]], ignore_index=True)
