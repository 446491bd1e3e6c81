"""A class of one's own, named in a scheduler text."""

from __future__ import annotations

import sys

import pytest

from schedlab.errors import InputError
from schedlab.scheduler import Scheduler
from schedlab.scheduler.predictor_text import predictor_from_text

SOURCE = """
class Half:
    def predict(self, job):
        return job.requested_time / 2

    def learn(self, job, run_time):
        pass

class Needs(Half):
    def __init__(self, share):
        self.share = share

class Lacks:
    def predict(self, job):
        return 1

def function():
    raise SystemExit
"""


@pytest.fixture(autouse=True)
def _module(tmp_path, monkeypatch):
    (tmp_path / "own_of_the_tests.py").write_text(SOURCE)
    (tmp_path / "broken_of_the_tests.py").write_text("1 / 0")
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("own_of_the_tests", None)


def test_the_text_is_kept_and_each_reading_makes_a_fresh_object():
    text = "fcfs+easy:sjf@own_of_the_tests:Half/doubling"
    before = list(sys.path)
    first, second = Scheduler.parse(text), Scheduler.parse(text)
    assert first.text == text
    assert first.runtimes.predictor is not second.runtimes.predictor  # type: ignore[attr-defined]
    assert sys.path == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("none_of_the_tests:Half", "there is no none_of_the_tests.py in the current directory, "),
        ("broken_of_the_tests:Half", r"in .*broken_of_the_tests.py, line 1 \(1 / 0\), ZeroDivisionError"),
        ("own_of_the_tests:Third", "AttributeError"),
        ("own_of_the_tests:Needs", "TypeError: .*missing 1 required positional argument"),
        ("own_of_the_tests:Lacks", "must be a class with methods predict"),
        ("own_of_the_tests:function", "must be a class with methods predict"),
    ],
)
def test_what_cannot_be_loaded_is_one_sentence(text, said):
    with pytest.raises(InputError, match=f"^predictor {text}: {said}"):
        predictor_from_text(text)
