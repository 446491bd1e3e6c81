"""The page of a campaign that still runs: written again and again, each time complete, until the campaign ends."""

from __future__ import annotations

import time
from os import PathLike
from pathlib import Path

from schedlab.atomic import writable_target
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.run.job_arrays import active
from schedlab.campaign.run.lock import Lock
from schedlab.report.evidence import evidence_of_campaign
from schedlab.report.html import write_report
from schedlab.schedule.summary import duration
from schedlab.wording import count_of

INTERVAL = 3.0
"""Seconds between two pages at least."""

SHARE = 0.1
"""Share of the time that writing pages may take, where results make it long."""


class Watch:
    """Keeps the page of a campaign up to date while it runs.

    Parameters
    ----------
    run
        The run directory; it need not exist yet.
    path
        The page.
    """

    def __init__(self, run: str | PathLike[str], path: str | PathLike[str]) -> None:
        writable_target(path)
        self.run, self.path = Path(run), Path(path)
        self.begin = time.monotonic()
        self.next = self.begin
        self.before: int | None = None

    def __call__(self, done: int, failed: int, planned: int) -> None:
        """Write the page if it is time to: the progress function of `run_campaign`."""
        self.before = done + failed if self.before is None else self.before
        now = time.monotonic()
        if now < self.next:
            return
        self.write(done, failed, planned)
        took = time.monotonic() - now
        self.next = time.monotonic() + max(INTERVAL, took / SHARE)

    def write(self, done: int, failed: int, planned: int) -> None:
        """Write the page of a campaign that is not at its end."""
        run = RunDirectory.open(self.run)
        write_report(evidence_of_campaign(run, running=self.sentence(done, failed, planned)), self.path)

    def sentence(self, done: int, failed: int, planned: int) -> str:
        """Say how far the campaign is."""
        ended = done + failed
        text = f"{ended:,} of {count_of(planned, 'simulation')} have ended ({ended / max(planned, 1):.0%})"
        if failed:
            text += f", {failed:,} of them failed"
        since = ended - (self.before or 0)
        elapsed = time.monotonic() - self.begin
        if since and ended < planned and elapsed > 1:
            left = elapsed * (planned - ended) / since
            text += f", about {duration(left)} to go"
        return f"{text}; this page shows what there is so far and is written again while the campaign runs."

    def finish(self) -> Path:
        """Write the last page."""
        return write_report(evidence_of_campaign(RunDirectory.open(self.run)), self.path)

    def follow(self) -> None:
        """Write pages of a campaign that runs elsewhere, until no process works on it any more.

        Raises
        ------
        InputError
            If there is no campaign.
        """
        run = RunDirectory.open(self.run)
        lock = Lock(run.path / "lock.json", f"the run directory {run.path}")
        while True:
            status = run.status()
            holder = lock.holder()
            working = (holder is not None and lock.is_alive(holder)) or bool(active(run))
            if status.done + status.failed >= status.planned or not working:
                return
            self(status.done, status.failed, status.planned)
            time.sleep(INTERVAL)
