"""The options that verbs share, so that they are called and explained alike everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

DEFAULT_SCHEDULER = "fcfs+easy"
FORMATS = "SWF (also .gz), Batsim JSON, CSV, Parquet, by the suffix; or a log of Slurm, Torque, PBS, Moab, ..."


def complete_scheduler(incomplete: str) -> list[tuple[str, str]]:
    """Return scheduler texts that begin with what has been typed, for the shell."""
    from schedlab.scheduler.completion import completions

    return completions(incomplete)


Trace = Annotated[
    Path,
    typer.Argument(metavar="TRACE", help=f"Jobs: {FORMATS}"),
]
Clean = Annotated[
    str,
    typer.Option(
        metavar="RULES",
        help="Cleaning: none, default, cancelled (keeps jobs that were cancelled while they waited), sc15, or "
        "comma-separated names of rules.",
    ),
]
Processors = Annotated[
    int | None, typer.Option(min=1, help="Size of the machine, in processors.", show_default="as in the trace")
]
ClusterFile = Annotated[
    Path | None,
    typer.Option(
        "--cluster",
        metavar="FILE",
        help="Nodes to place jobs on by cores, memory and GPUs: a cluster file, a slurm.conf or its directory, or a "
        "site that was imported.",
    ),
]
NodeEventsFile = Annotated[
    Path | None,
    typer.Option(
        "--node-events",
        metavar="FILE",
        help="With --cluster: node failures, drains, returns, maintenance and reservations (.csv).",
    ),
]
Interrupted = Annotated[
    str,
    typer.Option(
        metavar="requeue|lost", help="With --node-events: whether jobs on failing nodes are requeued or lost."
    ),
]
RequeueDelay = Annotated[
    int,
    typer.Option(
        metavar="SECONDS",
        min=0,
        help="With --node-events: how long requeued jobs wait before they may begin again; 121 in Slurm.",
    ),
]
# A list, so that a second one is seen and not silently taken instead of the first.
SchedulerText = Annotated[
    list[str] | None,
    typer.Option(
        "--scheduler",
        "-s",
        metavar="TEXT",
        show_default=DEFAULT_SCHEDULER,
        help="Scheduler text; see 'schedlab schedulers'.",
        autocompletion=complete_scheduler,
    ),
]
SchedulerTexts = Annotated[
    list[str],
    typer.Option(
        "--scheduler",
        "-s",
        metavar="TEXT",
        help="Scheduler text; repeatable.",
        autocompletion=complete_scheduler,
    ),
]
Events = Annotated[
    Literal["batched", "pyss", "sc17"],
    typer.Option(
        help="Event order: batched, all events of a second, then one scheduling pass; pyss, a pass after each "
        "event (as in SC'15); sc17, at most one start per pass (as in SC'17)."
    ),
]
Requests = Annotated[
    Literal["enforced", "advisory"] | None,
    typer.Option(
        help="enforced: jobs are killed at their requested time; advisory: they are not.",
        show_default="as the trace says; SWF: enforced",
    ),
]
RequestsOrMethod = Annotated[
    str | None,
    typer.Option(
        metavar="enforced|advisory|METHOD",
        help="enforced: jobs are killed at their requested time, advisory: they are not; or, with --distributions, "
        "how jobs choose requests (see 'Simulate jobs that may ask for too little' in the documentation): "
        "classic, neuroscience(k=10), toptimal, atoptimal(zeta=auto), given.",
    ),
]
Exhausted = Annotated[
    str | None,
    typer.Option(
        metavar="give-up|FACTOR",
        show_default="1.5",
        help="With --requests METHOD: what to do when all requests of a job have failed: give up, or request "
        "FACTOR times the last one, again and again.",
    ),
]
DistributionFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Run-time distributions of applications (TOML)."),
]
Dependencies = Annotated[
    Literal["none", "preceding"],
    typer.Option(
        help="Whether a job waits for its preceding job (SWF field 17) and then for the think time (field 18); beware: "
        "recorded submit times contain that wait already.",
    ),
]
AlternativesFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Other sizes of moldable or malleable jobs, each with its run time; the scheduler chooses (CSV, Parquet).",
    ),
]
Checkpoints = Annotated[
    str | None,
    typer.Option(
        metavar="RULES",
        help='Checkpoints from which jobs go on after a failure, such as "daly(mtbf=300d,cost=5m,restart=10m,node=64)" '
        'or "every(1h,cost=2m) for partition=gpu"; several rules with ; between them.',
    ),
]
WarmUp = Annotated[
    float,
    typer.Option(min=0, help="Warm-up excluded from metrics: a share of the jobs (below 1), or seconds (from 1)."),
]
CoolDown = Annotated[float, typer.Option(min=0, help="Cool-down excluded from metrics, likewise.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Traces = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        envvar="SCHEDLAB_TRACES",
        help="Directory with the logs of the Parallel Workloads Archive and the other published data.",
    ),
]
