"""Completion of scheduler texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.scheduler import POLICIES, Scheduler
from schedlab.scheduler.completion import completions
from schedlab.scheduler.grammar import ALIASES, BACKFILLING, EXAMPLES, OPTIONS, RUN_TIMES


def words(text: str) -> list[str]:
    return [complete for complete, _ in completions(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SA", ["saf"]),
        ("lj", ["ljf"]),
        ("saf", ["saf", "saf+easy", "saf+conservative", "saf+slurm", "saf+malleable"]),
        ("saf+", ["saf+easy", "saf+conservative", "saf+slurm", "saf+malleable"]),
        ("p*q + ea", ["p*q + easy"]),
        ("saf+easy:w", ["saf+easy:wfp3", "saf+easy:wfp"]),
        ("saf+conservative:", []),
        ("saf@a", ["saf@actual", "saf@ave2", "saf@ave"]),
        ("saf@similar+c", ["saf@similar+conservative"]),
        ("saf@similar+easy@re", ["saf@similar+easy@requested"]),
        ("easy@ave2/d", ["easy@ave2/doubling"]),
        ("p/q", []),
        ("easy,wi", ["easy,window="]),
        ("easy,window=3,w", []),
        ("easy,requests=t", ["easy,requests=toptimal"]),
        ("easy,exhausted=", ["easy,exhausted=give-up"]),
        ("conservative,reservations=", ["conservative,reservations=fixed"]),
        ("multi", ["multifactor("]),
        ("multifactor(f", ["multifactor(fairshare=", "multifactor(favor="]),
        ("multifactor(size=1,favor=", ["multifactor(size=1,favor=large", "multifactor(size=1,favor=small"]),
        (
            "saf+slurm(depth=3,res",
            [f"saf+slurm(depth=3,{name}=" for name in ("resolution", "reserve", "reserve_age", "reserve_priority")],
        ),
        ("easy@nag(over=li", ["easy@nag(over=linear"]),
        ('"p*', []),
        ("log10(p", []),
        ("nobody", []),
    ],
)
def test_a_text_goes_on_by_the_grammar(text, expected):
    lowered = [word.lower() for word in words(text)]
    assert lowered == [word.lower() for word in expected]


def test_every_word_of_the_grammar_is_offered_with_its_meaning():
    assert {word.rstrip("(") for word in words("")} >= {*POLICIES, *BACKFILLING, *ALIASES}
    assert {word.rstrip("(") for word in words("saf+easy@")} == {f"saf+easy@{name}" for name in RUN_TIMES}
    assert words("easy,") == [f"easy,{name}=" for name in OPTIONS]
    assert all(meaning for text in ("", "saf@", "saf+", "easy,", "slurm(") for _, meaning in completions(text))


@pytest.mark.parametrize("text", EXAMPLES)
def test_what_is_offered_for_the_beginning_of_a_text_can_be_read(text):
    for end in range(len(text)):
        for word in words(text[:end]):
            assert word.lower().startswith(text[:end].lower().rstrip())
            if not word.endswith(("(", "=")) and "(" not in text[:end] and '"' not in text[:end]:
                Scheduler.parse(word)


@given(st.text(max_size=40) | st.text(alphabet="fcsaepq+:@,=/\"'()* ", max_size=40))
def test_any_text_may_be_typed(text):
    assert all(word.lower().startswith(text.lower().rstrip()) for word in words(text))
