"""Read a campaign from its file, TOML or Python; errors name the field and the line."""

from __future__ import annotations

import os
import runpy
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from schedlab.arguments import explained
from schedlab.campaign.definition.campaign import Campaign, importing_texts_in, is_campaign_name
from schedlab.documents import LARGEST_TOML, line_of, parse_toml, path_in, read_text
from schedlab.errors import InputError
from schedlab.imports import check_imports
from schedlab.wording import renamed, shown

SHOWN_PROBLEMS = 8

MESSAGES = {
    "extra_forbidden": "unknown field",
    "missing": "this field is missing",
    "model_type": "input should be a table",
    "tuple_type": "input should be a list",
}
"""What is said of errors that pydantic tells in words of Python."""


@explained
def read_campaign(path: str | os.PathLike[str]) -> Campaign:
    """Read a campaign file.

    Parameters
    ----------
    path
        TOML with the fields of `Campaign`, or a Python file (.py) that sets `campaign` to a `Campaign`.

    Raises
    ------
    InputError
        If the file cannot be read, or if a field is wrong; the message names the field and the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "c.toml"
    >>> _ = path.write_text('''
    ... name = "small"
    ... schedulers = ["easy"]
    ... [[workloads]]
    ... generate = "lublin"
    ... jobs = "many"
    ... processors = 64
    ... ''')
    >>> try:
    ...     read_campaign(path)
    ... except InputError as error:
    ...     print(str(error).removeprefix(str(path)))
    , line 6: workloads[0].jobs: input should be a valid integer, unable to parse string as an integer (it is 'many')
    """
    file = Path(path)
    text = read_text(file, "campaign", largest=LARGEST_TOML)
    if file.suffix == ".py":
        return _run_python(file)
    fields = parse_toml(text, str(file))
    check_imports(importing_texts_in(fields), str(file))
    try:
        return Campaign.model_validate(fields)
    except ValidationError as error:
        raise InputError("; ".join(_sentences(error, file, text))) from None
    except RecursionError:
        raise InputError(f"{file}: a formula is nested too deeply") from None


def name_in_campaign_file(path: str | os.PathLike[str]) -> str:
    """Return the name of the campaign of a file; of one in TOML, nothing else is looked at and no code is imported.

    Raises
    ------
    InputError
        If the file cannot be read or is not TOML, or if it is no campaign.
    """
    file = Path(path)
    if file.suffix != ".py":
        name = parse_toml(read_text(file, "campaign", largest=LARGEST_TOML), str(file)).get("name")
        if is_campaign_name(name):
            return str(name)
    return read_campaign(file).name


def _run_python(file: Path) -> Campaign:
    try:
        campaign = runpy.run_path(str(file)).get("campaign")
    except ValidationError as error:
        raise InputError("; ".join(_sentences(error, file, None))) from None
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{file}: failed when run: {type(error).__name__}: {error}") from error
    if not isinstance(campaign, Campaign):
        raise InputError(f"{file}: the file must set campaign = schedlab.Campaign(...)")
    return campaign


def _sentences(error: ValidationError, file: Path, text: str | None) -> list[str]:
    """Return what is wrong, field by field; the file's name stands before the first only."""
    sentences: list[str] = []
    problems = error.errors(include_url=False)
    document = {} if text is None else tomllib.loads(text)
    # Which fields an entry may have depends on its generator: if that is unknown, nothing else is worth a word.
    unknown = {problem["loc"][:-1] for problem in problems if problem["loc"][-1:] == ("generate",)}
    for number, problem in enumerate(problems):
        if len(sentences) == SHOWN_PROBLEMS:
            sentences.append(f"and {len(problems) - number:,} more")
            break
        entry, field_of_it = problem["loc"][:3], problem["loc"][3:]  # workloads, its position, its kind
        if entry in unknown and field_of_it != ("generate",):
            continue
        # The names of alternatives, such as "<trace>", are no steps that a user knows.
        location = [step for step in problem["loc"] if not str(step).startswith("<")]
        path = location if text is None else path_in(location, document)
        found = line_of(text, path) if text is not None and path else None
        line = f", line {found}" if found else ""
        field = _shown(location, path, missing=text is not None and problem["type"] == "missing")
        where = f"{file if not sentences else ''}{line}".removeprefix(", ")
        sentences.append(f"{where}: {field}{_message(problem)}" if where else f"{field}{_message(problem)}")
    return sentences


def _message(problem: Any) -> str:
    kind = problem["type"]
    text = MESSAGES.get(kind, problem["msg"]).removeprefix("Value error, ")
    text = text[:1].lower() + text[1:]
    given = problem.get("input")
    if kind == "extra_forbidden":
        return f"{text}{renamed(str(problem['loc'][-1]))}"
    is_shown = isinstance(given, str | int | float) and kind not in ("value_error", "missing")
    return f"{text} (it is {shown(given)})" if is_shown else text


def _shown(location: Sequence[int | str], path: Sequence[int | str], *, missing: bool) -> str:
    """Return a path as one writes it: workloads[0].windows.length, with a colon behind it."""
    steps = [*path, location[-1]] if missing else path
    if not steps:
        return ""
    written = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return f"{written.removeprefix('.')}: "
