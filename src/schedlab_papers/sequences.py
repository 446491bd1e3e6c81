"""Policies on short sequences of jobs, as campaigns: Table 4 of SC'17 and Table 3.3 of the thesis.

A workload is cut into sequences of 15 days. Each sequence is simulated on an empty machine, after 16 jobs that only
fill it. A number of the tables is the median, over the sequences, of the mean bounded slowdown.

References
----------
Carastan-Santos and de Camargo, "Obtaining dynamic scheduling policies with simulation and machine learning", SC 2017.
Carastan-Santos, "Learning heuristics for resource and job management", PhD thesis, 2019, chapter 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from schedlab import Campaign, SchedlabError, Scheduler, run_campaign
from schedlab.types import Events, Progress, Workers

if TYPE_CHECKING:
    import pandas as pd

STATE = 16
"""Jobs at the head of a sequence that run in order of submission and are not counted."""

Setting = Literal["actual", "estimates", "backfilling"]

SETTINGS: Mapping[str, tuple[Setting, ...]] = {"actual": ("actual",), "estimates": ("estimates", "backfilling")}
"""By the run times that the scheduler knows: actual ones, or estimates, without and with backfilling."""

ALL_SETTINGS: tuple[Setting, ...] = tuple(setting for settings in SETTINGS.values() for setting in settings)

POLICIES: Mapping[str, str] = {
    "FCFS": "fcfs",
    "WFP": "wfp3",
    "UNI": "unicef",
    "SPT": "spf",
    "F4": '"0.0056500287*p * 0.0000024814*sqrt(q) + 0.0074444355*log10(r)"',
    "F3": '"0.2188093701*p * 0.0000000049*q + 0.0073580361*log10(r)"',
    "F2": '"0.0000342717*sqrt(p) * 0.0076562110*q + 0.0067364626*log10(r)"',
    "F1": '"0.0155183403*log10(p) * 0.0005149209*q + 0.0069596182*log10(r)"',
    "SAF": "saf",
    "SQF": "sqf",
}
"""As in scheduler texts, by the names of SC'17, in the order of its columns; then two that the studies do not have.

F1 to F4 have the coefficients of the authors' simulators, not the rounded ones that are printed. The thesis calls SPT
SPF.
"""


@dataclass(frozen=True, slots=True)
class Variant:
    """How the sequences are simulated.

    Parameters
    ----------
    name
        As users and tables call it.
    events
        Order of events.
    options
        Of all schedulers, as in their texts.
    """

    name: str
    events: Events
    options: str = ""


AS_PUBLISHED = Variant("as-published", "sc17", ",window=32,start_delay=0.002610247")
"""By the rules of the authors' simulator: it looks at 32 waiting jobs, and a start takes 2.6 ms."""

AS_DESCRIBED = Variant("as-described", "batched")
"""By the text: the whole queue is sorted and searched, with the rules of the default order of events."""

VARIANTS = {variant.name: variant for variant in (AS_PUBLISHED, AS_DESCRIBED)}


def variants_of(name: str) -> tuple[Variant, ...]:
    """Return the variant with this name, or all of them for "both"."""
    return tuple(VARIANTS.values()) if name == "both" else (VARIANTS[name],)


@dataclass(frozen=True, slots=True)
class SequenceLog:
    """A workload of a study, and what the authors got with it.

    Parameters
    ----------
    name
        How tables call it.
    file
        In the directory of traces; empty if the authors' jobs are not to be had.
    processors
        Size of the machine.
    published
        The medians of each setting, in the order of `POLICIES`.
    cut
        How many sequences the authors cut from the head of the log.
    skip
        Those of them that they left out, counted from 0.
    trimmed
        For each setting and policy, how many of the largest values they dropped before they took the median.
    estimates_only
        Whether they left out jobs without an estimate even where estimates are not used.
    notes
        What else there is to say.
    """

    name: str
    file: str
    processors: int
    published: Mapping[str, tuple[float, ...]]
    cut: int = 10
    skip: tuple[int, ...] = ()
    trimmed: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    estimates_only: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Study:
    """A table of medians.

    Parameters
    ----------
    name
        Its run directories begin with it.
    title
        What the table is.
    logs
        In their order.
    """

    name: str
    title: str
    logs: tuple[SequenceLog, ...]


def scheduler_text(policy: str, setting: Setting, variant: Variant) -> str:
    """Return the scheduler of a setting.

    Parameters
    ----------
    policy
        One of `POLICIES`.
    setting, variant
        What it knows, and by which rules it works.

    Examples
    --------
    >>> [scheduler_text("SPT", setting, AS_DESCRIBED) for setting in ("actual", "estimates", "backfilling")]
    ['spf@actual', 'spf', 'spf+easy']
    """
    backfill = "+easy" if setting == "backfilling" else ""
    run_times = "@actual" if setting == "actual" else ""
    return Scheduler.parse(f"{POLICIES[policy]}{backfill}{run_times}{variant.options}").text


def entry_of(log: SequenceLog, traces: Path, known: str, variant: Variant) -> dict[str, Any]:
    """Return the entry of a log in the campaign of a variant.

    Parameters
    ----------
    log
        The workload.
    traces
        Directory with the logs.
    known
        The run times that the scheduler knows, one of `SETTINGS`.
    variant
        As published, some sequences are left out by hand; as described, as many are taken as they come.
    """
    by_hand = {"count": log.cut, "skip": log.skip}
    from_the_head = {"count": log.cut - len(log.skip)}
    windows = {"length": "15d", "state": STATE} | (by_hand if variant is AS_PUBLISHED else from_the_head)
    rules = "allocated-processors"
    return {
        "trace": str(traces.absolute() / log.file),
        "name": log.name,
        "clean": rules if known == "actual" and not log.estimates_only else f"{rules},no-request",
        "processors": log.processors,
        "requests": "advisory",
        "windows": windows,
    }


def run_study(
    study: Study,
    logs: Sequence[SequenceLog],
    traces: Path,
    variant: Variant,
    directory: Path,
    workers: Workers,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Return the results on some logs, with the setting and the policy of each.

    Those that an earlier run has left in the run directories are taken.

    Raises
    ------
    SchedlabError
        If a simulation has failed.
    """
    import pandas as pd

    frames = []
    for known, settings in SETTINGS.items():
        meaning = {
            scheduler_text(policy, setting, variant): (setting, policy) for setting in settings for policy in POLICIES
        }
        campaign = Campaign(
            name=f"{study.name}-{variant.name}-{known}",
            description=study.title,
            workloads=[entry_of(log, traces, known, variant) for log in logs],  # type: ignore[arg-type]
            schedulers=list(meaning),  # type: ignore[arg-type]
            events=variant.events,
        )
        run = run_campaign(
            campaign, directory / campaign.name, workers=nullcontext(workers), progress=progress, retry_failed=True
        )
        if failed := run.status().failed:
            raise SchedlabError(f"{failed} simulations failed: see schedlab campaign status {run.path}")
        frame = run.results()
        setting, policy = zip(*frame["scheduler"].map(meaning), strict=True)
        frames.append(frame.assign(setting=setting, policy=policy))
    return pd.concat(frames, ignore_index=True)
