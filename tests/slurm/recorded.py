"""Cases that run on a real slurmctld in several phases of its loops: what is seen is written into their file."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

PHASES = (0.2, 0.5, 7.2, 12.6, 21.4)


def record(path: Path, run: Callable[[dict[str, Any], float], Any], names: Sequence[str], seen: str = "runs") -> None:
    """Run the cases of a file, or those that are named, in all phases; their answers become the field `seen`."""
    cases = json.loads(path.read_text(encoding="utf-8"))
    for case in cases:
        if names and case["name"] not in names:
            continue
        answers: list[Any] = []
        for phase in PHASES:
            answer = run(case, phase)
            if answer not in answers:
                answers.append(answer)
        case[seen] = answers
        print(case["name"], *answers, sep="\n  ", flush=True)
    path.write_text("[\n " + ",\n ".join(map(json.dumps, cases)) + "\n]\n", encoding="utf-8")
