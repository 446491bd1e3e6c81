"""Policy files: what they keep, and that @FILE is a policy wherever a policy may stand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from schedlab.errors import InputError, OutputError
from schedlab.scheduler.policy_file import PolicyFile, read_policy_file, with_formulas
from schedlab.scheduler.scheduler import Scheduler

FORMULA = "log10(p)*q + 870.96*log10(r)"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The working directory, with a policy under several names."""
    monkeypatch.chdir(tmp_path)
    policy = PolicyFile(FORMULA, {"c1*c2": 8e-6, "c3": 0.00697}, {"form": "log10(p)*q + log10(r)", "jobs": np.int64(3)})
    (tmp_path / "sub dir").mkdir()
    for name in ("policy.json", "a b.json", "sub dir/x+y,z.json"):
        policy.save(name)
    return tmp_path


def test_a_policy_survives_its_file(here):
    policy = read_policy_file("policy.json")
    assert (policy.formula, dict(policy.coefficients)) == (FORMULA, {"c1*c2": 8e-6, "c3": 0.00697})
    assert policy.training == {"form": "log10(p)*q + log10(r)", "jobs": 3}
    assert policy.policy.text == f'"{FORMULA}"'


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("@policy.json", f'"{FORMULA}"'),
        ("@policy.json+easy", f'"{FORMULA}"+easy'),
        (" @ policy.json + EASY", f'"{FORMULA}"+easy'),
        ("@./policy.json+easy:sjf@actual,window=32", f'"{FORMULA}"+easy:sjf@actual,window=32'),
        ("@policy.json@ave2/doubling", f'"{FORMULA}"@ave2/doubling'),
        ("@policy.json,window=3", f'"{FORMULA}",window=3'),
        ('@"a b.json"+easy:sjf', f'"{FORMULA}"+easy:sjf'),
        ("@a b.json+easy", f'"{FORMULA}"+easy'),
        ("@'sub dir/x+y,z.json'+conservative", f'"{FORMULA}"+conservative'),
        ("fcfs+easy:@policy.json@actual", f'fcfs+easy:"{FORMULA}"@actual'),
        ('easy:@"a b.json"', f'fcfs+easy:"{FORMULA}"'),
        ("@policy.json+easy:@policy.json", f'"{FORMULA}"+easy'),
    ],
)
def test_a_file_stands_for_its_formula(here, text, meant):
    scheduler = Scheduler.parse(text)
    assert scheduler.text == meant
    assert Scheduler.parse(scheduler.text) == scheduler


def test_an_absolute_path_will_do(here):
    assert Scheduler.parse(f"@{here / 'policy.json'}+easy").text == f'"{FORMULA}"+easy'


@pytest.mark.parametrize(
    "text", ["easy@ave2", "fcfs+easy:sjf@actual", '"p*q"+easy@e-loss/doubling', "easy@quantile(0.9)"]
)
def test_run_times_are_no_files(text):
    assert with_formulas(text) == text


def change(path, **values):
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"version": 99}, "is a policy file of version"),
        ({"version": None}, "is a policy file of version"),
        ({"formula": "open(p)"}, "policy.json: formula 'open(p)': 'open(p)' is not allowed"),
        ({"formula": 'p*"q'}, "policy.json: formula"),
        ({"formula": None}, "policy.json is damaged"),
        ({"coefficients": {"c1": "x"}}, "policy.json is damaged: a coefficient is not a number"),
        ({"coefficients": {"c1": float("nan")}}, "policy.json is damaged: a coefficient is not a number"),
        ({"training": []}, "policy.json is damaged"),
    ],
)
def test_a_bad_file_is_one_sentence_with_its_path(here, values, reason):
    change(here / "policy.json", **values)
    with pytest.raises(InputError) as caught:
        Scheduler.parse("@policy.json+easy")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"p*q", "it is not JSON"),
        (b"\xff\xfe", "it is not text in UTF-8"),
        (b'{"version": 1, "formula": "\\ud800"}', "not valid Unicode"),
        (b"[1, 2]", "is not a policy file"),
        (b'{"schema": 1}', "is not a policy file"),
    ],
)
def test_another_file_is_refused(here, content, reason):
    (here / "policy.json").write_bytes(content)
    with pytest.raises(InputError, match=reason):
        Scheduler.parse("@policy.json+easy")


def test_a_missing_file_is_named(here):
    with pytest.raises(InputError, match=r"none\.json: cannot read the policy: No such file"):
        Scheduler.parse("@none.json+easy")
    with pytest.raises(InputError, match="cannot read the policy: Is a directory"):
        Scheduler.parse('@"sub dir"+easy')
    with pytest.raises(InputError, match="no policy file is named"):
        Scheduler.parse('@""+easy')


def test_a_policy_that_is_no_formula_cannot_be_saved():
    with pytest.raises(InputError, match="not allowed"):
        PolicyFile("open(p)")


def test_nothing_is_written_where_nothing_can_be(here):
    with pytest.raises(OutputError):
        PolicyFile("p*q").save(here / "none" / "policy.json")
