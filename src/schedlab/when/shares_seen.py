"""What `sshare` and `sprio` print: the decayed usage of users, and the priorities of waiting jobs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from schedlab.documents import read_json, read_text
from schedlab.errors import InputError
from schedlab.wording import shown

SSHARE = "sshare --all --parsable2 --format=Account,User,RawUsage"
SPRIO = 'sprio --noheader --format="%i|%Y"'


def read_usage(path: str | os.PathLike[str]) -> dict[tuple[str, str], float]:
    """Return the usage of each user in each account, in processor-seconds (or what the site bills).

    Parameters
    ----------
    path
        What `sshare --all --parsable2` printed, or `sshare --all --json`.

    Raises
    ------
    InputError
        If it is something else.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "sshare.txt"
    >>> _ = path.write_text("Account|User|RawUsage\\nroot||90\\n lab||90\\n  lab|ann|90\\n")
    >>> read_usage(path)
    {('ann', 'lab'): 90.0}
    """
    text, name = read_text(path, "output of sshare"), os.fspath(path)
    if text.lstrip().startswith("{"):
        return _of_json(read_json(path, "output of sshare"), name)
    lines = [line for line in text.splitlines() if line.strip()]
    header = [label.strip() for label in lines[0].split("|")] if lines else []
    if not {"Account", "User", "RawUsage"} <= set(header):
        raise InputError(f"{name}: the column Account, User or RawUsage is missing; create the file with: {SSHARE}")
    found = {}
    for number, line in enumerate(lines[1:], 2):
        cells = dict(zip(header, (cell.strip() for cell in line.split("|")), strict=False))
        if len(cells) < len(header):
            raise InputError(f"{name}, line {number}: {len(cells)} cells instead of {len(header)}: it is cut short")
        if cells["User"]:
            found[cells["User"], cells["Account"]] = _number(cells["RawUsage"], f"{name}, line {number}: RawUsage")
    return found


def _of_json(document: Any, name: str) -> dict[tuple[str, str], float]:
    shares = document.get("shares") if isinstance(document, Mapping) else None
    if isinstance(shares, Mapping):
        shares = shares.get("shares")
    if not isinstance(shares, list):
        raise InputError(f"{name}: it has no list of shares; create the file with: {SSHARE}")
    found = {}
    for one in shares:
        try:
            if "USER" in one.get("type", ()):
                found[str(one["name"]), str(one["parent"])] = float(one["usage"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{name}: a share is not as sshare prints it: {error}") from None
    return found


def read_priorities(path: str | os.PathLike[str]) -> dict[int, float]:
    """Return the priority of each waiting job from what `sprio --noheader --format="%i|%Y"` printed.

    Raises
    ------
    InputError
        If it is something else.
    """
    text, name = read_text(path, "output of sprio"), os.fspath(path)
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.split("|")]
        if not line.strip() or (number == 1 and not cells[0].split("_")[0].isdecimal()):
            continue
        if len(cells) < 2 or not cells[0].split("_")[0].isdecimal():
            raise InputError(f"{name}, line {number}: {shown(line)} is not NUMBER|PRIORITY; create it with: {SPRIO}")
        found[int(cells[0].split("_")[0])] = _number(cells[1], f"{name}, line {number}: the priority")
    return found


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{what} is {shown(text)}, not a number") from None
