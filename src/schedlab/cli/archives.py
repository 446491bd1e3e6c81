"""Verbs on campaigns that are there: compare two, ask in SQL, find in the index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from schedlab.cli.options import Json
from schedlab.cli.terminal import note, show, show_json
from schedlab.errors import InputError
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.campaign.run.directory import RunDirectory

RUNS = Path("runs")
"""Where run directories are made."""

Run = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory, or its campaign file.")]
Index = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        envvar="SCHEDLAB_INDEX",
        show_default="index.sqlite beside the run directories",
        help="Index of campaigns: a file, or a database such as postgresql+psycopg://host/name.",
    ),
]
Home = Annotated[Path, typer.Argument(metavar="DIR", help="Directory with the run directories.")]


def diff(
    first: Annotated[Path, typer.Argument(metavar="A", help="A run directory or campaign file.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another run directory or campaign file.")],
    tolerance: Annotated[float, typer.Option(min=0, help="Relative tolerance: smaller changes are ignored.")] = 0.0,
    as_json: Json = False,
) -> None:
    """Print which results differ between two campaigns, or two versions of schedlab, and by how much."""
    from schedlab.campaign.results.difference import difference

    found = difference(open_run(first), open_run(second), tolerance=tolerance)
    if as_json:
        show_json(found.to_dict())
    else:
        show(found)


def archive(
    run: Run,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The archive to write, .zip.")],
) -> None:
    """Write a campaign with its inputs, code and results to one file that can be run again elsewhere."""
    from schedlab.campaign.results.archive import archive as write_archive
    from schedlab.cli.outputs import check_output

    check_output(output, run)
    opened = open_run(run)
    status = opened.status()
    write_archive(opened, output)
    if status.done < status.planned:
        note(f"{status.planned - status.done:,} of {count_of(status.planned, 'simulation')} are not done")
    note(f"{output}: {output.stat().st_size / 1e6:,.1f} MB; schedlab campaign rerun {output} runs it again")


def rerun(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An archive, from campaign archive.")],
    directory: Annotated[
        Path | None,
        typer.Option(
            "--directory", "-d", metavar="DIR", show_default="the name of the archive", help="Where to open it."
        ),
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of processes on this host.")] = None,
    as_json: Json = False,
) -> None:
    """Open an archive of a campaign, run it again, and tell which results differ; exit code 1 if some do."""
    from schedlab.campaign.results.archive import rerun as run_again
    from schedlab.campaign.results.difference import difference

    place = directory or Path(file.stem)
    found = difference(*run_again(file, place, workers=workers))
    if as_json:
        show_json(found.to_dict())
    else:
        show(found)
        note(f"opened in {place}, run again in {place / 'rerun'}")
    if found.changed or len(found.unmatched):
        raise typer.Exit(1)


def sql(
    query: Annotated[str, typer.Argument(metavar="SQL", help="A query on the tables results, failures and campaigns.")],
    runs: Annotated[
        list[Path] | None, typer.Argument(metavar="RUN", show_default="all in runs", help="Run directories.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Query the results of campaigns in SQL (read-only)."""
    from schedlab.campaign.results.query import run_sql

    chosen = [open_run(path) for path in runs] if runs else _all_runs(RUNS)
    frame = run_sql(chosen, query)
    if as_json:
        show_json(frame.to_dict(orient="records"))
    else:
        show(frame.to_string(index=False))


def _all_runs(directory: Path) -> list[RunDirectory]:
    found = [open_run(path.parent) for path in sorted(directory.glob("*/campaign.json"))]
    if not found:
        raise InputError(f"{directory} holds no run directory: name one, or create one with schedlab campaign run")
    return found


def reindex(directory: Home = RUNS, index: Index = None) -> None:
    """Rebuild the index of campaigns from their files."""
    from schedlab.campaign.results.index import campaigns, default_place
    from schedlab.campaign.results.index import reindex as index_anew

    for remark in index_anew(directory, index):
        note(remark)
    place = index or default_place(directory)
    note(f"{count_of(len(campaigns(place)), 'campaign')} in the index")


def list_campaigns(
    directory: Home = RUNS,
    search: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Text to search for in names, descriptions and definitions.")
    ] = None,
    index: Index = None,
    as_json: Json = False,
) -> None:
    """List the campaigns of the index."""
    from schedlab.campaign.results.index import campaigns, default_place
    from schedlab.wording import table

    found = campaigns(index or default_place(directory), search or "")
    if as_json:
        show_json(found)
        return
    if not found:
        note("no campaign matches")
        return
    rows = [
        [row["name"], f"{row['done']:,}", f"{row['failed']:,}", f"{row['planned']:,}", row["directory"]]
        for row in found
    ]
    show(table(["campaign", "done", "failed", "planned", "directory"], rows))


def search(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="Text to search for in campaigns, failures and names of tasks.")
    ] = "",
    directory: Annotated[Path, typer.Option(metavar="DIR", help="Directory with the run directories.")] = RUNS,
    workload: Annotated[str | None, typer.Option(metavar="NAME", help="Only results of this workload.")] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", "-s", metavar="TEXT", help="Only results under this scheduler.")
    ] = None,
    state: Annotated[
        Literal["done", "failed"] | None, typer.Option(help="Only tasks that are done, or only those that failed.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="CONDITION", help="Condition such as 'mean_wait < 3600'; repeatable."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of results.")] = 100,
    index: Index = None,
    as_json: Json = False,
) -> None:
    """Find tasks of all campaigns in the index."""
    from schedlab.campaign.results.index import default_place, parse_condition
    from schedlab.campaign.results.index import search as search_index
    from schedlab.wording import table

    conditions = [parse_condition(condition) for condition in where or []]
    found = search_index(
        index or default_place(directory),
        text=text,
        workload=workload,
        scheduler=scheduler,
        state=state,
        where=conditions,
        limit=limit,
    )
    if as_json:
        show_json(found)
        return
    columns = ["campaign", "task", "workload", "load", "repetition", "window", "scheduler", "state"]
    columns += [metric for metric, _, _ in conditions if metric not in columns]
    rows = [[_shown(row[column]) for column in columns] for row in found]
    show(table(columns, rows))


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def campaign_text(file: Path) -> str:
    """Return what a campaign file says."""
    from schedlab.documents import LARGEST_TOML, read_text

    return read_text(file, "campaign", largest=LARGEST_TOML)


def open_run(path: Path) -> RunDirectory:
    """Return the run directory that a directory or a campaign file stands for."""
    from schedlab.campaign.run.directory import RunDirectory

    if path.is_file():
        from schedlab.campaign.definition.campaign_file import name_in_campaign_file

        opened = RunDirectory.open(RUNS / name_in_campaign_file(path))
        if opened.facts["text"] != campaign_text(path):
            note(f"{path} is not what {opened.path} was last run with: what follows is about the latter")
        return opened
    return RunDirectory.open(path)
