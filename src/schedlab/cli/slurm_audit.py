"""`schedlab slurm audit-starts`: how good the starts are that Slurm itself foretells."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedlab.cli.options import Json
from schedlab.cli.slurm import Seed
from schedlab.cli.terminal import laboratory_bar, show, show_json
from schedlab.cli.times import seconds_of
from schedlab.errors import InputError
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.slurm.results import SlurmRun
    from schedlab.slurm.start_audit import StartEstimates
    from schedlab.when.against_slurm import Beside


def audit_starts(
    events: Annotated[Path, typer.Argument(metavar="EVENTS", help="Jobs: an .events file, or a log.")],
    conf: Annotated[Path, typer.Option(metavar="DIR", help="The site's slurm.conf and accounts.")],
    phases: Annotated[int, typer.Option(min=1, help="Number of runs, each with other offsets of Slurm's loops.")] = 5,
    every: Annotated[str, typer.Option(metavar="TIME", help="Time between two questions.")] = "1h",
    seed: Seed = 1,
    slurm: Annotated[str | None, typer.Option(metavar="VERSION", help="Which Slurm: 22.05, 24.11 or 26.05.")] = None,
    when: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="At every Nth question, also ask schedlab when, which knows what was so far."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Ask an unmodified slurmctld in skipped time when its waiting jobs will start, and judge what it says."""
    from schedlab.slurm.jobs import from_workload, read_events
    from schedlab.slurm.start_audit import audit_starts as audited
    from schedlab.slurm.start_audit import audit_text, score_estimates, scores_by_lead
    from schedlab.workload.files import read_workload

    beside = _Beside(events, conf, slurm, when) if when else None
    is_events = any(suffix == ".events" for suffix in events.suffixes)
    jobs = read_events(events) if is_events else from_workload(read_workload(events), users=True, resources=True)
    with laboratory_bar(len(jobs.jobs)) as progress:
        found = audited(
            jobs,
            conf,
            phases=phases,
            every=seconds_of("--every", every),
            seed=seed,
            slurm=slurm,
            progress=progress,
            each=beside,
        )
    if not as_json:
        show(audit_text(found))
        if beside is not None:
            show("")
            show(beside.text)
        return
    classes = {name: one._asdict() for name, one in scores_by_lead(found).items()}
    show_json(
        {
            "all": score_estimates(found)._asdict(),
            "first": score_estimates(found, found.first)._asdict(),
            "by_lead": classes,
            **({} if beside is None else {"when": beside.to_dict()}),
        }
    )


class _Beside:
    """Forecasts from the moments of the questions, of each run as it ends."""

    def __init__(self, events: Path, conf: Path, slurm: str | None, every: int) -> None:
        from schedlab.site.importing import import_site
        from schedlab.slurm.installation import find_slurm
        from schedlab.slurm.releases import name_of

        self._site = import_site(conf, events, slurm=name_of(find_slurm(slurm).version))
        self._every = every
        self._found: list[Beside] = []
        self._without = list[str]()

    def __call__(self, one: SlurmRun, said: StartEstimates) -> None:
        from schedlab.when.against_slurm import beside_slurm

        try:
            self._found.append(beside_slurm(one, said, self._site, every=self._every))
        except InputError as error:  # what Slurm said is there all the same
            self._without.append(str(error))

    @property
    def text(self) -> str:
        """What both said, as text."""
        from schedlab.when.against_slurm import beside_text, joined_runs

        told = [beside_text(joined_runs(self._found))] if self._found else []
        if self._without:
            told.append(f"{count_of(len(self._without), 'run')} without forecasts: {self._without[0]}")
        return "\n\n".join(told)

    def to_dict(self) -> dict[str, Any]:
        """Return how good both were, as JSON would have it."""
        from schedlab.slurm.start_audit import score_estimates
        from schedlab.when.against_slurm import joined_runs

        if not self._found:
            return {"without": self._without}
        found = joined_runs(self._found)
        return {
            "without": self._without,
            "moments": found.moments,
            "refused": found.refused,
            "squeue": score_estimates(found.slurm)._asdict(),
            "forecasts": score_estimates(found.forecasts)._asdict() | {"held": float(found.held.mean())},
        }
