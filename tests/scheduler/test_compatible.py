"""The table of what does not go together."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from schedlab.errors import InputError
from schedlab.scheduler import FunctionPolicy, Pass, Scheduler
from schedlab.scheduler.agent_file import AgentFile
from schedlab.scheduler.agent_network import INPUTS, Network
from schedlab.scheduler.compatible import (
    CANCELLED,
    CAPS_OF_ALL,
    CHECKPOINTS,
    CLOSURES,
    COMPILED,
    FUNCTION_OF_TIME,
    HETEROGENEOUS,
    LEARNED,
    MALLEABLE,
    MOLDABLE,
    OWN,
    PREEMPTION_ELSEWHERE,
    SUSPENSION,
    TABLE,
    USED,
    check,
    refusal,
)
from schedlab.scheduler.own_pass import OwnPass

OWN_PASS = "+math:isfinite"
"""Any function that is installed does, as these tests do not call it."""

WRITTEN = {
    LEARNED: "saf+easy@ave2",
    "no backfilling": "saf",
    "+easy": "saf+easy",
    "+conservative": "saf+conservative",
    "+slurm": "saf+slurm",
    OWN: f"saf{OWN_PASS}",
    ":ORDER": "saf{}:spf",
    ":multifactor": "saf+easy:multifactor(age=1)",
    "multifactor": "multifactor(age=1)+easy",
    "@PREDICTOR": "saf+easy@ave2",
    "POLICY@RUNTIMES+BACKFILL": "saf@actual+easy",
    "starvation=SECONDS": "saf{},starvation=60",
    "start_delay=SECONDS": "saf+easy,start_delay=1",
    "requests=METHOD": "saf+easy,requests=classic",
    "speculation=SHARE": "saf{},speculation=0.5",
    "reservations=fixed": "saf{},reservations=fixed",
    "window=JOBS": "saf{},window=5",
    "@agent:FILE": "@agent:agent.json{}",
    "reserve_priority=PRIORITY": "saf+slurm(reserve_priority=4)",
    "shared=CORES": "saf+slurm(shared=4)",
    "node=CORES": "saf+slurm(node=4)",
    CAPS_OF_ALL: "saf+slurm(version=24.11)",
}
"""A scheduler text with each feature; {} is for backfilling."""


class Compiled(Pass):
    compiled = True


GIVEN = {COMPILED: {"backfill": OwnPass(Compiled())}, USED: {"policy": FunctionPolicy(lambda usage: usage)}}
"""What no text says, by feature."""

WITH_MALLEABLE = {
    CHECKPOINTS: {"malleable": True, "checkpoints": True},
    "nodes": {"malleable": True, "nodes": True},
    "workflows with one place": {"malleable": True, "shared_places": True},
}
"""What a simulation of malleable jobs has, where that is not all of it."""

AGENT = Network((np.zeros((len(INPUTS), 1), np.float32),), (np.zeros(1, np.float32),))


@pytest.mark.parametrize(("first", "second", "reason"), TABLE)
def test_every_pair_of_the_table_is_refused_with_both_texts_and_why(tmp_path, monkeypatch, first, second, reason):
    monkeypatch.chdir(tmp_path)
    AgentFile(AGENT, longest=3_600, slots=128).save("agent.json")
    simulation = {}
    if "events=" in first + second:
        simulation = {"events": (first if "events=" in first else second).removeprefix("events=")}
    if second == "dependencies":
        simulation["dependencies"] = True
    if second == "workflows with one place":
        simulation["shared_places"] = True
    if first in ("nodes", "preemption") or second == "preemption":
        simulation["preemption" if second == "preemption" else first] = True
    if first == CLOSURES:
        simulation["closures"] = True
    if first in (CANCELLED, CHECKPOINTS):
        simulation["cancelled" if first == CANCELLED else "checkpoints"] = True
    if MOLDABLE in (first, second):
        simulation["moldable"] = True
    simulation |= WITH_MALLEABLE.get(second, {"malleable": True}) if first == MALLEABLE else {}
    if first == SUSPENSION:
        simulation["suspension"] = True
        simulation |= {"caps": True} if second == CAPS_OF_ALL else {}
    if HETEROGENEOUS in (first, second):
        simulation["heterogeneous"] = True
        also = {PREEMPTION_ELSEWHERE: "preemption", SUSPENSION: "suspension", MOLDABLE: "moldable"}
        simulation |= {also[second]: True} if second in also else {}
    alone = (
        first
        in ("nodes", "preemption", MOLDABLE, MALLEABLE, HETEROGENEOUS, CLOSURES, SUSPENSION, CANCELLED, CHECKPOINTS)
        or first.startswith("events=")
        or second == ":multifactor"
    )
    usual = "saf" if first == HETEROGENEOUS else "saf+easy"
    text = WRITTEN.get(second, usual) if alone else WRITTEN[first]
    if first == "+slurm" and second in WRITTEN:
        text = WRITTEN[second]
    if second == "reservations=fixed" and alone:
        text = text.format("+conservative")
    without = first == HETEROGENEOUS or second in ("no backfilling", "@agent:FILE")
    backfill = next((name for name in (first, second) if name.startswith("+")), "" if without else "+easy")
    if backfill == OWN:
        text, backfill = WRITTEN.get(second if first == OWN else first, WRITTEN[OWN]), OWN_PASS
    policy = {"policy": FunctionPolicy(lambda w: -w)} if second == FUNCTION_OF_TIME else {}
    given = policy | GIVEN.get(second, {})
    with pytest.raises(InputError) as error:
        check(replace(Scheduler.parse(text.format(backfill)), **given), **simulation)
    sentence = str(error.value)
    assert sentence.endswith(f": {reason}")
    pair = sentence.removesuffix(f": {reason}").rpartition(": ")[2]
    assert " does not go with " in pair


@pytest.mark.parametrize(
    ("text", "simulation", "sentence"),
    [
        ("saf+easy,start_delay=0.5", {"events": "pyss"}, "start_delay=0.5 does not go with events=pyss: "),
        ("saf+slurm(depth=5)", {"events": "sc17"}, "events=sc17 does not go with +slurm(depth=5): "),
        ("saf+easy@ave(5)", {"events": "sc17"}, "events=sc17 does not go with @ave(5): "),
        ("saf", {"events": "sc17", "dependencies": True}, "events=sc17 does not go with jobs that wait for others: "),
    ],
)
def test_a_refusal_names_the_scheduler_and_both_texts(text, simulation, sentence):
    scheduler = Scheduler.parse(text)
    assert str(refusal(scheduler, **simulation)).startswith(f"{scheduler.text}: {sentence}")


POLICIES = ("saf", '"p*R+w"', "multifactor(age=1)")
BACKFILLS = ("", "+easy", "+conservative", "+slurm")
RUNTIMES = ("", "@actual", "@ave2", "@@")
OPTIONS = ("", ",window=3", ",starvation=60", ",requests=classic", ",window=2,starvation=9,requests=given")


@pytest.mark.parametrize(("events", "backfills"), [("batched", BACKFILLS), ("pyss", BACKFILLS[:3])])
def test_everything_else_goes_together(events, backfills):
    for policy, backfill, runtimes, options in itertools.product(POLICIES, backfills, RUNTIMES, OPTIONS):
        if backfill == "+slurm" and ("window" in options or "starvation" in options):
            continue
        separate = runtimes == "@@" and backfill
        text = f"{policy}@ave2{backfill}@actual" if separate else f"{policy}{backfill}{runtimes.replace('@@', '')}"
        scheduler = Scheduler.parse(text + options)
        assert refusal(scheduler, events=events, in_order=3, dependencies=True) is None


def test_the_original_of_sc17_knows_its_own_options():
    for text in ("saf", "wfp3+easy@actual,window=32,start_delay=0.0026"):
        assert refusal(Scheduler.parse(text), events="sc17", in_order=16) is None
