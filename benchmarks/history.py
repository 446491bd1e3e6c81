"""What the benchmarks have measured before on this machine, and what has become slower since.

    python benchmarks/history.py [FILE]

`run.py` adds one line of JSON per run to `benchmarks/history.jsonl`, which is not part of the project, since machines
differ. A figure is compared with the best of the earlier runs on the same hardware, since other processes can only make
it slower.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from result import Result

HISTORY = Path(__file__).parent / "history.jsonl"
SLOWER = 1.05
"""A figure is reported when it is so many times worse than before."""

SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
QUANTITY = re.compile(r"(?P<number>[\d,]+(?:\.\d+)?) ?(?P<unit>us|ms|s|min|h|M jobs/s|x real time)(?![\w/])")


def cost(figure: str) -> float | None:
    """Return what a figure says first, in seconds or as the inverse of a speed; None if it is neither.

    >>> cost("6.50 s, 4.38 M jobs/s"), cost("200 x real time"), cost("152 MB")
    (6.5, 0.005, None)
    """
    found = QUANTITY.search(figure)
    if found is None:
        return None
    number, unit = float(found["number"].replace(",", "")), found["unit"]
    return number * SECONDS[unit] if unit in SECONDS else 1 / number if number else None


def slower(before: Sequence[dict[str, Any]], now: Sequence[Result], machine: str) -> Iterator[str]:
    """Yield a sentence for each figure that is worse than the best one before on the same machine."""
    best: dict[str, float] = {}
    for run in before:
        for old in run["results"] if run["machine"] == machine else ():
            earlier = cost(old["figure"])
            if earlier is not None:
                best[old["name"]] = min(best.get(old["name"], earlier), earlier)
    for result in now:
        found = cost(result.figure)
        if found is not None and found > SLOWER * best.get(result.name, found):
            yield f"{result.name}: {result.figure}, {found / best[result.name]:.2f} times the best time before"


def read(path: Path) -> list[dict[str, Any]]:
    """Return the runs of a history, oldest first; none if there is no file."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def add(path: Path, results: Sequence[Result], machine: str, version: str) -> None:
    """Add a run to a history."""
    run = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": version,
        "machine": machine,
        "results": [asdict(result) for result in results],
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(run) + "\n")


def main() -> None:
    """Print each figure of a history, run by run, and what is slower in the last run."""
    runs = read(Path(sys.argv[1]) if sys.argv[1:] else HISTORY)
    if not runs:
        sys.exit("no benchmarks have been run here yet: make bench")
    names = dict.fromkeys(result["name"] for run in runs for result in run["results"])
    for name in names:
        print(name)
        for run in runs:
            for result in run["results"]:
                if result["name"] == name:
                    print(f"    {run['date'][:16]}  {run['version'][:12]:12}  {result['figure']}")
    last = [Result(**result) for result in runs[-1]["results"]]
    print("\n".join(slower(runs[:-1], last, runs[-1]["machine"])) or "nothing is slower than before")


if __name__ == "__main__":
    main()
