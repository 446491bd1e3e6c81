"""What a notebook shows of a schedule, a comparison or a workload: the widget where one can run, else the summary."""

from __future__ import annotations

import html
import sys
from typing import Any

from schedlab.errors import InputError

MOST_JOBS = 50_000
"""Of more jobs, a notebook shows the widget only when it is asked to with `explore()`."""


def rich_display(subject: Any, jobs: int, summary: str) -> dict[str, Any]:
    """Return the MIME bundle of a subject that `schedlab.explore` takes.

    Parameters
    ----------
    subject
        What is shown.
    jobs
        How many it has.
    summary
        Text that says the same in a few lines.
    """
    plain = {"text/plain": repr(subject), "text/html": f"<pre>{html.escape(summary)}</pre>"}
    if not 0 < jobs <= MOST_JOBS or not _in_a_kernel():
        return plain
    # Reports stand above what they show: they are reached by the public name.
    import schedlab

    try:
        bundle = schedlab.explore(subject)._repr_mimebundle_()
    except InputError:
        return plain
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    return plain if data is None else {**data, "text/plain": repr(subject)}


def _in_a_kernel() -> bool:
    """Return whether this is a notebook, and not IPython in a terminal, which asks for bundles too."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None
