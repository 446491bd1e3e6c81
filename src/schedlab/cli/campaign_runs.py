"""What `campaign run` does: what is asked for, who does the work, and the run itself."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from schedlab.cli.archives import RUNS, campaign_text, open_run
from schedlab.cli.terminal import INTERRUPTED, campaign_bar, note, stopped_like_ctrl_c

if TYPE_CHECKING:
    from schedlab.campaign.definition.campaign import Campaign
    from schedlab.campaign.run.directory import RunDirectory
    from schedlab.campaign.run.executors import Workers
    from schedlab.report.watch import Watch

PATIENCE = 20
"""Seconds to wait for a Dask scheduler ..."""

FILE_PATIENCE = 600
"""... and for the file that one writes, whose job may have to wait."""


class Asked(NamedTuple):
    """A campaign, where its relative paths start, what its file says, and its run directory."""

    campaign: Campaign
    base: Path
    text: str
    place: Path


def asked_for(file: Path, directory: Path | None) -> Asked:
    """Return the campaign of a file, or the one that a run directory holds."""
    if file.is_dir():
        if directory is not None:
            raise typer.BadParameter("a run directory is resumed where it is: leave --directory out")
        opened = open_run(file)
        return Asked(opened.plan.campaign, Path(opened.facts["base"]), opened.facts["text"], file)
    from schedlab.campaign.definition.campaign_file import read_campaign

    campaign = read_campaign(file)
    return Asked(campaign, file.parent, campaign_text(file), directory or RUNS / campaign.name)


def run_here(place: Path, watching: Watch | None, **what: Any) -> RunDirectory:
    """Run a campaign to its end or to an interruption, which leaves all that is finished."""
    from schedlab.campaign.run.coordinator import run_campaign
    from schedlab.errors import OutputError

    try:
        with stopped_like_ctrl_c(), campaign_bar() as bar:
            there: int | None = None

            def progress(done: int, failed: int, planned: int) -> None:
                nonlocal there
                if there is None:
                    there = done + failed
                else:
                    bar(done, failed, planned, there)
                if watching is not None:
                    watching(done, failed, planned)

            finished = run_campaign(directory=place, progress=progress, **what)
    except KeyboardInterrupt:
        kept = f"what is finished is in {place}, and the same command continues"
        note(f"schedlab: interrupted; {kept if place.exists() else 'nothing was simulated yet'}")
        raise typer.Exit(INTERRUPTED) from None
    except OutputError as error:
        raise OutputError(f"{error}; finished simulations are kept; run the same command to continue") from error
    if finished.changed_code:
        note(
            f"the code of {', '.join(finished.changed_code)} has changed since the last run: simulations with it were "
            "made again, and the earlier results are kept aside"
        )
    return finished


def chosen_workers(
    executor: str, number: int | None, address: str | None, file: Path | None, options: list[str]
) -> AbstractContextManager[Workers] | int | None:
    if executor == "local":
        return number
    from schedlab.campaign.run.executors import dask_workers

    if file is not None and not file.exists():
        note(f"waiting for {file}, up to {FILE_PATIENCE // 60} minutes")
    if address is not None or file is not None:
        return dask_workers(address=address, scheduler_file=file, patience=FILE_PATIENCE if file else PATIENCE)
    return dask_workers(slurm={"job_extra_directives": options} if options else None, number=number)


def update_index(finished: RunDirectory, index: str | None) -> None:
    """Put a campaign into the index: results do not depend on it, so that a failure is only noted."""
    from schedlab.campaign.results.index import record
    from schedlab.errors import SchedlabError

    try:
        for remark in record(finished, index):
            note(remark)
    except SchedlabError as error:
        note(f"the index was not updated: {error}; schedlab campaign reindex rebuilds it")
