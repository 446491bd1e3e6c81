"""Cases that run on a real slurmctld: what is seen is written into their file.

That file has the answers of 22.05. `SCHEDLAB_SLURM=24.11` before a script asks another version: its answers to cases in
phases go into `slurm-versions.json`, and to others, where they are not those of 22.05, into the case, by `versions`.
`--every 4` asks it every fourth of many choices; the group notes that (`every`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from schedlab.slurm.installation import find_slurm
from schedlab.slurm.releases import name_of

PHASES = (0.2, 0.5, 7.2, 12.6, 21.4)
PHASES_OF_OTHERS = (0.2, 12.6)
"""Those in which a version other than that of the files is asked."""

OF_FILES = "22.05"
VERSIONS = Path(__file__).parents[2] / "conformance" / "slurm-versions.json"
WITHIN = 4
"""Seconds between two answers that count as one: versions meet the second in other parts of their loops."""


def version() -> str:
    """Return the version of the Slurm that is asked."""
    return name_of(find_slurm().version)


def record(path: Path, run: Callable[[dict[str, Any], float], Any], names: Sequence[str], seen: str = "runs") -> None:
    """Run the cases of a file, or those that are named, in all phases; their answers become the field `seen`."""
    cases = json.loads(path.read_text(encoding="utf-8"))
    of_files = version() == OF_FILES
    for case in cases:
        if names and case["name"] not in names:
            continue
        answers: list[Any] = []
        for phase in PHASES if of_files else PHASES_OF_OTHERS:
            answer = run(case, phase)
            if answer not in answers:
                answers.append(answer)
        print(case["name"], *answers, sep="\n  ", flush=True)
        if of_files:
            case[seen] = answers
        else:
            note_of_version(path.name, case["name"], version(), {seen: answers})
    if of_files:
        path.write_text("[\n " + ",\n ".join(map(json.dumps, cases)) + "\n]\n", encoding="utf-8")


def note_of_version(file: str, name: str, asked: str, answer: dict[str, Any], path: Path = VERSIONS) -> None:
    """Write what a version answered to a case; versions that answer the same share an entry."""
    entries = json.loads(path.read_text(encoding="utf-8"))
    mine = [one for one in entries if (one["file"], one["name"]) == (file, name)]
    for one in mine:
        if asked in one["versions"]:
            if answer.items() <= one.items():
                return
            one["versions"].remove(asked)
    same = next((one for one in mine if one["versions"] and answer.items() <= one.items()), None)
    if same is None:
        entries.append({"file": file, "name": name, "versions": [asked], **answer})
    else:
        same["versions"] = sorted({*same["versions"], asked})
    entries = [one for one in entries if one["versions"]]
    path.write_text("[\n" + ",\n".join(map(json.dumps, entries)) + "\n]\n", encoding="utf-8")


def chosen(group: dict[str, Any], inner: str) -> list[dict[str, Any]]:
    """Return the cases of a group that are asked: all, or every so many (`--every`), which the group notes."""
    step = int(sys.argv[sys.argv.index("--every") + 1]) if "--every" in sys.argv else 1
    if step > 1:
        group.setdefault("every", {})[version()] = step
    cases: list[dict[str, Any]] = group[inner][::step]
    return cases


def note(case: dict[str, Any], seen: str, answer: Any) -> None:
    """Write an answer to a case that is asked in one phase."""
    if version() == OF_FILES:
        case[seen] = answer
        return
    others = case.pop("versions", {})
    others.pop(version(), None)
    if not alike(answer, case[seen]):
        others[version()] = answer
    if others:
        case["versions"] = dict(sorted(others.items()))


def alike(one: Any, other: Any) -> bool:
    """Return whether two answers are the same but for some seconds."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, int) and isinstance(other, int):
        return abs(one - other) <= WITHIN
    return bool(one == other)


def write_groups(path: Path, groups: Sequence[dict[str, Any]], inner: str) -> None:
    """Write groups of cases into their file, a case in a line."""
    texts = []
    for group in groups:
        head = json.dumps({name: value for name, value in group.items() if name != inner})[:-1]
        texts.append(head + f', "{inner}": [\n  ' + ",\n  ".join(map(json.dumps, group[inner])) + "\n ]}")
    path.write_text("[\n " + ",\n ".join(texts) + "\n]\n", encoding="utf-8")
