"""The options that say how a log is read, declared once for all verbs that read one."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Annotated, Any

import typer

Partitions = Annotated[
    list[str] | None,
    typer.Option("--partition", metavar="NAME", help="Keep only the jobs of this partition; repeatable."),
]
Timezone = Annotated[
    str | None,
    typer.Option(
        metavar="ZONE",
        show_default="UTC",
        help="With logs of Slurm or --column: time zone of times without one, such as Europe/Stockholm.",
    ),
]
DefaultLimit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[PARTITION=]TIME",
        help="Requested time of jobs that have none, such as gpu=2-0 or 8h; repeatable.",
        show_default="the run time",
    ),
]
Lenient = Annotated[bool, typer.Option("--lenient", help="Skip unreadable lines, if they are few, and report them.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="FIELD=COLUMN",
        help="Read CSV or Parquet of another program: FIELD=COLUMN, such as submit_time=created; repeatable.",
    ),
]

OPTIONS: dict[str, tuple[Any, Any]] = {
    "partition": (Partitions, None),
    "timezone": (Timezone, None),
    "default_limit": (DefaultLimit, None),
    "lenient": (Lenient, False),
    "column": (Columns, None),
}
"""By the field of `Reading`: the option and its default."""

REPEATED = ("partition", "default_limit", "column")


def reads_logs(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of how its logs are read, in the place of its parameter `reading`."""

    @functools.wraps(verb)
    def command(**values: Any) -> None:
        from schedlab.workload.reading import Reading

        given = {name: values.pop(name) for name in OPTIONS}
        verb(**values, reading=Reading(**given | {name: tuple(given[name] or ()) for name in REPEATED}))

    hints = typing.get_type_hints(verb, include_extras=True, localns={"Reading": Any})
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(verb).parameters.items():
        if name != "reading":
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        for option, (kind, default) in OPTIONS.items():
            parameters.append(
                inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            )
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": None}
    return command
