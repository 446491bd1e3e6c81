"""The verbs of `agent`: agents trained to schedule, and what a file of one holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.cli.options import FORMATS, Clean, Json
from schedlab.cli.outputs import check_output
from schedlab.cli.reading import reads_logs
from schedlab.cli.terminal import note, show, show_json
from schedlab.cli.traces import read_trace
from schedlab.errors import InputError

if TYPE_CHECKING:
    from schedlab.gym.training import Point
    from schedlab.schedule.schedule import Schedule
    from schedlab.scheduler.scheduler import Scheduler
    from schedlab.workload.reading import Reading


@reads_logs
def train(
    traces: Annotated[
        list[Path], typer.Argument(metavar="TRACE...", help=f"Logs to train on; several are all used. {FORMATS}")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File to write the agent to, .json.")],
    clean: Clean = "default",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the training; train with several seeds and compare.")] = 1,
    updates: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Number of updates of the network, each after playing a set of episodes."
        ),
    ] = 60,
    window: Annotated[int, typer.Option(min=2, metavar="JOBS", help="Number of jobs per episode.")] = 256,
    load: Annotated[
        tuple[float, float],
        typer.Option(
            metavar="FIRST LAST",
            help="Load relative to the log's, at the first and at the last update.",
        ),
    ] = (1.0, 1.0),
    learn_from: Annotated[
        float,
        typer.Option(min=0.05, max=0.9, metavar="SHARE", help="Share of each log, from its start, to train on."),
    ] = 0.5,
    validate_on: Annotated[
        float,
        typer.Option(
            min=0.01, max=0.5, metavar="SHARE", help="Share of each log after it, on which the best agent is chosen."
        ),
    ] = 0.15,
    *,
    reading: Reading,
) -> None:
    """Train an agent that decides which job starts next, and write the best; the last jobs are held out."""
    from schedlab.engine.prepared import prepare
    from schedlab.gym.sources import check_load
    from schedlab.gym.training import Settings
    from schedlab.gym.training import train as trained

    for trace in traces:
        check_output(output, trace)
    if learn_from + validate_on >= 1:
        raise InputError(
            f"--learn-from {learn_from} and --validate-on {validate_on} leave no job to evaluate the agent on"
        )
    check_load(load)
    parts, rows = [], []
    for trace in traces:
        read = read_trace(trace, clean, reading=reading)
        jobs = read.workload.sorted_by_submit()
        with read.blamed():
            prepare(jobs, "fcfs")
        first, last = int(len(jobs) * learn_from), int(len(jobs) * (learn_from + validate_on))
        parts.append((jobs[:first], jobs[first:last]))
        rows.append(f"{last} on" if len(traces) == 1 else f"{last} of {trace.name} on")
    found = trained(
        [learned for learned, _ in parts],
        validation=[held_out for _, held_out in parts],
        seed=seed,
        settings=Settings(updates=updates, window=window, load=load),
        watch=_tell,
    )
    found.agent.save(output)
    best = min(found.curve, key=lambda point: point.validation)
    unseen = ", ".join(rows)
    note(f"agent {output}: best after update {best.update}; judge it on jobs from row {unseen}, which it has not seen")


def _tell(point: Point) -> None:
    note(
        f"update {point.update}: {point.decisions:,} decisions in {point.seconds:.0f} s, played {point.training:.2f}, "
        f"validated {point.validation:.2f}"
    )


def show_agent(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An agent file written by agent train, .json.")],
    as_json: Json = False,
) -> None:
    """Print an agent's inputs, its training, and the time of a decision on this machine."""
    from schedlab.scheduler.agent_file import read_agent_file

    agent = read_agent_file(file)
    facts = {
        "digest": agent.digest,
        "decides": "which job starts next, or to wait",
        "sees": f"the first {agent.slots} waiting jobs; requests as shares of {agent.longest} s",
        "numbers": sum(array.size for array in (*agent.network.weights, *agent.network.biases)),
        "trained on": str(agent.training.get("workload", "unknown")),
        "seed": str(agent.training.get("seed", "unknown")),
        "microseconds per decision": round(agent.seconds_per_decision() * 1e6, 1),
    }
    if as_json:
        show_json(facts | {"training": dict(agent.training)})
    else:
        show("\n".join(f"{name + ':':<27}{value}" for name, value in facts.items()))


def note_agent(scheduler: Scheduler, schedule: Schedule) -> None:
    """Say what the decisions of an agent cost."""
    from schedlab.scheduler.agent import AgentPolicy

    if isinstance(scheduler.policy, AgentPolicy):
        seconds = scheduler.policy.agent.seconds_per_decision()
        note(f"{schedule.specification['decisions']:,} decisions of the agent, about {seconds * 1e6:.0f} us each")
