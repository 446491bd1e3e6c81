"""`schedlab slurm audit-starts`: how good the starts are that Slurm itself foretells."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from schedlab.cli.options import Json
from schedlab.cli.slurm import Seed
from schedlab.cli.terminal import laboratory_bar, show, show_json
from schedlab.cli.times import seconds_of


def audit_starts(
    events: Annotated[Path, typer.Argument(metavar="EVENTS", help="Jobs: an .events file, or a log.")],
    conf: Annotated[Path, typer.Option(metavar="DIR", help="The site's slurm.conf and accounts.")],
    phases: Annotated[int, typer.Option(min=1, help="Number of runs, each with other offsets of Slurm's loops.")] = 5,
    every: Annotated[str, typer.Option(metavar="TIME", help="Time between two questions.")] = "1h",
    seed: Seed = 1,
    slurm: Annotated[str | None, typer.Option(metavar="VERSION", help="Which Slurm: 22.05, 24.11 or 26.05.")] = None,
    as_json: Json = False,
) -> None:
    """Ask an unmodified slurmctld in skipped time when its waiting jobs will start, and judge what it says."""
    from schedlab.slurm.jobs import from_workload, read_events
    from schedlab.slurm.start_audit import audit_starts as audited
    from schedlab.slurm.start_audit import audit_text, score_estimates, scores_by_lead
    from schedlab.workload.files import read_workload

    is_events = any(suffix == ".events" for suffix in events.suffixes)
    jobs = read_events(events) if is_events else from_workload(read_workload(events), users=True, resources=True)
    with laboratory_bar(len(jobs.jobs)) as progress:
        found = audited(
            jobs, conf, phases=phases, every=seconds_of("--every", every), seed=seed, slurm=slurm, progress=progress
        )
    if not as_json:
        show(audit_text(found))
        return
    classes = {name: one._asdict() for name, one in scores_by_lead(found).items()}
    show_json(
        {
            "all": score_estimates(found)._asdict(),
            "first": score_estimates(found, found.first)._asdict(),
            "by_lead": classes,
        }
    )
