"""The verb that asks what an upgrade of Slurm changes at a site."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.cli.options import Json
from schedlab.cli.outputs import check_page, note_report
from schedlab.cli.site_variants import (
    Anyway,
    ConfirmFor,
    Copies,
    LogPart,
    ProcessorsOnly,
    Report,
    SiteDirectory,
    Workers,
    chosen_samples,
    confirmed_for,
)
from schedlab.cli.terminal import (
    campaign_bar,
    command_line,
    confirmation_bar,
    note,
    resumable,
    show,
    show_json,
    stopped_like_ctrl_c,
)
from schedlab.errors import InputError
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.site.confirmation import Confirmation
    from schedlab.site.upgrade import Upgrade


def upgrade(
    directory: SiteDirectory,
    new: Annotated[str, typer.Option("--to", metavar="VERSION", help="The newer Slurm: 24.11 or 26.05.")],
    old: Annotated[
        str,
        typer.Option(
            "--from", metavar="VERSION", show_default="that of the site, if it is known", help="The Slurm of today."
        ),
    ] = "",
    part: LogPart = None,
    copies: Copies = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Also run the jobs on both real Slurms (schedlab slurm versions).")
    ] = False,
    phases: Annotated[int, typer.Option(min=1, metavar="N", help="With --confirm: runs of each version.")] = 3,
    confirm_for: ConfirmFor = None,
    workers: Workers = None,
    report: Report = None,
    processors_only: ProcessorsOnly = False,
    anyway: Anyway = False,
    as_json: Json = False,
) -> None:
    """Tell what an upgrade of Slurm changes: lines of slurm.conf, waits of the site's own jobs, and by which rules.

    A newer Slurm that is here (schedlab slurm fetch) reads the configuration itself. Results are stored in
    SITE/what-if, so an interrupted run resumes.
    """
    from schedlab.site.confirmation import with_confirmation
    from schedlab.site.site import read
    from schedlab.site.sweep import ANSWERS
    from schedlab.site.upgrade import upgrade as told
    from schedlab.site.upgrade import versions_of
    from schedlab.slurm.installation import installed_version

    if report is not None:
        check_page(report)
    site = read(directory)
    older, newer = versions_of(site, new, old)
    if not old:
        note(f"the site runs Slurm {site.settings.slurm} ({site.settings.slurm.source}): --from {older}")
    if site.jobs is None and (report is not None or confirm):
        raise InputError(f"site {site.name} has no jobs, which --report and --confirm need; without them, its "
                         "configuration is looked at")  # fmt: skip
    seconds = confirmed_for(confirm_for, asked=confirm)
    for version in (older, newer) if confirm else ():
        installed_version(version)  # before anything is simulated
    [sample] = chosen_samples(part, None, (), model=False)
    with resumable(directory / ANSWERS), campaign_bar() as progress:
        found = told(
            directory, newer, old=older, sample=sample, copies=copies, nodes=not processors_only, anyway=anyway,
            workers=workers, progress=progress,
        )  # fmt: skip
    if not as_json:
        show(found)
    confirmation, failed = None, ""
    try:
        confirmation = _on_both(found, phases, seconds) if confirm else None
    except InputError as error:
        failed = str(error)  # what is known is told first
    if as_json:
        show_json(with_confirmation(found.to_document(), confirmation, failed))
    elif confirmation is not None:
        show(f"\non both real Slurms\n\n{confirmation}")
    if report is not None:
        from schedlab.report.upgrade import write_upgrade

        page = partial(write_upgrade, found, report, confirmation=confirmation, failed=failed, command=command_line())
        note_report(report, page)
    if failed:
        raise InputError(failed)


def _on_both(found: Upgrade, phases: int, seconds: float | None) -> Confirmation:
    """Run the site's jobs on both versions, on the first sample."""
    from schedlab.site.real_slurm import confirm

    assert found.sweep is not None
    assert found.ranking is not None
    sample = found.ranking.samples[0]
    jobs = count_of(len(found.sweep.sample(sample)), "job")
    note(
        f"Slurm {found.paper.old} and {found.paper.new} now run {jobs} in {count_of(phases, 'phase')}; Ctrl-C ends it, "
        "and what has run until then counts"
    )
    with stopped_like_ctrl_c(), confirmation_bar() as progress:
        confirmation = confirm(
            found.sweep.site,
            [found.variant],
            sample,
            phases=phases,
            nodes=found.sweep.nodes,
            seconds=seconds,
            progress=progress,
            slurm=found.paper.old,
        )
    for text in confirmation.notes:
        note(text)
    return confirmation
