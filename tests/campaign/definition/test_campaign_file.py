"""Campaign files: what is wrong is named with its field and its line."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.campaign.definition.campaign_file import read_campaign
from schedlab.documents import line_of
from schedlab.errors import InputError

COMPLETE = """\
name = "complete"                       # 1
description = "What is asked?"
seed = 7
repetitions = 2
schedulers = [                          # 5
  "easy",
  { policy = ["saf", "spf"], backfill = ["none", "easy"] },
]
baseline = "easy"
events = "pyss"                         # 10
schedules = true
timeout = "10 min"
metrics.warm_up = 0.1
metrics.tau = 60

[[workloads]]                           # 16
trace = [
  "logs/*.swf.gz",
  "more.swf",
]                                       # 20
clean = "none"
windows = { length = "15d", count = 10, skip = [
  3,
] }

[[workloads]]                           # 26
name = "model"
generate = "lublin"
jobs = 1_000
processors = 256                        # 30
load = [0.7, 0.9]
[workloads.windows]
count = 3
"""


def reading(path: Path, text: str) -> str:
    """Return what is said of a file that is wrong, without its name."""
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_campaign(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)
    return str(error.value).removeprefix(str(path))


def test_a_file_has_the_fields_of_a_campaign(tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text(COMPLETE, encoding="utf-8")
    campaign = read_campaign(file)
    assert campaign.scheduler_texts() == ["fcfs+easy", "saf", "saf+easy", "spf", "spf+easy"]
    assert (campaign.timeout, campaign.metrics.warm_up, campaign.metrics.tau) == (600, 0.1, 60)
    assert campaign.workloads[1].windows is not None
    assert campaign.workloads[1].windows.count == 3


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("seed = 7", 'seed = "x"', ", line 3: seed: input should be a valid integer, unable to parse"),
        ("seed = 7", "sed = 7", ", line 3: sed: unknown field"),
        ('  "easy",', '  "easie",', ", line 6: schedulers[0]: unknown policy 'easie'; known are"),
        ('"easy"] },', '"easie"] },', ", line 7: schedulers[1].backfill: unknown backfilling 'easie'; known are"),
        ('["saf", "spf"]', '["saf", "sjfx"]', ", line 7: schedulers[1]: unknown policy 'sjfx'; known are"),
        (
            "policy = [",
            "order = 1, policy = [",
            ", line 7: schedulers[1].order: input should be a valid string (it is 1)",
        ),
        ('"pyss"', '"piss"', ", line 10: events: input should be 'batched', 'pyss' or 'sc17' (it is 'piss')"),
        ('"10 min"', '"10 minutes"', ", line 12: timeout: '10 minutes' is not a duration: write for example 90s, 15m"),
        ("warm_up = 0.1", "warm_up = -0.1", ", line 13: metrics.warm_up: input should be greater than or equal to 0"),
        ("metrics.tau", "metrics.taw", ", line 14: metrics.taw: unknown field"),
        ('  "more.swf",', "  17,", ", line 19: workloads[0].trace[1]: input should be a valid string (it is 17)"),
        ('clean = "none"', 'clean = "nome"', ", line 21: workloads[0].clean: unknown cleaning rule 'nome'"),
        ('"15d"', '"15 moons"', ", line 22: workloads[0].windows.length: '15 moons' is not a duration"),
        ("count = 10", "cuont = 10", ", line 22: workloads[0].windows.cuont: unknown field"),
        ("  3,\n", "  -3,\n", ", line 23: workloads[0].windows.skip[0]: input should be greater than or equal to 0"),
        ("jobs = 1_000\n", "\n", ", line 26: workloads[1].jobs: this field is missing"),
        ('"lublin"', '"lublim"', ", line 28: workloads[1].generate: unknown generator 'lublim'; known are lublin,"),
        ("jobs = 1_000", 'jobs = "many"', ", line 29: workloads[1].jobs: input should be a valid integer"),
        ("[0.7, 0.9]", "[0.7, 0]", ", line 31: workloads[1].load[1]: input should be greater than 0 (it is 0)"),
        ("[0.7, 0.9]", '"high"', ", line 31: workloads[1].load: input should be a valid number"),
        ("count = 3", "count = 0", ", line 33: workloads[1].windows.count"),
        ('name = "complete" ', "", ": name: this field is missing"),
        ('baseline = "easy"', 'baseline = "laf"', ": the baseline laf is not one of the schedulers"),
    ],
)
def test_each_wrong_field_is_named_with_its_line(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    assert COMPLETE.count(right) == 1
    assert reading(tmp_path / "c.toml", COMPLETE.replace(right, wrong)).startswith(message)


def test_of_an_unknown_generator_only_that_is_said(tmp_path: Path) -> None:
    text = COMPLETE.replace('"lublin"', '"experimen"').replace("jobs = 1_000", "model = 'small.json'")
    said = reading(tmp_path / "c.toml", text)
    assert (
        said
        == ", line 28: workloads[1].generate: unknown generator 'experimen'; known are lublin, stochastic, experiment"
    )


def test_all_wrong_fields_are_named_at_once(tmp_path: Path) -> None:
    text = COMPLETE.replace("seed = 7", "seed = -7").replace("1_000", '"many"').replace("tau = 60", "tau = 0")
    message = reading(tmp_path / "c.toml", text)
    for part in (", line 3: seed: ", "; line 14: metrics.tau: ", "; line 29: workloads[1].jobs: "):
        assert part in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "a"\nworkloads = "a.swf"\nschedulers = "easy"', ", line 2: workloads: input should be a list"),
        (
            'name = "a"\nschedulers = "easy"\n[workloads]\ntrace = "a.swf"',
            ", line 3: workloads: input should be a list",
        ),
        ('name = "a"\nschedulers = "easy"\nworkloads = ["a.swf"]', ", line 3: workloads[0]: input should be a"),
        ('name = "a"\nschedulers = "easy"\nworkloads = []', ", line 3: workloads: the campaign has no workload"),
        (
            'name = "a"\nschedulers = []\nworkloads = [{trace="a.swf"}]',
            ", line 2: schedulers: the campaign has no scheduler",
        ),
        ('name = "a"\nschedulers = "easiest"\nworkloads = [{trace="a.swf"}]', ", line 2: schedulers: unknown policy"),
        ("", ": name: this field is missing; workloads: this field is missing; schedulers: this field is missing"),
    ],
)
def test_a_grid_that_is_empty_or_of_the_wrong_form_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert reading(tmp_path / "c.toml", text).startswith(message)


@pytest.mark.parametrize("text", ['name = "a', "name = a", "[[workloads]\n", "a = 1\na = 2"])
def test_what_is_no_toml_is_said_with_its_place(tmp_path: Path, text: str) -> None:
    message = reading(tmp_path / "c.toml", text)
    assert message.startswith(": not valid TOML: ")
    assert "line" in message or "end of document" in message


def test_a_file_that_is_missing_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the campaign: No such file"):
        read_campaign(tmp_path / "none.toml")
    with pytest.raises(InputError, match="Is a directory"):
        read_campaign(tmp_path)
    (tmp_path / "c.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="text in UTF-8"):
        read_campaign(tmp_path / "c.toml")


PYTHON = """
from schedlab.campaign.definition.campaign import Campaign
loads = [n / 10 for n in range(5, 10)]
campaign = Campaign(
    name="python", schedulers=["easy"],
    workloads=[{"generate": "lublin", "jobs": 100, "processors": 64, "load": loads}],
)
"""


def test_a_python_file_sets_campaign(tmp_path: Path) -> None:
    file = tmp_path / "c.py"
    file.write_text(PYTHON)
    assert read_campaign(file).workloads[0].load == (0.5, 0.6, 0.7, 0.8, 0.9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("campain = 1", ": the file must set campaign = schedlab.Campaign(...)"),
        ("campaign = {'name': 'a'}", ": the file must set campaign = schedlab.Campaign(...)"),
        ("1 / 0", ": failed when run: ZeroDivisionError: division by zero"),
        ("campaign = (", ": failed when run: SyntaxError: '(' was never closed"),
        (PYTHON.replace("100", "'many'"), ": workloads[0].jobs: input should be a valid integer"),
        (PYTHON.replace("processors", "procesors"), ": workloads[0].processors: this field is missing"),
    ],
)
def test_a_python_file_that_is_wrong_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert reading(tmp_path / "c.py", text).startswith(message)


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4), min_size=1, max_size=4), st.data())
def test_the_line_of_a_value_is_where_it_is_written(lists: list[list[int]], data: st.DataObject) -> None:
    lines, place = [], {}
    for i, values in enumerate(lists):
        lines += [*data.draw(st.lists(st.sampled_from(["", "# [[x]] = {"]), max_size=2)), "[[x]]"]
        lines.append("y = [" if data.draw(st.booleans()) else "z = { y = [")
        key = ("y",) if lines[-1].startswith("y") else ("z", "y")
        for j, value in enumerate(values):
            lines.append(f"  {value},  # ]")
            place[("x", i, *key, j)] = len(lines)
        lines.append("]" if key == ("y",) else "] }")
    text = "\n".join(lines)
    tomllib.loads(text)
    for path, line in place.items():
        assert line_of(text, path) == line


STOCHASTIC = (
    'name = "s"\nschedulers = ["easy,requests=classic"]\n[[workloads]]\ngenerate = "stochastic"\nprocessors = 9\n'
)


def test_an_empty_list_of_applications_is_named_in_our_own_words(tmp_path: Path) -> None:
    said = reading(tmp_path / "c.toml", STOCHASTIC + "applications = []\n")
    assert said.endswith("applications: the list of applications is empty")


def test_what_is_wrong_in_an_application_is_said_once(tmp_path: Path) -> None:
    said = reading(
        tmp_path / "c.toml",
        STOCHASTIC + 'applications = [{ distribution = "uniform(1h,2h)", jobs = 9, size = "half" }]\n',
    )
    assert "size: unknown field" in said
    assert "at least 1" not in said
    assert ";" not in said
