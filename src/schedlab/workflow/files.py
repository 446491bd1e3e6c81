"""Read and write files that describe workflows; what they are is seen from their content."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path
from typing import Any, Literal

from schedlab.arguments import explained
from schedlab.atomic import atomic_path
from schedlab.errors import InputError
from schedlab.streams import read_whole
from schedlab.workflow.dax import from_dax
from schedlab.workflow.json_values import parse_json
from schedlab.workflow.manifest import from_manifest, to_manifest
from schedlab.workflow.wfformat import Execution, from_wfformat, to_wfformat
from schedlab.workflow.workflow import Workflow

Format = Literal["wfformat", "manifest"]


@explained
def read_workflow(path: str | os.PathLike[str]) -> Workflow:
    """Read a workflow from a manifest of ScSF, a DAX of Pegasus or a WfFormat document, plain or gzip-compressed.

    Parameters
    ----------
    path
        The file. Its content, not its name, says which format it has; its name without suffixes is the workflow's.

    Returns
    -------
    Workflow
        See its `remarks` for what is odd in the file.

    Raises
    ------
    InputError
        If the file cannot be read, has another format, or describes something impossible: an id used twice or
        missing, an unknown parent, tasks in a circle, a negative run time.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pair.json"
    >>> written = path.write_text('{"tasks": [{"id": "a", "cores": 2, "rtime": 60},'
    ...                           ' {"id": "b", "cores": 1, "rtime": 30, "deps": ["a"]}]}')
    >>> workflow = read_workflow(path)
    >>> workflow.name, len(workflow), workflow.length
    ('pair', 2, 90.0)
    """
    source = os.fspath(path)
    name = re.sub(r"(\.json|\.xml|\.dax)?(\.gz)?$", "", Path(source).name)
    try:
        return _workflow(_text(source), source, name)
    except InputError as error:
        if str(error).startswith(source):
            raise
        raise InputError(f"{source}: {error}") from None


def _workflow(text: str, source: str, name: str) -> Workflow:
    """Return the workflow that a text describes, in the format that it has."""
    if text.lstrip().startswith("<"):
        return from_dax(text, source, name)
    if not text.lstrip().startswith("{"):
        raise InputError(f"{source}: this is neither JSON (manifest or WfFormat) nor XML (DAX)")
    document = parse_json(text, source)
    if "schemaVersion" in document or "workflow" in document:
        return from_wfformat(document, source, name)
    if "tasks" in document:
        return from_manifest(document, source, name)
    raise InputError(f"{source}: this JSON is neither a manifest (no tasks) nor WfFormat (no schemaVersion)")


@explained
def write_workflow(
    workflow: Workflow,
    path: str | os.PathLike[str],
    *,
    format: Format = "wfformat",
    executed: Execution | None = None,
) -> None:
    """Write a workflow to a file, compressed if its name ends with .gz.

    Parameters
    ----------
    workflow
        What to write.
    path
        The file.
    format
        "wfformat" (version 1.6) or "manifest" (of ScSF).
    executed
        What a simulation made of the workflow; only WfFormat can say it.

    Raises
    ------
    InputError
        If the format is unknown, or cannot say what was executed.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.json"
    >>> from schedlab.workflow.workflow import Task
    >>> write_workflow(Workflow("one", (Task("a", 2, 60.0, 90.0),)), path)
    >>> read_workflow(path).tasks
    (Task(id='a', processors=2, run_time=60.0, requested_time=90.0, parents=(), name='a'),)
    """
    document: dict[str, Any]
    if format == "wfformat":
        document = to_wfformat(workflow, executed)
    elif format == "manifest" and executed is None:
        document = to_manifest(workflow)
    else:
        raise InputError(f"{os.fspath(path)}: the format {format} cannot store this workflow: write wfformat")
    data = (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
    with atomic_path(path) as temporary:
        temporary.write_bytes(gzip.compress(data, mtime=0) if os.fspath(path).endswith(".gz") else data)


def _text(source: str) -> str:
    """Return what a file holds, decompressed."""
    try:
        return read_whole(source).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{source}: this is not text in UTF-8") from None
