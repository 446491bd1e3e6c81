"""Which Numba is installed, and whether kernels go through schedlab's own pipeline or through Numba's plain one.

Schedlab's pipeline (`linked_pipeline`, `short_lowering`) replaces functions of Numba and relies on others. It is taken
where all of them are those of one version that it was tested with: `numba_digests.json` holds digests of their texts.
Everywhere else kernels go through Numba's own pipeline, which takes longer and gives the same results.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import linecache
import os
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache, reduce
from itertools import dropwhile
from pathlib import Path
from typing import Any, NamedTuple

import numba

from schedlab.errors import InputError

config: Any = numba.config
"""Of which no type checker knows what is in it."""

OLDEST = (0, 61, 2)
"""The oldest version with which kernels compile; `pyproject.toml` says the same."""

TABLE = Path(__file__).with_name("numba_digests.json")
"""For each function of Numba's, the digests of its text, and the tested versions that have it so."""


class Pipeline(NamedTuple):
    """How kernels are compiled."""

    own: bool
    why: str

    def __str__(self) -> str:
        return f"{'schedlab' if self.own else 'plain'} ({self.why})"


def refuse_older(version: str) -> None:
    """Raise InputError for a version of Numba that kernels do not compile with at all.

    Examples
    --------
    >>> refuse_older("0.66.0")
    >>> refuse_older("0.60.0")
    Traceback (most recent call last):
    ...
    schedlab.errors.InputError: numba 0.60.0 is installed, with which schedlab does not run: pip install 'numba>=0.61.2'
    """
    found = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", version)
    if found and tuple(int(part or 0) for part in found.groups()) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise InputError(
            f"numba {version} is installed, with which schedlab does not run: pip install 'numba>={oldest}'"
        )


@cache
def pipeline() -> Pipeline:
    """Return how this process compiles kernels: decided once, by what is installed and by `SCHEDLAB_COMPILER`."""
    return chosen_pipeline(os.environ.get("SCHEDLAB_COMPILER", ""), digest_table())


def chosen_pipeline(asked: str, table: Mapping[str, Mapping[str, str]]) -> Pipeline:
    """Return how kernels are compiled.

    Parameters
    ----------
    asked
        `plain`, or nothing.
    table
        Functions, digests, versions; see `TABLE`.
    """
    if asked not in {"", "plain"}:
        raise InputError(f"SCHEDLAB_COMPILER is {asked[:40]!r}: only plain is possible, or nothing")
    if asked:
        return Pipeline(False, "as SCHEDLAB_COMPILER says")
    alike = [set(digests.get(digest_of(name), "").split()) for name, digests in table.items()]
    if versions := reduce(set.intersection, alike):
        return Pipeline(True, f"tested with numba {max(versions)}")
    return Pipeline(False, f"schedlab's own, which is faster, was not tested with numba {numba.__version__}")


def digest_table() -> dict[str, dict[str, str]]:
    """Return the table of digests."""
    table: dict[str, dict[str, str]] = json.loads(TABLE.read_text(encoding="ascii"))
    return table


def digest_of(name: str) -> str:
    """Return the digest of the text of a function that is installed, such as `numba.core.lowering:Lower.storevar`.

    It is empty where there is no such function, or no text of it.
    """
    module, _, path = name.partition(":")
    try:
        function: Any = reduce(getattr, path.split("."), importlib.import_module(module))
        code = function.__code__
    except (ImportError, AttributeError):
        return ""
    text = text_of_function(linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :])
    return hashlib.sha256(text.encode()).hexdigest()[:12] if text else ""


def text_of_function(lines: Sequence[str]) -> str:
    """Return the text of the function that begins with the first of some lines, without the decorators.

    `inspect.getsource` would do it by tokens: a tenth of a second for all functions, whenever kernels are imported.

    Examples
    --------
    >>> text_of_function(["  @property\\n", "  def f(\\n", "  ):\\n", "    return 1\\n", "\\n", "  x = 2\\n"])
    '  def f(\\n  ):\\n    return 1\\n\\n'
    """
    lines = [*dropwhile(lambda line: not line.lstrip().startswith("def "), lines)]
    depths = [len(line) - len(line.lstrip()) for line in lines]
    ends = (
        place
        for place, line in enumerate(lines)
        if place > 0 and depths[place] <= depths[0] and line.strip() and line.lstrip()[0] not in ")#"
    )
    return "".join(lines[: next(ends, None)])


def add_installed_version() -> None:
    """Write the digests of the installed version into the table: for whoever has tested it."""
    table = digest_table()
    for name, digests in table.items():
        known = digests.get(digest_of(name), "").split()
        digests[digest_of(name)] = " ".join(sorted({*known, numba.__version__}))
    TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__" and sys.argv[1:] == ["add"]:
    add_installed_version()
