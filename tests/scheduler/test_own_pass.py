"""Texts that name passes in Python, and what may be given in the place of backfilling."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.errors import InputError
from schedlab.imports import allow_imports
from schedlab.scheduler import OwnPass, Pass, Scheduler

MODULE = """
from schedlab.scheduling import Pass

class Lookahead(Pass):
    def __init__(self, k, name="plain"):
        self.k, self.name = k, name

    def decide(self, view):
        view.start(view.waiting[0])

def greedy(view):
    view.start(view.waiting[0])

NUMBER = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give the name of a module in the current directory, which is another one in each test."""
    name = f"own_{abs(hash(str(tmp_path)))}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return name


@pytest.mark.parametrize(
    "text",
    [
        "saf+{}:Lookahead(k=3)",
        "{}:Lookahead(3)",
        "fcfs+{}:Lookahead(3, name='two words, (and more)')",
        "wfp3@similar+{}:Lookahead(k=3)@requested",
        '"p*q+r"+{}:greedy,window=5',
        "fcfs+{}:greedy@ave2/doubling",
        "tomorrow=fcfs+{}:greedy",
    ],
)
def test_a_text_with_a_pass_is_read_and_written(module, text):
    scheduler = Scheduler.parse(text.format(module))
    assert isinstance(scheduler.backfill, OwnPass)
    again = Scheduler.parse(scheduler.text)
    assert again.text == scheduler.text
    assert again == scheduler


def test_the_arguments_of_a_text_reach_the_class(module):
    made = Scheduler.parse(f"saf + {module}:Lookahead( k = [1, 2] , name='a' )")
    assert made.text == f"saf+{module}:Lookahead(k=[1, 2], name='a')"
    assert made.backfill.decider.k == [1, 2]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fcfs+{}:Lookahead", "missing 1 required positional argument: 'k'; it is made by Lookahead(k, name='plain')"),
        ("fcfs+{}:Lookahead(k=len)", "arguments are numbers and strings, such as (k=3)"),
        ("fcfs+{}:Lookahead(depth=3)", "unexpected keyword argument 'depth'; it is made by Lookahead(k, name='plain')"),
        ("fcfs+{}:Missing", "has no attribute 'Missing'"),
        ("{}:Lookahead", "is not a function of arrays, and has no method score; a pass stands behind a policy: fcfs+"),
        ("fcfs+{}:NUMBER", "3 is not a pass: give an object with decide(view), or a function of view"),
        ("fcfs+no_such_module:Lookahead", "there is no no_such_module.py in the current directory"),
        ("fcfs+{}:greedy,reservations=fixed", "only conservative backfilling keeps a reservation"),
    ],
)
def test_a_pass_that_cannot_be_made_is_told(module, text, told):
    with pytest.raises(InputError) as error:
        Scheduler.parse(text.format(module))
    assert told in str(error.value)


def test_easy_with_an_order_is_no_pass():
    assert Scheduler.parse("fcfs+easy:saf").text == "fcfs+easy:saf"


def test_files_name_passes_only_if_they_are_allowed(module, monkeypatch):
    text = f"saf+{module}:Lookahead(k=3)"
    with pytest.raises(InputError, match=f'with sl.imports.allow_imports."{module}:Lookahead".: around'):
        Scheduler.from_file(text, "a.toml")
    monkeypatch.syspath_prepend(".")
    monkeypatch.setenv("PYTHONPATH", ".")
    with allow_imports(f"{module}:Lookahead"):
        assert Scheduler.from_file(text, "a.toml").text == text


class Plain(Pass):
    def __init__(self, k=2):
        self.k, self._hidden, self.table = k, 1, [1]

    def decide(self, view):
        view.start(view.waiting[0])


def test_objects_classes_and_functions_are_passes_and_say_so_in_their_names():
    def mine(view):
        view.start(view.waiting[0])

    assert Scheduler("fcfs", Plain()).text == "fcfs+<Plain(k=2)>"
    assert Scheduler("fcfs", Plain).text == "fcfs+<Plain(k=2)>"
    assert Scheduler("fcfs", mine).text == "fcfs+<mine>"
    assert Scheduler("fcfs", mine) == Scheduler("fcfs", mine)
    assert Scheduler("fcfs", Plain()) != Scheduler("fcfs", Plain())


def test_what_is_no_pass_is_refused():
    with pytest.raises(InputError, match=r"^3 is not a pass: give an object with decide"):
        OwnPass(3)
    with pytest.raises(InputError, match=r"unknown backfilling 3"):
        Scheduler("fcfs", 3)
    with pytest.raises(InputError, match=r"make one with Plain\(\)"):
        OwnPass(Plain)
