"""The reference pages on schedulers say what the grammar says."""

from __future__ import annotations

from pathlib import Path

from schedlab.scheduler.compatible import TABLE
from schedlab.scheduler.grammar import CORRECTION, POLICIES, SYNTAX
from schedlab.scheduler.reference import pair_table, text_table
from schedlab.scheduler.request_method import METHODS

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PAGE = (REFERENCE / "schedulers.md").read_text(encoding="utf-8")


def test_the_pages_have_the_syntax_and_the_tables_of_the_grammar():
    hint = "python -m schedlab.scheduler.reference prints the tables"
    assert f"```text\n{SYNTAX}\n```" in PAGE
    assert text_table() in PAGE, hint
    assert pair_table() in (REFERENCE / "refusals.md").read_text(encoding="utf-8"), hint


def test_every_pair_that_is_refused_is_in_the_table():
    table = pair_table()
    for first, second, reason in TABLE:
        assert any(first in row and second in row and reason in row for row in table.splitlines())


def test_the_page_names_every_policy_and_every_word():
    for name, entry in POLICIES.items():
        assert all(f"`{word}" in PAGE for word in (name, *entry.aliases))
    assert all(f"`{word}" in PAGE for word in (*CORRECTION, *METHODS))
