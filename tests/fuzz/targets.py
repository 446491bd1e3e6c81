"""What is fuzzed: for each kind of input a sound example, how it is harmed, and the command lines that read it."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
from cluster_targets import cluster_targets
from mutators import TEXTS, harm_gzip, harm_json, harm_parquet, harm_text
from target import Harm, Target

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
SQUEUE = (
    "JOBID|USER|ACCOUNT|PARTITION|QOS|STATE|SUBMIT_TIME|START_TIME|TIME_LIMIT|CPUS|NODES|MIN_MEMORY|TRES_PER_NODE|"
    "FEATURES|NAME\n"
    "7|ann|ocean|gpu|high|RUNNING|2026-04-01T10:00:00|2026-04-01T10:05:00|2:00:00|4|1|8G|gres:gpu:a100:2|ib|run\n"
    "8|bob|ocean|cpu|(null)|PENDING|2026-04-01T10:01:00|N/A|UNLIMITED|64|2|2Gc|N/A|(null)|a\n"
)
SQUEUE_JSON = {
    "meta": {"Slurm": {"release": "24.05"}},
    "jobs": [
        {
            "job_id": 7,
            "user_name": "ann",
            "account": "ocean",
            "partition": "gpu",
            "qos": "high",
            "job_state": ["PENDING"],
            "submit_time": {"number": 1775037600, "set": True, "infinite": False},
            "start_time": {"number": 0, "set": True, "infinite": False},
            "time_limit": {"number": 120, "set": True, "infinite": False},
            "cpus": {"number": 4, "set": True, "infinite": False},
            "node_count": {"number": 1, "set": True, "infinite": False},
            "name": "run",
            "priority": {"number": 5, "set": True, "infinite": False},
            "array_job_id": {"number": 7, "set": True, "infinite": False},
            "array_task_string": "1-3%2",
            "dependency": "singleton(unfulfilled)",
        }
    ],
}
SCONTROL = (
    "JobId=7 ArrayJobId=7 ArrayTaskId=1-3%2 JobName=run\n   UserId=ann(1000) GroupId=g(1000)\n   Priority=5 QOS=high\n"
    "   JobState=PENDING Reason=Dependency Dependency=singleton(unfulfilled)\n   TimeLimit=02:00:00\n"
    "   SubmitTime=2026-04-01T10:00:00 EligibleTime=Unknown\n   StartTime=Unknown\n   Partition=gpu\n"
    "   NumNodes=1-1 NumCPUs=4 NumTasks=4 CPUs/Task=1\n   MinMemoryNode=2G\n   TresPerNode=gres/gpu:a100:2\n\n"
)
SACCT_JSON = {
    "jobs": [
        {
            "job_id": 7,
            "array": {"job_id": 7, "task_id": {"set": True, "number": 1}, "limits": {"max": {"running": {"tasks": 2}}}},
            "het": {"job_id": 0},
            "allocation_nodes": 1,
            "user": "ann",
            "partition": "gpu",
            "state": {"current": ["COMPLETED"]},
            "required": {"CPUs": 4, "memory_per_cpu": {"set": True, "number": 512}},
            "time": {
                "submission": 1775037600,
                "eligible": 1775037660,
                "start": 1775037700,
                "end": 1775041300,
                "elapsed": 3600,
                "limit": {"set": True, "number": 120},
                "total": {"seconds": 9, "microseconds": 5},
            },
            "tres": {"allocated": [{"type": "cpu", "name": "", "count": 4}], "requested": []},
        }
    ]
}
CONTROLLER = """\
[2026-06-01T01:00:00.148] _slurm_rpc_submit_batch_job: JobId=7 InitPrio=1975 usec=589
[2026-06-01T01:00:01.012] sched: Allocate JobId=7 NodeList=gpu[05-06] #CPUs=32 Partition=gpu
[2026-06-01T01:00:02.000] _slurm_rpc_submit_batch_job: JobId=8 InitPrio=1970 usec=589
[2026-06-01T01:00:30.000] sched/backfill: _start_job: Started JobId=8 in cpu on cpu1
[2026-06-01T01:01:01.607] _job_complete: JobId=7 WEXITSTATUS 0
[2026-06-01T01:01:01.607] _job_complete: JobId=7 done
"""
EVENTS = """\
# comment
-dt 0.00 -e submit_batch_job | -sim-walltime 60 --uid=ann -J a -N 1 -n 4 -t 5 -q high -p gpu --mem=2G x.job
-dt 11 -e submit_batch_job | -sim-walltime 0 --uid=ann -t 1:00:00 -N 2 --exclusive --gres=gpu:2 --constraint=ib
"""
POWER = """\
price = 0.25
currency = "EUR"
intensity = 380
pue = 1.3
base = 20
cap = 900
[[groups]]
idle = 117
busy = 358
cores = 16
"""
OPENB = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
    "a,3152,3600,1,230,,LS,Running,10,100,20\nb,8000,16384,2,1000,V100M16|V100M32,BE,Failed,11,50,11\n"
)
PHILLY = (
    "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,1,66.0,a\n2017-10-09 06:13:03,50,4,200,b\n"
)
GEN_PARALLEL = (
    "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n"
    "0,1,0,128,2,0,59.6,60,Pass\n1,7,8,0,2,30,9,0,Killed\n"
)
FOREIGN = (
    "who;created;began;done;cores;limit\nann;2026-04-01 10:00;2026-04-01 10:05;2026-04-01 11:05;4;1-0\n"
    "bob;2026-04-01T10:02:00+02:00;1775044100;1775045100;8;60\n"
)
MAPPING = " ".join(
    f"--column {pair}"
    for pair in ("user=who", "submit=created", "start=began", "end=done", "processors=cores", "requested_time=limit")
)
SLURM_CONF = """\
ClusterName=odd
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=bf_interval=60,\\
bf_window=4320
DefMemPerNode=500
NodeName=DEFAULT RealMemory=1000
NodeName=z[8-11] CPUs=8
NodeName=a9 Boards=2 SocketsPerBoard=2 CoresPerSocket=3 ThreadsPerCore=2 Weight=5 Feature=x,y
NodeName=g[01-02] Procs=8 Gres=gpu:a100:2(S:0-1),gpu:h100:1
PartitionName=p1 Nodes=z8 MaxTime=1-12 OverSubscribe=EXCLUSIVE DefMemPerCPU=3
PartitionName=p2 Nodes=ALL Default=YES MinNodes=2 MaxNodes=UNLIMITED PriorityTier=9
"""
CLUSTER = """\
format = "schedlab cluster"
version = 1
name = "site"
[[groups]]
nodes = "n[001-087]"
cores = 32
memory = 187000
features = ["opa"]
[[groups]]
nodes = "g[01-08]"
cores = 40
gpus = { v100 = 2 }
[[partitions]]
name = "general"
default = true
max_time = "3d"
[[qos]]
name = "normal"
limits = { max_submit_per_user = 1000, max_tres_per_user = { cpu = 512, "gres/gpu" = 4 } }
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
DISTRIBUTIONS = (
    '[[application]]\ndistribution = "truncnorm(0h,2h,mu=1h,sigma=30min)"\nuser = [1, 2]\nrequests = "1h, 2h"\n'
)
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


READS_JOBS = (
    "inspect FILE",
    "simulate FILE --processors 64 --clean default",
    "convert FILE out.swf",
    "convert FILE o.parquet",
)

READS_WAITING = ("inspect FILE --clean none", "convert FILE o.parquet", "convert FILE o.parquet --partition gpu")


def targets(directory: Path, *, plain: bool) -> list[Target]:
    """Write sound files of all kinds into a directory, and return what is fuzzed."""
    made = [*_text_targets(), *_made(directory)]
    if plain:
        made += cluster_targets(directory)
    for target in made:
        place = directory / target.file
        place.parent.mkdir(parents=True, exist_ok=True)
        if target.file:
            place.write_bytes(target.sound)
    return made


def _text_targets() -> list[Target]:
    show = (
        "workflow show FILE",
        "workflow submit DIR/log.swf FILE -o o.parquet",
        "workflow convert FILE -o out.json",
    )
    swf, csv = SWF.encode(), CSV.encode()
    return [
        Target(
            "swf", "log.swf", swf, harm_text, (*READS_JOBS, "simulate FILE -s saf+easy@ave2 --dependencies preceding")
        ),
        Target("swf.gz", "log.swf.gz", gzip.compress(swf), harm_gzip, ("inspect FILE",), how="compiled"),
        Target("csv", "log.csv", csv, harm_text, READS_JOBS),
        Target("csv.gz", "log.csv.gz", gzip.compress(csv), harm_gzip, ("inspect FILE --processors 8",), how="compiled"),
        Target("batsim", "jobs.json", json.dumps(BATSIM).encode(), harm_json, READS_JOBS),
        Target(
            "batsim.gz",
            "jobs.json.gz",
            gzip.compress(json.dumps(BATSIM).encode()),
            harm_gzip,
            ("inspect FILE",),
            how="compiled",
        ),
        Target("sacct", "sacct.txt", SACCT.encode(), harm_text, READS_JOBS),
        Target("torque", "20260401", TORQUE.encode(), harm_text, READS_JOBS),
        Target("moab", "events.log", MOAB.encode(), harm_text, READS_JOBS),
        Target("lenient swf", "bad.swf", swf, harm_text, ("inspect FILE --lenient", "simulate FILE --lenient")),
        Target("lenient csv", "bad.csv", csv, harm_text, ("inspect FILE --lenient --default-limit 8h",)),
        Target("lenient sacct", "bad.txt", SACCT.encode(), harm_text, ("convert FILE o.parquet --lenient",)),
        Target(
            "foreign csv",
            "foreign.csv",
            FOREIGN.encode(),
            harm_text,
            (f"convert FILE o.csv {MAPPING}", f"inspect FILE --lenient --timezone Europe/Stockholm {MAPPING}"),
        ),
        Target(
            "mapping",
            "",
            b"submit=created",
            harm_text,
            ("inspect DIR/foreign.csv --column processors=cores --column run_time=limit --column TEXT",),
        ),
        Target("default limit", "", b"1=2-0", harm_text, ("inspect DIR/log.swf --default-limit TEXT",)),
        Target("squeue", "now.txt", SQUEUE.encode(), harm_text, READS_WAITING),
        Target("shadow", "queue.json", json.dumps(SQUEUE_JSON).encode(), harm_json, ("slurm shadow p*q --queue FILE",)),
        Target("squeue json", "now.json", json.dumps(SQUEUE_JSON).encode(), harm_json, READS_WAITING),
        Target("scontrol", "now.txt", SCONTROL.encode(), harm_text, READS_WAITING),
        Target("sacct json", "sacct.json", json.dumps(SACCT_JSON).encode(), harm_json, READS_JOBS),
        Target("slurmctld", "slurmctld.log", CONTROLLER.encode(), harm_text, READS_JOBS),
        Target("events", "made.events", EVENTS.encode(), harm_text, READS_JOBS),
        Target("openb", "openb.csv", OPENB.encode(), harm_text, READS_JOBS),
        Target("philly", "philly.csv", PHILLY.encode(), harm_text, READS_JOBS),
        Target("gen parallel", "gen.csv", GEN_PARALLEL.encode(), harm_text, READS_JOBS),
        Target(
            "slurm.conf",
            "slurm.conf",
            SLURM_CONF.encode(),
            harm_text,
            ("cluster show FILE", "cluster convert FILE -o out.toml"),
        ),
        Target(
            "cluster",
            "site.toml",
            CLUSTER.encode(),
            harm_text,
            ("cluster show FILE",),
        ),
        Target("dax", "flow.dax", DAX.encode(), harm_text, show),
        Target(
            "dax.gz", "flow.dax.gz", gzip.compress(DAX.encode()), harm_gzip, ("workflow show FILE",), how="compiled"
        ),
        Target("manifest", "flow.json", json.dumps(MANIFEST).encode(), harm_json, show),
        Target(
            "distributions",
            "distributions.toml",
            DISTRIBUTIONS.encode(),
            harm_text,
            ("simulate DIR/log.swf --distributions FILE --requests given",),
        ),
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
            "distribution",
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
        Target("power", "power.toml", POWER.encode(), harm_text, ("energy DIR/log.swf --power FILE",)),
        Target("formula", "", b'"(p*q + 850*log10(r)) / (w + 1)"+easy', harm_text, ("simulate DIR/log.swf -s TEXT",)),
        Target("name", "", b"DIR/log.swf", _harm_name, tuple(f"{verb} TEXT" for verb in NAMING), how="compiled"),
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
NAMING += (
    "predict --jobs - --load",
    "requests --from-runs",
    "simulate DIR/log.swf --distributions",
    "convert DIR/log.swf",
)


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

    from schedlab.campaign.definition.campaign import Campaign
    from schedlab.engine.simulation import simulate
    from schedlab.learn.scores import ScoreTable
    from schedlab.predict.validation import validate
    from schedlab.workflow.files import read_workflow, write_workflow
    from schedlab.workload.files import read_workload, write_workload

    directory.mkdir(parents=True, exist_ok=True)
    (directory / "log.swf").write_text(SWF)
    (directory / "flow.dax").write_text(DAX)
    jobs = read_workload(directory / "log.swf")
    distribution = np.zeros(len(jobs), dtype=np.int64)
    write_workload(
        jobs.replace(distribution=distribution, distributions=("uniform(0s,10min)",), sequences=("3min",)),
        directory / "log.parquet",
    )
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
        made("schedule", "schedule.parquet", harm_parquet, "analyse FILE", "gantt FILE -o x.svg"),
        made("prediction model", "model.json", harm_json, "predict --load FILE --jobs DIR/ask.csv", seal=_sealed_model),
        made("workload model", "site.json", harm_json, "model show FILE", "model scale FILE --processors 64 -o o.json"),
        made("wfformat", "wf.json", harm_json, "workflow show FILE", "workflow convert FILE -o out.json"),
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
