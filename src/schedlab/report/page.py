"""One HTML file that needs nothing else: the page's frame, its styles and script, and what it may do.

The content security policy allows exactly the style and the script that are in the file, by their hashes, and pictures
inside the file: no name in a log can bring in another one, and nothing is ever loaded.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Any

from schedlab.atomic import atomic_path, writable_target
from schedlab.errors import OutputError, SchedlabError
from schedlab.report.container import Container
from schedlab.report.contents import contents, index_json
from schedlab.report.definitions import DEFINITIONS, with_definitions
from schedlab.schedule.schedule import Schedule

EARLY = (
    'document.documentElement.classList.add("sl-script"); '
    'addEventListener("error", () => document.documentElement.classList.remove("sl-script"));'
)
"""Runs before anything is laid out, so that what the view replaces is never drawn; an error brings it back."""


@cache
def built(name: str) -> str:
    """Return a file that the build of `report/web` has made: "report.js", "report.css" or "widget.js"."""
    return resources.files("schedlab.report").joinpath("web", "built", name).read_text(encoding="utf-8").strip()


def write_page(path: str | PathLike[str], render: Callable[[], str]) -> Path:
    """Write a page to a file, and return where it is; that it cannot be written is found before the page is made.

    Raises
    ------
    OutputError
        If it cannot be written, or the page cannot be made, which is a fault of schedlab's: what else a program has to
        say must not be lost by it.
    """
    writable_target(path)
    try:
        page = render()
    except (SchedlabError, MemoryError):
        raise
    except Exception as error:
        raise OutputError(
            f"{path}: the page could not be made, which is a fault of schedlab ({type(error).__name__}: {error}); "
            "everything else is as printed"
        ) from error
    with atomic_path(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return Path(path)


@dataclass(slots=True)
class Page:
    """What the frame of a page is made of.

    Parameters
    ----------
    data
        JSON texts by the id of the element that carries them.
    blocks
        Columns of numbers as base64, see `schedlab.report.container`.
    explores
        Whether there are schedules to look into; few jobs need no blocks.
    running
        Whether the file will be written again, so that an open page loads itself again.
    """

    data: list[tuple[str, str]] = field(default_factory=list)
    blocks: Sequence[str] = ()
    explores: bool = False
    running: bool = False

    @property
    def style(self) -> str:
        return built("report.css")

    @property
    def script(self) -> str:
        return built("report.js")

    @property
    def early(self) -> str:
        return EARLY

    @property
    def policy(self) -> str:
        """The content security policy."""
        return (
            f"default-src 'none'; img-src data:; style-src {_hash(self.style)}; "
            f"script-src {_hash(self.early)} {_hash(self.script)}; base-uri 'none'; form-action 'none'"
        )

    def definitions_in(self, html: str) -> list[tuple[str, str]]:
        """Return the terms that a part of the page uses, and what they mean."""
        used = set(re.findall(r'data-term="(\w+)"', html))
        return sorted(DEFINITIONS[key] for key in used)

    def carry(self, name: str, document: Any) -> None:
        """Give the script a document."""
        self.data.append((f"schedlab-{name}", index_json(document)))

    def explore(
        self,
        schedules: Mapping[str, Schedule],
        *,
        baseline: str | None = None,
        unit: str = "processor",
        both: bool = False,
    ) -> None:
        """Give the script schedules of the same jobs to look into; see `schedlab.report.contents.contents`."""
        container = Container()
        self.carry("index", contents(schedules, container, baseline=baseline, unit=unit, both=both))
        self.blocks = container.texts()
        self.explores = True

    def render(self, template: str, **context: Any) -> str:
        """Return the HTML of a template that extends the frame."""
        from jinja2 import Environment, PackageLoader, StrictUndefined

        environment = Environment(
            loader=PackageLoader("schedlab.report"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters["defined"] = with_definitions
        self.carry("definitions", DEFINITIONS)
        return environment.get_template(template).render(page=self, **context)


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"
