"""What is known of how good the twin of a site is: the verdicts of its calibrations, kept in the site's directory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import TypeAdapter

from schedlab.atomic import atomic_path
from schedlab.documents import checked, read_json
from schedlab.errors import InputError
from schedlab.site.coverage import Coverage, error_text
from schedlab.site.wait_errors import FEWEST
from schedlab.wording import count_of, sentence
from schedlab.workload.workload import Workload

CALIBRATIONS = "calibration.json"
"""The file of a site's directory that has the verdicts."""

GOOD, ROUGH = 0.10, 0.25
"""Relative errors up to which a replay is good, and up to which it is rough: ours, to be judged by who decides."""

Verdict = Literal["good", "rough", "unproven", "not good enough"]

TOLERANCES: Mapping[Verdict, float | None] = {"good": GOOD, "rough": ROUGH, "unproven": None, "not good enough": None}
"""Errors of single partitions that a verdict goes with."""

UNPROVEN = f"So few jobs, or none that waited, show nothing of a twin: {FEWEST} are the least."

FEW = 1000
"""Jobs below which a verdict says how many it is from."""

State = Literal["good", "rough", "unproven", "not good enough", "outdated", "not calibrated", "cannot be calibrated"]


@dataclass(frozen=True, slots=True)
class CalibrationRecord:
    """The verdict of a calibration.

    Parameters
    ----------
    schedlab
        The version that replayed the log.
    date
        When, in UTC (ISO 8601).
    site
        A digest of the site's files.
    scheduler
        The one that replayed the log instead of the site's own; empty: its own.
    nodes
        Whether jobs got nodes; otherwise the cluster was a number of processors.
    verdict
        "good", "rough", "unproven" (too few jobs were compared, or none waited) or "not good enough".
    error, naive_error
        Relative errors of the mean wait, of the replay and of the naive model; None: no job is recorded to wait.
    moving
        Relative error of the moving average over two weeks; None: the log is shorter.
    coverage
        Which jobs were compared.
    """

    schedlab: str
    date: str
    site: str
    scheduler: str
    nodes: bool
    verdict: Verdict
    error: float | None
    naive_error: float | None
    moving: float | None
    coverage: Coverage

    @property
    def made_as(self) -> tuple[str, bool]:
        """With which scheduler, and whether on nodes: a later calibration of the same kind takes its place."""
        return self.scheduler, self.nodes

    @property
    def day(self) -> str:
        """When, as a date."""
        return self.date[:10]


@dataclass(frozen=True, slots=True)
class Standing:
    """How good the twin of a site is known to be, for answers that are made in one way.

    Parameters
    ----------
    state
        The verdict of the last calibration; or that it is "outdated", that the site is "not calibrated", or that it
        "cannot be calibrated".
    record
        Of the last calibration; None: there is none.
    reason
        Why it is outdated, or why there is none.
    days
        How long ago it was made.

    Examples
    --------
    >>> Standing("not calibrated").clause
    'a twin that has not been calibrated'
    """

    state: State
    record: CalibrationRecord | None = None
    reason: str = ""
    days: int = 0

    @property
    def clause(self) -> str:
        """What a sentence calls the twin."""
        if self.state == "cannot be calibrated":
            return f"a twin that cannot be calibrated ({self.reason})"
        if self.record is None or self.state == "not calibrated":
            return "a twin that has not been calibrated"
        if self.state == "outdated":
            return f"a twin that has not been calibrated since {self.reason}"
        others = self.record.coverage.others_text(TOLERANCES[self.record.verdict])
        error = error_text(self.record.error) + (f", {others}" if others else "")
        return f"a twin that is {self.state} (mean wait {error}{self._few}; calibrated {self.age})"

    @property
    def brief(self) -> str:
        """What the first sentence of an answer calls the twin, in a few words.

        Examples
        --------
        >>> Standing("good").brief, Standing("not good enough").brief
        ('a good twin', 'a twin that is not good enough')
        """
        words = {
            "good": "a good twin",
            "rough": "a rough twin",
            "unproven": "an unproven twin",
            "outdated": "a twin whose calibration is outdated",
            "not calibrated": "a twin that has not been calibrated",
            "cannot be calibrated": "a twin that cannot be calibrated",
        }
        return words.get(self.state, f"a twin that is {self.state}")

    def lead(self, clauses: Iterable[str]) -> list[str]:
        """Return what an answer begins with: who says it, and the first clause; the others; how good the twin is."""
        first, *others = clauses
        return [sentence(one) for one in (f"{self.brief} says: {first}", *others, self.how_good)]

    @property
    def how_good(self) -> str:
        """How good the twin is, as a clause that follows what `brief` calls it.

        Examples
        --------
        >>> without_waits(300).how_good
        'none of its 300 jobs has a recorded wait, so that nothing says how far this twin is from the site'
        """
        if self.state == "cannot be calibrated":
            return f"{self.reason}, so that nothing says how far this twin is from the site"
        return f"the twin {self.clause.removeprefix('a twin that ')}"

    @property
    def _few(self) -> str:
        """From how many jobs the verdict is, if they are few."""
        jobs = FEW if self.record is None else self.record.coverage.jobs
        return f", from {count_of(jobs, 'job')} only" if jobs < FEW else ""

    @property
    def age(self) -> str:
        """How long ago it was calibrated, in words."""
        return "today" if self.days <= 0 else "yesterday" if self.days == 1 else f"{self.days:,} days ago"

    def sentences(self) -> list[str]:
        """Say how good the twin is known to be, and for which jobs."""
        return [f"Answers come from {self.clause}.", *self.details()]

    def details(self) -> list[str]:
        """Say what follows from that, and for which jobs it holds."""
        if self.state == "cannot be calibrated":
            return ["Accounting (sacct) of jobs with their starts would show how far the twin is from the site."]
        if self.record is None or self.state == "not calibrated":
            because = f" ({self.reason})" if self.reason else ""
            return [f"How far it is from the recorded waits{because} is what schedlab site calibrate tells."]
        if self.state == "outdated":
            return [f"Before, on {self.record.day}, it was {self.record.verdict}: run schedlab site calibrate again."]
        advice = {
            "good": [],
            "rough": ["Ask a rough twin for large effects only."],
            "unproven": [UNPROVEN],
            "not good enough": ["No decision should rest on such a twin."],
        }
        return [*advice[self.record.verdict], *self.record.coverage.sentences(TOLERANCES[self.record.verdict])]

    def check(self, *, anyway: bool) -> None:
        """Refuse a twin that is not good enough, unless it is to answer anyway.

        Raises
        ------
        InputError
            If it is not good enough.
        """
        if self.state == "not good enough" and not anyway and self.record is not None:
            raise InputError(
                f"the twin is not good enough to answer questions about this site (mean wait "
                f"{error_text(self.record.error)}, calibrated {self.age}): look for the cause (docs: read a "
                "calibration), or ask it nevertheless with --anyway (anyway=True)"
            )

    def to_document(self) -> dict[str, Any]:
        """Return it as numbers and texts, for JSON."""
        record = None if self.record is None else asdict(self.record)
        told = {"state": self.state, "reason": self.reason, "sentences": self.sentences(), "record": record}
        return told if record is None else told | {"days": self.days}


_RECORDS = TypeAdapter(list[CalibrationRecord])


def read_records(directory: Path) -> list[CalibrationRecord]:
    """Return the verdicts that are kept of a site.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    path = directory / CALIBRATIONS
    if not path.is_file():
        return []
    found: list[CalibrationRecord] = checked(
        _RECORDS, read_json(path, "calibrations of a site"), str(path), "remove it and calibrate again"
    )
    return found


def keep_record(record: CalibrationRecord, directory: Path) -> None:
    """Keep a verdict with a site; the last one of its kind is replaced."""
    records = [one for one in read_records(directory) if one.made_as != record.made_as]
    document = [asdict(one) for one in (*records, record)]
    with atomic_path(directory / CALIBRATIONS) as temporary:
        temporary.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def standing_of(records: Iterable[CalibrationRecord], site: str, jobs: Workload, *, nodes: bool) -> Standing:
    """Return how good the twin of a site is known to be.

    Parameters
    ----------
    records
        What is kept of its calibrations.
    site
        The digest of its files now.
    jobs
        That are replayed.
    nodes
        Whether answers are made with nodes.
    """
    if not np.any(jobs.wait_time >= 0):
        return without_waits(len(jobs))
    own = {one.nodes: one for one in records if not one.scheduler}
    if nodes not in own:
        reason = ""
        if own:
            there = own[not nodes]
            how = "as a number of processors" if nodes else "on nodes"
            reason = f"{how} it was {there.verdict}, {there.day}"
        return Standing("not calibrated", None, reason)
    record = own[nodes]
    days = (datetime.now(UTC) - datetime.fromisoformat(record.date)).days
    if outdated := _outdated(record, site):
        return Standing("outdated", record, outdated, max(days, 0))
    return Standing(record.verdict, record, "", max(days, 0))


def without_waits(jobs: int) -> Standing:
    """Return how good the twin of a site is known to be whose jobs have no recorded waits: nothing says it.

    Examples
    --------
    >>> without_waits(300).clause
    'a twin that cannot be calibrated (none of its 300 jobs has a recorded wait)'
    """
    return Standing("cannot be calibrated", None, f"none of its {count_of(jobs, 'job')} has a recorded wait")


def _outdated(record: CalibrationRecord, site: str) -> str:
    from schedlab import __version__

    if record.site != site:
        return "the site was imported again"
    return f"schedlab is {__version__} ({record.schedlab} then)" if record.schedlab != __version__ else ""
