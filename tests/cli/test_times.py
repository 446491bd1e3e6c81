"""Options that are times: each has its unit, whichever verb has it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import schedlab.cli
from schedlab.cli.times import seconds_of, time_of
from schedlab.errors import InputError

SOURCES = Path(schedlab.cli.__file__).parent


def test_a_number_without_its_unit_is_refused_with_the_option_and_what_to_write():
    with pytest.raises(InputError, match=r"^--window: '14' is a time without its unit: write 14d, 14h, 14m or 14s$"):
        seconds_of("--window", "14")
    with pytest.raises(InputError, match=r"^--notice: '1\.5' is a time without"):
        time_of("--notice", "1.5")
    assert [seconds_of("--every", text) for text in ("0", "4h", "0-12:00:00")] == [0, 14_400, 43_200]
    assert time_of("--max-request", "inf") == float("inf")
    assert seconds_of("--notice", None) is None


def test_no_verb_reads_a_time_in_another_way():
    """The rule is in one place; what reads files, in which seconds are usual, has another."""
    reading = {path.name for path in SOURCES.glob("*.py") if re.search(r"\bparse_duration\b", path.read_text())}
    assert reading == set()


@pytest.mark.parametrize(
    "words",
    [
        ["requests", "exponential(1h)", "--min-request", "5"],
        ["site", "maintenance", "site", "--notice", "7"],
        ["site", "maintenance", "site", "--hours", "long"],
        ["site", "capacity", "site", "--until", "p95_wait=4"],
    ],
)
def test_verbs_refuse_such_times_before_they_do_anything(run, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*words)
    assert result.exit_code == 1
    assert "is a time without its unit" in result.stderr or "--hours: 'long' is not a duration" in result.stderr
