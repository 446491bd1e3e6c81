"""Abstract workflows of Pegasus, DAX 2.1 and 3: XML.

References
----------
Pegasus workflow management system, https://pegasus.isi.edu; synthetic workflows in this form: Bharathi, Chervenak,
Deelman, Mehta, Su and Vahi, "Characterization of scientific workflows", WORKS 2008.
"""

from __future__ import annotations

import math
from xml.etree import ElementTree

from schedlab.errors import InputError
from schedlab.wording import count_of
from schedlab.workflow.json_values import REQUEST_MARGIN, whole_processors
from schedlab.workflow.workflow import Task, Workflow

RUN_TIME_PROFILES = (("pegasus", "runtime"),)
PROCESSOR_PROFILES = (("pegasus", "cores"), ("globus", "count"))
"""Where DAX 3 says what DAX 2.1 has as attributes: namespace and key of a profile, in lower case."""


def from_dax(text: str, source: str, name: str) -> Workflow:
    """Return the workflow of a DAX document.

    Parameters
    ----------
    text
        With `job` elements (`id`, `name`, `runtime` in seconds, `cores`, by default 1) and `child` elements with
        `parent` elements in them, in any or no XML namespace; the decimal sign of numbers is a point or a comma.
    source
        The file, for messages.
    name
        What the workflow is called.

    Returns
    -------
    Workflow
        A task asks for 60 s more than it runs.

    Raises
    ------
    InputError
        If something is missing or impossible, or if a job is itself a workflow.

    Examples
    --------
    >>> dax = '<adag><job id="a" name="cut" runtime="1,5"/><job id="b" runtime="2"/>' + (
    ...     '<child ref="b"><parent ref="a"/></child></adag>')
    >>> from_dax(dax, "example.xml", "example").length
    3.5
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise InputError(f"{source}: this is not XML ({error})") from None
    if _tag(root) != "adag":
        raise InputError(f"{source}: the root element is {_tag(root)}, but a DAX has adag")
    tasks: list[Task] = []
    parents: dict[str, list[str]] = {}
    commas = 0
    for element in root:
        tag = _tag(element)
        if tag == "job":
            tasks.append(_task(element, source, len(tasks) + 1))
            commas += "," in element.get("runtime", "")
        elif tag in ("dag", "dax"):
            raise InputError(
                f"{source}: {element.get('id')} is a nested workflow, which is not supported: expand it into jobs first"
            )
        elif tag == "child":
            child = _attribute(element, "ref", f"{source}, child")
            found = (_attribute(parent, "ref", f"{source}, child {child}") for parent in element)
            parents.setdefault(child, []).extend(found)
    workflow = Workflow.arrange(name, tasks, parents)
    read_as_points = (f"decimal commas in {count_of(commas, 'run time')} were read as points",) if commas else ()
    return workflow.with_notes(*read_as_points)


def _task(element: ElementTree.Element, source: str, place: int) -> Task:
    """Return the task of a job element."""
    identifier = _attribute(element, "id", f"{source}, job {place}")
    where = f"{source}, job {identifier}"
    text = _value(element, "runtime", RUN_TIME_PROFILES)
    if text is None:
        raise InputError(f"{where}: the attribute runtime is missing: add it, in seconds")
    run_time = _number(text, where, "runtime")
    if run_time < 0:
        raise InputError(f"{where}: its runtime is negative, {text} s; correct it, or generate the workflow again")
    processors = whole_processors(_number(_value(element, "cores", PROCESSOR_PROFILES) or "1", where, "cores"), where)
    return Task(identifier, processors, run_time, run_time + REQUEST_MARGIN, name=element.get("name", ""))


def _tag(element: ElementTree.Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def _attribute(element: ElementTree.Element, key: str, where: str) -> str:
    value = element.get(key)
    if not value:
        raise InputError(f"{where}: the element {_tag(element)} has no {key}; add it")
    return value


def _value(element: ElementTree.Element, attribute: str, profiles: tuple[tuple[str, str], ...]) -> str | None:
    """Return what an attribute says or, without it, one of the profiles."""
    if element.get(attribute) is not None:
        return element.get(attribute)
    for profile in element:
        key = (profile.get("namespace", "").lower(), profile.get("key", "").lower())
        if _tag(profile) == "profile" and key in profiles:
            return profile.text or ""
    return None


def _number(text: str, where: str, what: str) -> float:
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{where}: {what} must be a number, not {text[:40]!r}")
    return value
