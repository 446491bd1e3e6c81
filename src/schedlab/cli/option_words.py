"""Errors of the library in the words of the command line: its arguments are options here."""

from __future__ import annotations

import re

WORDS = {
    r'clean\(jobs, "(\w+)"\)': r"--clean \1",
    r"clean\(jobs\)": "--clean default",
    r"\(assign_distributions\)": "(--distributions FILE)",
    r"requests_enforced=False": "--requests advisory",
    r'\(missing_requests="run-time" or "drop"\)': "(--missing-requests run-time|drop)",
    r"\((processors|column|rules|schedulers)=\)": r"(--\1)",
    r"(--[\w-]+) \(\w+=\w+\)": r"\1",
    r"\bgive (processors|cluster)=": r"give --\1",
    r"\bprocessors=(\d+)": r"--processors \1",
    r"\bcolumn=(\w+)": r"--column \1",
    r"\(jobs\[jobs\.\w+ [<!]= \d+\]\)": "(--clean default)",
    r"\bqueue=(\d+)": r"--queue \1",
    r"\bout of by=": "out of --by",
    r'write with sl\.imports\.allow_imports\("([^"]*)"\): around what reads it': r"add --allow-import \1",
    r"\badd events=sc17": "add --events sc17",
    r"\(--rules\)": "(--clean)",
    r"\(columns=\)": "(--column)",
}
"""What the library says, as patterns, and what is said here."""


def in_options(message: str) -> str:
    """Return a message with options instead of arguments of functions.

    Examples
    --------
    >>> in_options("job 7 has no requested time: clean the workload (clean(jobs) takes the run time) or use @actual")
    'job 7 has no requested time: clean the workload (--clean default takes the run time) or use @actual'
    >>> in_options("the size of the machine is unknown: give it (processors=)")
    'the size of the machine is unknown: give it (--processors)'
    >>> in_options("ask it nevertheless with --anyway (anyway=True)")
    'ask it nevertheless with --anyway'
    >>> in_options('write with sl.imports.allow_imports("mine:Half,mine:late"): around what reads it')
    'add --allow-import mine:Half,mine:late'
    """
    for pattern, words in WORDS.items():
        message = re.sub(pattern, words, message)
    return message
