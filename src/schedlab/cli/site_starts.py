"""`schedlab when --site`: when jobs of a site will start, from what Slurm's programs say now."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np
import typer

from schedlab.cli.outputs import check_output
from schedlab.cli.terminal import note, show, show_json
from schedlab.cli.times import seconds_of
from schedlab.errors import InputError, SchedlabError, located

if TYPE_CHECKING:
    from schedlab.when.backtests import Backtest
    from schedlab.when.forks import Forking
    from schedlab.when.site_forecast import SiteForecast
    from schedlab.when.snapshots import Snapshot
    from schedlab.workload.workload import Workload

SiteOption = Annotated[
    Path | None,
    typer.Option("--site", metavar="DIR", help="Ask about the queue of a site that was imported, as it is now."),
]
SqueueOption = Annotated[
    Path | None,
    typer.Option(
        "--squeue",
        metavar="FILE",
        show_default="Slurm's programs are asked",
        help="What squeue --json or scontrol show job printed: of the site, or of the machine whose log is given.",
    ),
]
SinfoOption = Annotated[
    Path | None, typer.Option("--sinfo", metavar="FILE", help="What scontrol show node or sinfo printed.")
]
SprioOption = Annotated[Path | None, typer.Option("--sprio", metavar="FILE", help="What sprio -h -o '%i|%Y' printed.")]
SshareOption = Annotated[
    Path | None, typer.Option("--sshare", metavar="FILE", help="What sshare --all --parsable2 printed.")
]
ReservationsOption = Annotated[
    Path | None, typer.Option("--reservations", metavar="FILE", help="What scontrol show reservation printed.")
]
NodesOption = Annotated[
    int | None, typer.Option("--nodes", min=1, help="With --site: ask about a job of so many nodes.")
]
OutputOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="With --site: write it, for programs (.json), as a page (.html), or for Prometheus (.prom); repeatable.",
    ),
]
WatchOption = Annotated[
    int, typer.Option("--watch", min=0, metavar="SECONDS", help="With --site and -o: write again and again.")
]
OrOption = Annotated[
    list[str] | None,
    typer.Option(
        "--or",
        metavar="OPTIONS",
        help="With a new job: compare it with another request, options of sbatch such as '--time=2:00:00', or with the "
        "job in pieces: '--pieces=4', one after the other '--pieces=4%1'; repeatable.",
    ),
]
OrSiteOption = Annotated[
    list[str] | None,
    typer.Option(
        "--or-site",
        metavar="DIR:STATE",
        help="With --site and a new job: compare with another site, whose squeue.json and so on lie in a directory; "
        "repeatable.",
    ),
]
LikeOption = Annotated[
    str | None,
    typer.Option(
        "--like", metavar="OPTIONS", help="Further options of sbatch for the new job, such as '--gres=gpu:2 -A lab'."
    ),
]


class SiteQuestion(NamedTuple):
    """What is asked about a site: the files of its state, and the job."""

    site: Path
    files: dict[str, Path | None]
    at: str | None
    zone: str
    jobs: tuple[str, ...]
    new: tuple[str, ...]
    user: str | None


class Outputs(NamedTuple):
    """Files to write, and the seconds after which they are written again; 0: they are not."""

    files: tuple[Path, ...] = ()
    watch: int = 0

    def check(self) -> None:
        """Refuse files that cannot be written, before anything is simulated."""
        from schedlab.report.starts import SUFFIXES

        for path in self.files:
            if path.suffix not in SUFFIXES:
                raise InputError(f"{path}: unknown suffix; known are {', '.join(SUFFIXES)}")
            check_output(path, None)
        if self.watch and not self.files:
            raise InputError("--watch writes files: add -o, such as -o when.json")


def answer_at_site(asked: SiteQuestion, how: Forking, outputs: Outputs, *, as_json: bool) -> None:
    """Print when jobs of a site will start, or write it, again and again if it is to be watched."""
    from schedlab.cluster.moments import zone_of
    from schedlab.when.site_texts import answer_document, answer_text

    zone = zone_of(asked.zone)
    outputs.check()
    if outputs.watch:
        return _watch(asked, how, outputs)
    found, sure = _answer(asked, how)
    if not len(found.starts) and not outputs.files:
        raise InputError("no job waits: ask about a new one (--nodes, --time)")
    _write(found, outputs, asked.zone, sure)
    if as_json:
        show_json(answer_document(found, zone, sure))
    elif not outputs.files:
        show(answer_text(found, zone, sure))
        for job, why in list(found.state.never.items())[:5] if not asked.jobs and not asked.new else ():
            note(f"job {job}: {why}")


def _answer(asked: SiteQuestion, how: Forking) -> tuple[SiteForecast, str]:
    """Return a forecast as the backtest of the site has taught, and how sure it is."""
    from schedlab.site.site import fingerprint
    from schedlab.when.backtest_record import how_sure, kept
    from schedlab.when.site_answers import as_taught

    found, record = forecast_at_site(asked, how), kept(asked.site)
    return as_taught(found, record), how_sure(record, fingerprint(asked.site), found.starts)


def judge_site(directory: Path, sample: int, forks: int, seed: int) -> Backtest:
    """Judge forecasts of a site, keep the scores with it, and return them."""
    from schedlab.when.backtest_record import KEPT
    from schedlab.when.site_backtests import backtest_site

    found = backtest_site(directory, jobs=sample, forks=forks, seed=seed)
    note(f"kept in {directory / KEPT}: answers are recalibrated by it, and say how sure they are")
    return found


def _write(found: SiteForecast, outputs: Outputs, zone: str, sure: str) -> None:
    from schedlab.cluster.moments import zone_of
    from schedlab.report.starts import write_starts

    for path in outputs.files:
        write_starts(found, path, zone_of(zone), sure=sure, every=outputs.watch)


def _watch(asked: SiteQuestion, how: Forking, outputs: Outputs) -> None:
    """Write the files again and again; what goes wrong in one round is told, and the next one is tried."""
    before = ""
    while True:
        begin, said = time.monotonic(), ""
        try:
            found, sure = _answer(asked, how)
            _write(found, outputs, asked.zone, sure)
        except SchedlabError as error:
            said = str(error)
        if said and said != before:
            note(f"{said}; the files stay as they were, and the next round is in {outputs.watch} s")
        before = said
        time.sleep(max(0.0, outputs.watch - (time.monotonic() - begin)))


def advise_at_site(asked: SiteQuestion, how: Forking, others: list[str], *, as_json: bool) -> None:
    """Print which of several requests of a new job has its result first."""
    from schedlab.site.site import read
    from schedlab.when.advice import advice_text, advise

    options = [shlex.split(text) for text in others]
    found = advise(read(asked.site), snapshot_of(asked), asked.new, options, user=asked.user, how=how)
    if not as_json:
        show(advice_text(found, asked.new))
        return
    show_json(
        [
            {"request": list(one.words), "refused": one.refused or None, "killed": one.killed}
            | {"wait_50": float(np.median(one.waits)) if len(one.waits) else None}
            | {"result_50": one.median if np.isfinite(one.median) else None}
            for one in found
        ]
    )


def compare_sites(asked: SiteQuestion, how: Forking, others: list[str], *, as_json: bool) -> None:
    """Print on which of several sites a new job has its result first."""
    from schedlab.site.site import read
    from schedlab.when.compared_sites import state_in, which_site, which_site_text
    from schedlab.when.snapshots import read_snapshot

    new_job(asked)  # refuses one without a time
    sites = [(read(asked.site), snapshot_of(asked))]
    for text in others:
        name, colon, state = text.rpartition(":")
        if not colon or not name:
            raise InputError(f"--or-site {text}: write SITE:STATE, a site and a directory with its squeue.json")
        sites.append((read(name), read_snapshot(state_in(state), _moment(asked), timezone=asked.zone)))
    found = which_site(sites, asked.new, user=asked.user, how=how)
    if not as_json:
        show(which_site_text(found, sites[0][0].name))
        return
    show_json(
        [
            {"site": one.site, "refused": one.refused or None, "killed": one.killed}
            | {"wait_50": float(np.median(one.waits)) if len(one.waits) else None}
            | {"result_50": one.median if np.isfinite(one.median) else None}
            for one in found
        ]
    )


def forecast_at_site(asked: SiteQuestion, how: Forking) -> SiteForecast:
    """Return when jobs of a site will start."""
    from schedlab.site.site import read
    from schedlab.when.site_forecast import at_site

    site = read(asked.site)
    return at_site(site, snapshot_of(asked), numbers(asked.jobs), new=new_job(asked), how=how)


def snapshot_of(asked: SiteQuestion) -> Snapshot:
    from schedlab.when.snapshots import SnapshotFiles, read_snapshot, take_snapshot

    files = {name: path for name, path in asked.files.items() if path is not None}
    if "squeue" not in files:
        if files:
            raise InputError(f"--{min(files)} needs --squeue as well: a state is read from files, or taken as a whole")
        return take_snapshot()
    names = {"sinfo": "nodes"}
    given = SnapshotFiles(**{names.get(name, name): path for name, path in files.items()})
    return read_snapshot(given, _moment(asked), timezone=asked.zone)


def _moment(asked: SiteQuestion) -> int | None:
    from schedlab.cluster.moments import second_of, zone_of

    if asked.at is None:
        return None
    with located("--at"):
        return second_of("the moment", asked.at, 0, zone_of(asked.zone))


def numbers(jobs: tuple[str, ...]) -> list[int] | None:
    """Return the numbers of jobs; a task of an array is asked about with all of its array that wait."""
    found = []
    for text in jobs:
        number = text.partition("_")[0].partition("+")[0]
        if not number.isdecimal() or len(number) > 15:
            raise InputError(f"{text} is not the number of a job")
        found.append(int(number))
    return found or None


def new_job(asked: SiteQuestion) -> Workload | None:
    from schedlab.when.site_forecast import asked_job

    if not asked.new:
        return None
    if not any(word.startswith(("--time", "-t")) for word in asked.new):
        raise InputError("the job that is asked about has no requested time: add --time, such as --time 6:00:00")
    return asked_job(asked.new, asked.user)


def new_words(
    nodes: int | None, cores: int | None, limit: str | None, partition: str | None, like: str | None
) -> tuple[str, ...]:
    """Return the options of sbatch of a job that is asked about; none if there is no such job."""
    told = {"nodes": nodes, "ntasks": cores, "time": _slurm_time(limit), "partition": partition}
    words = [f"--{name}={value}" for name, value in told.items() if value is not None]
    return (*words, *shlex.split(like or ""))


def _slurm_time(text: str | None) -> str | None:
    """Return a time as sbatch understands it; 6h is one, too."""
    from schedlab.durations import is_duration

    return text if text is None or not is_duration(text) else f"0-0:0:{seconds_of('--time', text)}"
