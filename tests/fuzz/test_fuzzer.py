"""A bounded run of the fuzzer; `make fuzz` is the long one."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from fuzzer import Fuzzer
from mutators import harm_bytes, harm_json

pytestmark = pytest.mark.both  # some targets are for compiled kernels, some for plain ones

CASES = 2
"""Of each target."""


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory):
    return Fuzzer(tmp_path_factory.mktemp("fuzz"), seed=7)


def test_harmed_inputs_end_with_a_result_or_with_one_sentence(fuzzer, tmp_path):
    findings = []
    for case in range(CASES * len(fuzzer.targets)):
        directory = tmp_path / str(case)
        directory.mkdir()
        outcome = fuzzer.run(case, directory)
        if outcome.finding:
            findings.append(outcome)
    assert findings == []


def test_sound_inputs_are_accepted_by_all_commands(fuzzer, tmp_path, monkeypatch):
    """Else harm would prove nothing."""
    sound = [target for target in fuzzer.targets if target.name not in ("name", "lock")]
    for target in sound:
        for number, command in enumerate(target.commands):
            monkeypatch.setattr(fuzzer, "targets", [replace(target, harm=_unharmed, commands=(command,))])
            directory = tmp_path / f"{target.name}-{number}"
            directory.mkdir()
            outcome = fuzzer.run(0, directory)
            assert outcome.kind == "accepted", (target.name, command, outcome.told)
            monkeypatch.undo()


def _unharmed(content, rng):
    return content


def test_the_same_number_harms_in_the_same_way():
    for harm in (harm_bytes, harm_json):
        assert harm(b'{"a": [1, 2]}', random.Random(5)) == harm(b'{"a": [1, 2]}', random.Random(5))
