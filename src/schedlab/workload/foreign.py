"""Formats of logs that are recognised, to say so, but not read."""

from __future__ import annotations

import re

AS_TABLE = (
    "which is not read: write its jobs as CSV (submit, start and end times, processors, user), and read that with \
--column"
)
"""What to do with a log whose format has no reader; see `schedlab.workload.mapped`."""

LOOKS = {
    rb'"JOB_FINISH" "\d+(?:\.\d+)?" \d+ ': f"LSF's lsb.acct, {AS_TABLE}",
    rb'"[A-Z][A-Z0-9_]+" "\d+(?:\.\d+)?" \d+ ': f"LSF's lsb.events or lsb.acct, {AS_TABLE}",
    rb"Job <\d+": f"the text of LSF's bacct or bjobs, {AS_TABLE}",
    rb"# Version: \d|#\s*DO NOT MODIFY THIS FILE MANUALLY|(?:[^:]*:){40}": (
        f"the accounting file of Grid Engine (SGE), {AS_TABLE}"
    ),
    rb"=+\s*$|qname\s": f"the text of Grid Engine's qacct, {AS_TABLE}",
    rb"MyType\s*=|ClusterId\s*=|\*\*\* Offset =": f"HTCondor's history, {AS_TABLE}",
    rb"[{\[]": "JSON; the name of a Batsim workload must end with .json",
    rb"<": "a page (HTML or XML): download the file itself",
    rb"\d[^|\s]*\|[^|]*\|": "the text of sacct without its line of column names; run sacct without --noheader",
    rb".*,|[^;]*;[^;]*;|[^|]*\|[^|]*\|": "CSV; the name of a table must end with .csv",
}
"""What a file seems to be, and what to do, by how its first line of content begins; the first that fits."""


def foreign_format(line: bytes) -> str | None:
    """Return what a file seems to be whose first line of content cannot be read, and what to do instead.

    Examples
    --------
    >>> foreign_format(b'"JOB_FINISH" "10.1" 1389683139 7 0 0 1')[:48]
    "it looks like LSF's lsb.acct, which is not read:"
    >>> foreign_format(b"1 0 -1 60") is None
    True
    """
    try:
        binary = any(byte < 32 and byte not in b"\t\r\v\f" for byte in line) or not line.decode()
    except UnicodeDecodeError:
        binary = True
    if binary:
        return "it looks like a binary file"
    start = line.lstrip()
    return next((f"it looks like {told}" for beginning, told in LOOKS.items() if re.match(beginning, start)), None)
