"""What is fuzzed: for each kind of input a sound example, how it is harmed, and the command lines that read it."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from mutators import TEXTS, harm_gzip, harm_json, harm_parquet, harm_text

Harm = Callable[[bytes, random.Random], bytes]

SWF = """; Version: 2.2
; MaxProcs: 16
; UnixStartTime: 1000000000
1 0 10 100 4 90.5 -1 4 200 -1 1 1 1 1 1 1 -1 -1
2 30 0 50 2 -1 512 2 60 1024 1 2 1 3 1 1 -1 -1
3 45 5 300 16 280 -1 16 600 -1 0 1 2 1 2 1 1 20
4 45 100 1 1 -1 -1 1 60 -1 5 3 1 2 1 2 -1 -1
"""
CSV = "submit_time,run_time,requested_processors,requested_time,user_id\n0,60,2,100,1\n5,30,1,60,2\n9,40,4,,1\n"
SACCT = """JobID|State|Submit|Start|End|AllocCPUS|Timelimit|User|Account|Partition|ReqMem
101|COMPLETED|2026-04-01T08:00:00|2026-04-01T08:05:00|2026-04-01T09:05:00|4|02:00:00|ann|physics|batch|4G
102|FAILED|2026-04-01T08:01:00|2026-04-01T08:06:00|2026-04-01T08:16:00|8|1-00:00:00|bob|chem|batch|2000M
103|TIMEOUT|2026-04-01T08:02:00|2026-04-01T08:07:00|2026-04-01T09:07:00|2|01:00:00|ann|physics|gpu|1Gc
"""
TORQUE = (
    "04/01/2026 11:05:00;E;7.head;user=ann group=phys queue=batch ctime=1775037600 start=1775037900 "
    "exec_host=n1/0+n1/1 Resource_List.walltime=02:00:00 end=1775041500 Exit_status=0 resources_used.cput=00:50:00 "
    "resources_used.mem=512kb\n"
    "04/01/2026 11:06:00;S;8.head;user=bob\n"
    "04/01/2026 12:05:00;E;8.head;user=bob group=chem queue=long ctime=1775037660 start=1775037960 exec_host=n2/0-3 "
    "Resource_List.walltime=3600 end=1775041560 Exit_status=271\n"
)
_MOAB_CELLS = {
    2: "1:1",
    3: "job",
    5: "JOBEND",
    7: "4",
    8: "ann",
    9: "phys",
    10: "3600",
    11: "Completed",
    12: "[batch:1]",
}
_MOAB_CELLS |= {16: "1775041500", 25: "4", 29: "acct", 30: "run.sh", 34: "all", 35: "1"}


def _moab(job: int, submit: int) -> str:
    cells = {1: "08:00:00", 4: str(job), 13: str(submit), 15: str(submit + 300), 16: str(submit + 3_900)}
    return " ".join((_MOAB_CELLS | cells).get(place, "-") for place in range(1, 40)).replace("1775041500", "-")


MOAB = "VERSION 600\n" + "\n".join(_moab(100 + n, 1_775_037_600 + 60 * n) for n in range(3)) + "\n"
BATSIM = {
    "nb_res": 4,
    "jobs": [
        {"id": "w0!0", "subtime": 10, "res": 2, "profile": "nap", "walltime": 60},
        {"id": "w0!1", "subtime": 11.5, "res": 1, "profile": "nap"},
    ],
    "profiles": {"nap": {"type": "DelayProfile", "delay": 20.25}},
}
DAX = (
    '<?xml version="1.0"?><adag xmlns="x"><job id="a" name="cut" runtime="1.5" cores="2"/><job id="b" runtime="2">'
    '<profile namespace="pegasus" key="runtime">7</profile></job><child ref="b"><parent ref="a"/></child></adag>'
)
MANIFEST = {
    "tasks": [
        {"id": "a", "number_of_cores": 2, "runtime_sim": 60, "runtime_limit": 90},
        {"id": "b", "cores": 1, "rtime": 30, "deps": ["a"]},
    ],
    "dot_dag": 'digraph { "a" -> "b" [color=red]; }',
    "max_cores": 2,
    "total_runtime": 90,
}
LAWS = '[[application]]\nlaw = "truncnorm(0h,2h,mu=1h,sigma=30min)"\nuser = [1, 2]\nrequests = "1h, 2h"\n'
RUNS = "run,seconds\n1,3600\n2,5400\n3,2h\n4,90min\n5,4000\n6,4100\n7,4200\n8,4300\n9,4400\n10,4500\n"
CAMPAIGN = """name = "small"
description = "a test"
seed = 3
schedulers = ["fcfs", {policy = ["saf", "fcfs"], backfill = "easy", starvation = [3600]}]
baseline = "fcfs"
timeout = "10 min"
[metrics]
warm_up = 0.1
main = "mean_wait"
[[workloads]]
generate = "lublin"
jobs = 20
processors = 16
load = [0.7, 0.9]
repetitions = 3
[[workloads]]
trace = "log.swf"
windows = {length = "1h", count = 1}
"""
QUESTIONS = "user_id,processors,requested_time,submit_time\n7,4,3600,2000000000\n8,2,60,2000000001\n"
JSON_QUESTIONS = '{"user_id": 7, "processors": 4, "requested_time": 3600}\n{"processors": 1, "requested_time": 60}\n'
POLICY = {"version": 1, "formula": "p*q + 850*log10(r)", "coefficients": {"c1": 0.5}, "training": {"seed": 1}}


@dataclass(frozen=True)
class Target:
    """A kind of input.

    Parameters
    ----------
    name
        Of the kind.
    file
        What the file is called; empty if the input is a word of the command line.
    sound
        Its content, which every command accepts.
    harm
        How it is harmed.
    commands
        Command lines that read it; FILE stands for it, DIR for the directory with sound files of all kinds.
    seal
        Makes checksums right again that harm has made wrong.
    """

    name: str
    file: str
    sound: bytes
    harm: Harm
    commands: tuple[str, ...]
    seal: Callable[[bytes], bytes] = bytes


READS_JOBS = (
    "inspect FILE",
    "simulate FILE --processors 64 --clean default",
    "convert FILE out.swf",
    "convert FILE o.parquet",
)


def targets(directory: Path) -> list[Target]:
    """Write sound files of all kinds into a directory, and return what is fuzzed."""
    text = _text_targets()
    made = [*text, *_made(directory)]
    for target in made:
        place = directory / target.file
        place.parent.mkdir(parents=True, exist_ok=True)
        if target.file:
            place.write_bytes(target.sound)
    return made


def _text_targets() -> list[Target]:
    show = (
        "workflow show FILE",
        "workflow submit FILE --into DIR/log.swf -o o.parquet",
        "workflow convert FILE out.json",
    )
    swf, csv = SWF.encode(), CSV.encode()
    return [
        Target(
            "swf", "log.swf", swf, harm_text, (*READS_JOBS, "simulate FILE -s saf+easy@ave2 --dependencies preceding")
        ),
        Target("swf.gz", "log.swf.gz", gzip.compress(swf), harm_gzip, ("inspect FILE",)),
        Target("csv", "log.csv", csv, harm_text, READS_JOBS),
        Target("csv.gz", "log.csv.gz", gzip.compress(csv), harm_gzip, ("inspect FILE --processors 8",)),
        Target("batsim", "jobs.json", json.dumps(BATSIM).encode(), harm_json, READS_JOBS),
        Target("batsim.gz", "jobs.json.gz", gzip.compress(json.dumps(BATSIM).encode()), harm_gzip, ("inspect FILE",)),
        Target("sacct", "sacct.txt", SACCT.encode(), harm_text, READS_JOBS),
        Target("torque", "20260401", TORQUE.encode(), harm_text, READS_JOBS),
        Target("moab", "events.log", MOAB.encode(), harm_text, READS_JOBS),
        Target("dax", "flow.dax", DAX.encode(), harm_text, show),
        Target("dax.gz", "flow.dax.gz", gzip.compress(DAX.encode()), harm_gzip, ("workflow show FILE",)),
        Target("manifest", "flow.json", json.dumps(MANIFEST).encode(), harm_json, show),
        Target("laws", "laws.toml", LAWS.encode(), harm_text, ("simulate DIR/log.swf --laws FILE --requests given",)),
        Target("runs", "runs.csv", RUNS.encode(), harm_text, ("requests --from-runs FILE --column seconds",)),
        Target("campaign", "small.toml", CAMPAIGN.encode(), harm_text, ("campaign plan FILE",)),
        Target(
            "policy", "policy.json", json.dumps(POLICY).encode(), harm_json, ("simulate DIR/log.swf -s @FILE+easy",)
        ),
        Target("jobs", "ask.csv", QUESTIONS.encode(), harm_text, ("predict --load DIR/model.json --jobs FILE",)),
        Target(
            "json jobs", "ask.txt", JSON_QUESTIONS.encode(), harm_text, ("predict --load DIR/model.json --jobs FILE",)
        ),
        Target(
            "law",
            "",
            b"truncnorm(0h,20h,mu=8h,sigma=2h)",
            harm_text,
            ("requests TEXT",),
        ),
        Target(
            "scheduler",
            "",
            b"wfp3+easy:saf@ave2/incremental,starvation=3600",
            harm_text,
            ("simulate DIR/log.swf -s TEXT",),
        ),
        Target("formula", "", b'"(p*q + 850*log10(r)) / (w + 1)"+easy', harm_text, ("simulate DIR/log.swf -s TEXT",)),
        Target("name", "", b"DIR/log.swf", _harm_name, tuple(f"{verb} TEXT" for verb in NAMING)),
    ]


NAMING = (
    "inspect",
    "workflow show",
    "model show",
    "campaign status",
    "campaign plan",
    "analyse",
    "learn fit",
    "report",
)
NAMING += ("predict --jobs - --load", "requests --from-runs", "simulate DIR/log.swf --laws", "convert DIR/log.swf")


def _harm_name(content: bytes, rng: random.Random) -> bytes:
    """Return the name of something that is not a file of the kind, if it is one at all."""
    odd = [
        b"/dev/zero",
        b"/dev/null",
        b"/dev/full",
        b".",
        b"/",
        b"DIR",
        b"a" * 300,
        b"x/" * 2_100 + b"y",
        b"-",
        b"\xff.swf",
    ]
    odd += [b"/proc/self/mem", b"/proc/kmsg.swf", *(text.encode().replace(b"\0", b"") for text in TEXTS)]
    files = [
        b"DIR/sacct.txt",
        b"DIR/small",
        b"DIR/model.json",
        b"DIR/schedule.parquet",
        b"DIR/log.csv",
        b"DIR/flow.dax",
    ]
    return rng.choice(odd if rng.random() < 0.7 else files)


def _made(directory: Path) -> list[Target]:
    """Have schedlab make what only schedlab makes."""
    from campaign_runs import run_here
    from experiment_samples import model

    from schedlab.campaign.definition import Campaign
    from schedlab.engine.simulation import simulate
    from schedlab.learn.scores import ScoreTable
    from schedlab.predict.validation import validate
    from schedlab.workflow.files import read_workflow, write_workflow
    from schedlab.workload.files import read_workload, write_workload

    directory.mkdir(parents=True, exist_ok=True)
    (directory / "log.swf").write_text(SWF)
    (directory / "flow.dax").write_text(DAX)
    jobs = read_workload(directory / "log.swf")
    law = np.zeros(len(jobs), dtype=np.int64)
    write_workload(jobs.replace(law=law, laws=("uniform(0s,10min)",), sequences=("3min",)), directory / "log.parquet")
    simulate(jobs, "fcfs+easy").save(directory / "schedule.parquet")
    validate(jobs, "e-loss").model.save(directory / "model.json")
    model().save(directory / "site.json")
    write_workflow(read_workflow(directory / "flow.dax"), directory / "wf.json")
    numbers = np.arange(1, 9)
    shares = np.full(8, 0.25)
    ScoreTable(60 * numbers, numbers, 10 * numbers, shares, shares / 9, numbers, numbers // 5).save(
        directory / "s.parquet"
    )
    (directory / "s.csv").write_text("60,1,0,0.4\n120,2,10,0.6\n90,4,3,0.25\n70,2,9,0.75\n")
    workloads = [{"generate": "lublin", "jobs": 20, "processors": 16}]
    run = run_here(
        Campaign.model_validate({"name": "small", "schedulers": ["fcfs", "easy"], "workloads": workloads}),
        directory / "small",
    )
    task = run.plan.names[0].decode()[:12]
    failed = {
        "task": run.plan.names[0].decode(),
        "kind": "error",
        "reason": "rain",
        "traceback": "",
        "host": "h",
        "time": "t",
    }
    failed["specification"] = run.plan.task(0)[1].specification()
    reads = ("campaign status small", "campaign results small", "campaign reindex .", f"campaign task small {task}")

    def made(name: str, file: str, harm: Harm, *commands: str, seal: Callable[[bytes], bytes] = bytes) -> Target:
        return Target(name, file, (directory / file).read_bytes(), harm, commands, seal)

    result = run.files("results", ".parquet")[0]
    stored = f"small/failed/{'ab' * 16}-CHECKSUM.json"
    return [
        made("parquet", "log.parquet", harm_parquet, *READS_JOBS[:3], "simulate FILE -s easy --requests given"),
        made(
            "schedule", "schedule.parquet", harm_parquet, "analyse FILE", "workflow results FILE", "gantt FILE -o x.svg"
        ),
        made("prediction model", "model.json", harm_json, "predict --load FILE --jobs DIR/ask.csv", seal=_sealed_model),
        made("workload model", "site.json", harm_json, "model show FILE", "model scale FILE --processors 64 -o o.json"),
        made("wfformat", "wf.json", harm_json, "workflow show FILE", "workflow convert FILE out.json"),
        made("scores", "s.parquet", harm_parquet, "learn fit FILE"),
        made("csv scores", "s.csv", harm_text, "learn fit FILE"),
        made("campaign.json", "small/campaign.json", harm_json, *reads),
        Target(
            "results", f"small/results/{result.name[:32]}-CHECKSUM.parquet", result.read_bytes(), harm_parquet, reads
        ),
        Target("failures", stored, json.dumps([failed]).encode(), harm_json, reads),
        Target(
            "lock",
            "small/lock.json",
            b'{"host": "here", "pid": 7, "started": "x", "token": "ab"}',
            harm_json,
            reads[:1],
        ),
    ]


def _sealed_model(content: bytes) -> bytes:
    """Return a prediction model whose checksum is right, whatever it holds; as it is if it is not JSON."""
    try:
        document = json.loads(content)
        schema, _ = document.pop("schema"), document.pop("checksum")
        digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
        return json.dumps({"schema": schema, "checksum": digest, **document}).encode()
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return content
