"""Files of agents, and agents in scheduler texts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from schedlab.errors import InputError
from schedlab.imports import named_classes
from schedlab.scheduler import Scheduler
from schedlab.scheduler.agent import AgentPolicy, with_whole_path
from schedlab.scheduler.agent_file import AgentFile, read_agent_file
from schedlab.scheduler.agent_network import INPUTS, Network, inputs


def network(seed=1):
    rng = np.random.default_rng(seed)
    shapes = [(len(INPUTS), 4), (4, 1)]
    weights = tuple(rng.normal(size=shape).astype(np.float32) for shape in shapes)
    return Network(weights, tuple(rng.normal(size=shape[1]).astype(np.float32) for shape in shapes))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "agent.json"
    AgentFile(network(), 3_600, 128, {"seed": 1}).save(path)
    return path


def test_what_is_saved_is_read_to_the_last_bit(path):
    agent = read_agent_file(path)
    saved = network()
    pairs = zip((*agent.network.weights, *agent.network.biases), (*saved.weights, *saved.biases), strict=True)
    for one, other in pairs:
        assert one.dtype == other.dtype == np.float32
        assert (one == other).all()
    assert (agent.longest, agent.slots, agent.training["seed"]) == (3_600, 128, 1)
    assert agent.seconds_per_decision(jobs=3, times=2) > 0


def test_the_digest_is_of_what_decisions_follow_from(path):
    agent = read_agent_file(path)
    assert agent.digest == AgentFile(network(), 3_600, 128, {"seed": 2}).digest
    for other in (
        AgentFile(network(2), 3_600, 128),
        AgentFile(network(), 3_601, 128),
        AgentFile(network(), 3_600, 127),
    ):
        assert agent.digest != other.digest


def test_inputs_by_hand():
    jobs = np.array([[0.5, 0.25, 0.125, 1, 1, 1, 1, 1]] * 2, np.float32)
    summary = np.array([[0.5, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8]] * 2, np.float32)
    rows = inputs(jobs, summary, np.array([False, True]))
    named = dict(zip(INPUTS, rows.T.tolist(), strict=True))
    assert named["wait"] == [0.5, 0]
    assert named["processors"] == [0.125, 0]
    assert named["is waiting"] == [0, 1]
    assert named["free afterwards"] == [0.375, 0.5]
    assert named["log request"] == pytest.approx([np.log(2501) / np.log(10001), 0], rel=1e-6)
    assert named["next end"] == pytest.approx([0.6, 0.6])


def test_only_possible_actions_are_chosen():
    shortest = np.zeros((len(INPUTS), 1), np.float32)
    shortest[INPUTS.index("request")] = -1
    shortest[INPUTS.index("is waiting")] = -9
    one = Network((shortest,), (np.zeros(1, np.float32),))
    jobs, summary = np.zeros((3, 8), np.float32), np.zeros(8, np.float32)
    jobs[:, 1] = (0.1, 0.3, 0.2)
    assert one.choose(jobs, summary, np.array([True, True, True, True])) == 0
    assert one.choose(jobs, summary, np.array([False, True, True, True])) == 2
    assert one.choose(jobs, summary, np.array([False, False, False, True])) == 3


def test_a_text_names_the_agent_and_what_it_computes(path):
    scheduler = Scheduler.parse(f"@agent:{path}")
    digest = read_agent_file(path).digest
    assert scheduler.text == f"@agent:{path}#{digest}"
    assert Scheduler.parse(scheduler.text) == scheduler
    assert isinstance(scheduler.policy, AgentPolicy)
    assert str(Scheduler.parse(f" @ agent : '{path}' @ actual , window=5")) == f"@agent:{path}#{digest}@actual,window=5"
    assert named_classes(scheduler.text) == []
    assert named_classes(f"{scheduler.text}@mine:Class") == ["mine:Class"]


def test_names_with_blanks_are_quoted_and_paths_made_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    AgentFile(network(), 3_600, 128).save("my agent.json")
    scheduler = Scheduler.parse('@agent:"my agent.json",window=3')
    assert scheduler.text.startswith('@agent:"my agent.json"#')
    whole = with_whole_path(scheduler.text)
    assert whole.startswith(f'@agent:"{tmp_path}/my agent.json"#')
    assert whole.endswith(",window=3")
    assert Scheduler.parse(whole).window == 3


def _changed(path, **changes):
    document = json.loads(path.read_text()) | changes
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (lambda path: path.unlink(), "cannot read the agent: No such file"),
        (lambda path: path.write_bytes(b"\x80\x04pickle"), "is not an agent, or damaged"),
        (lambda path: path.write_text(path.read_text()[:-500]), "is not an agent, or damaged"),
        (lambda path: path.write_text("[1]"), "is not an agent: write one"),
        (
            lambda path: path.write_text('{"version": 1, "formula": "p"}'),
            "is not an agent: write one",
        ),
        (lambda path: _changed(path, version=2), "is an agent of another version"),
        (lambda path: _changed(path, decision="backfill"), "another decision or observation"),
        (
            lambda path: _changed(path, observation={"inputs": ["p"], "slots": 1, "longest": 1}),
            "another decision or observation",
        ),
        (lambda path: _changed(path, observation={"inputs": list(INPUTS)}), "lacks longest"),
        (lambda path: _changed(path, observation={"inputs": list(INPUTS), "slots": 0, "longest": 1}), "slots=0 is not"),
        (lambda path: _changed(path, layers=[]), "is damaged: the shapes of the layers do not lead from 14 inputs"),
        (lambda path: _changed(path, layers=[{"weights": [[1, 2], [3]], "biases": [1]}]), "rows of numbers"),
        (lambda path: _changed(path, layers=[{"weights": [[1.0]], "biases": [1.0]}]), "the layers do not lead from"),
        (
            lambda path: _changed(path, layers=[{"weights": [[float("nan")]] * 14, "biases": [1]}]),
            "not a finite number",
        ),
        (lambda path: _changed(path, training=None), "observation, layers or training is missing"),
    ],
)
def test_a_file_that_is_no_agent_is_refused_in_one_sentence(path, harm, sentence):
    harm(path)
    with pytest.raises(InputError, match=r"agent\.json") as error:
        Scheduler.parse(f"@agent:{path}")
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("@agent:", "no agent is named"),
        ("@agent:{}#12345678", "it now holds the agent"),
        ("@agent:{}+easy", "an agent decides by itself"),
        ("fcfs+easy:@agent:{}", "order candidates"),
    ],
)
def test_texts_that_make_no_sense_are_refused_in_one_sentence(path, text, sentence):
    with pytest.raises(InputError) as error:
        Scheduler.parse(text.format(path))
    assert sentence in str(error.value)
