"""When the waiting jobs of a site start, as a page, as JSON, and for Prometheus; each file appears complete."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np

from schedlab.atomic import atomic_path
from schedlab.errors import InputError
from schedlab.report.page import Page, write_page
from schedlab.when.backtest_record import NEVER_CHECKED
from schedlab.when.site_forecast import SiteForecast
from schedlab.when.site_texts import (
    answer_document,
    basis_text,
    day_and_time,
    notes_text,
    owners_of_jobs,
    waits_for_text,
)

SUFFIXES = (".json", ".html", ".prom")
LEVELS = (0.1, 0.5, 0.9)


def write_starts(
    found: SiteForecast, path: str | PathLike[str], zone: ZoneInfo, *, sure: str = NEVER_CHECKED, every: int = 0
) -> Path:
    """Write a forecast of a site's waiting jobs, and return where it is.

    Parameters
    ----------
    found
        The forecast.
    path
        A file that ends with .json (for programs, such as Open OnDemand), .html (a page) or .prom (for the textfile
        collector of Prometheus' node exporter).
    zone
        Of the times on the page.
    sure
        How sure the answer is.
    every
        Seconds after which the page is read again; 0: it is not.

    Raises
    ------
    InputError
        If the suffix is another one.
    OutputError
        If the file cannot be written.
    """
    target = Path(path)
    if target.suffix == ".html":
        return write_page(target, lambda: render_starts(found, zone, sure=sure, every=every))
    if target.suffix not in SUFFIXES:
        raise InputError(f"{target}: unknown suffix; known are {', '.join(SUFFIXES)}")
    document = answer_document(found, zone, sure)
    text = json.dumps(document, ensure_ascii=False) + "\n" if target.suffix == ".json" else metrics_text(found)
    with atomic_path(target) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return target


def render_starts(found: SiteForecast, zone: ZoneInfo, *, sure: str = NEVER_CHECKED, every: int = 0) -> str:
    """Return the page of a forecast as HTML; see `write_starts`."""
    starts, owners = found.starts, owners_of_jobs(found)
    quantiles, jobs = starts.quantiles() + starts.now, []
    for row in np.argsort(quantiles[:, 1], kind="stable").tolist():
        early, middle, late = (day_and_time(second, found, zone) for second in quantiles[row])
        user, _, partition = owners[row]
        told = {"job": int(starts.jobs.job_id[row]), "user": user, "partition": partition, "middle": middle}
        told |= {
            "between": early if early == late else f"{early} – {late}",
            "cores": int(starts.jobs.job_processors[row]),
        }
        told |= {"chance": f"{float(starts.chance(3_600)[row]):.0%}", "why": waits_for_text(found, row, zone)}
        jobs.append(told)
    return Page().render(
        "starts.html.j2",
        site=found.site,
        refresh=every,
        lead=f"{basis_text(found, zone)} {sure}",
        jobs=jobs,
        never=found.state.never,
        notes=[notes_text(found)] if found.state.notes else [],
    )


def metrics_text(found: SiteForecast) -> str:
    """Return quantiles of the waits of each partition's waiting jobs as metrics of Prometheus."""
    starts = found.starts
    partitions = np.array([partition for _, _, partition in owners_of_jobs(found)])
    lines = [
        "# HELP schedlab_when_wait_seconds Quantiles of the further waits of waiting jobs, as forecast.",
        "# TYPE schedlab_when_wait_seconds gauge",
    ]
    for name in sorted(set(partitions.tolist())):
        for level, value in zip(LEVELS, np.quantile(starts.waits[:, partitions == name], LEVELS).tolist(), strict=True):
            lines.append(f'schedlab_when_wait_seconds{{partition="{_escaped(name)}",quantile="{level}"}} {value:.0f}')
    lines.append("# HELP schedlab_when_waiting_jobs Waiting jobs that can start.")
    lines.append("# TYPE schedlab_when_waiting_jobs gauge")
    for name in sorted(set(partitions.tolist())):
        lines.append(f'schedlab_when_waiting_jobs{{partition="{_escaped(name)}"}} {int((partitions == name).sum())}')
    lines += [
        "# HELP schedlab_when_asked_at_seconds Unix time of the state that the forecast is from.",
        "# TYPE schedlab_when_asked_at_seconds gauge",
        f"schedlab_when_asked_at_seconds {found.state.epoch + starts.now}",
        "",
    ]
    return "\n".join(lines)


def _escaped(label: str) -> str:
    """Return the value of a label as the text format of Prometheus has it."""
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
