"""What is fuzzed of clusters and sites: files of Slurm, clusters, node events, variants, agents, saved simulations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from mutators import harm_json, harm_parquet, harm_saved, harm_text
from target import Harm, Target

CLUSTER = """\
format = "schedlab cluster"
version = 1
name = "site"
[[groups]]
nodes = "n[1-4]"
cores = 8
memory = 16000
features = ["opa"]
switch = "a"
[[groups]]
nodes = "g[1-2]"
cores = 8
memory = 32000
gpus = { v100 = 2 }
switch = "b"
[[switches]]
name = "a"
parent = "top"
[[switches]]
name = "b"
parent = "top"
[[switches]]
name = "top"
[[partitions]]
name = "general"
default = true
max_time = "3d"
grace_time = "1m"
[[partitions]]
name = "urgent"
nodes = "n[1-4]"
priority_tier = 10
max_nodes = 2
qos = "high"
[preemption]
by = "partition"
mode = "requeue"
requeue_delay = 121
[[qos]]
name = "normal"
priority = 1
limits = { max_submit_per_user = 1000, max_tres_per_user = { cpu = 32, "gres/gpu" = 4 } }
[[qos]]
name = "high"
priority = 100
preempts = ["normal"]
limits = { max_jobs_per_user = 2, grp_tres = { cpu = 16 }, max_wall = "1-0" }
[[accounts]]
name = "physics"
shares = 20
limits = { grp_jobs = 3 }
[[accounts]]
name = "lasers"
parent = "physics"
shares = "parent"
[[users]]
user = "ann"
account = "lasers"
default = true
qos = ["normal", "high"]
limits = { max_jobs = 2 }
"""
NODE_EVENTS = (
    "second,event,nodes,end,announced,gpus,name,users,accounts\n600,down,n[1-2],,,,,,\n900,up,n1,,,,,,\n"
    '1000,drain,g1,,,,,,\n1800,maintenance,n[3-4],3600,1200,,,,\n4000,up,"n2,g1",,,,,,\n'
    '4100,gpu-down,g1,,,0-1,,,\n4200,gpu-up,g1,,,"0,1",,,\n5000,reservation,n[1-2],6000,,,course,"ann,bob",\n'
)
RESERVATIONS = """\
ReservationName=course StartTime=2026-01-05T09:00:00 EndTime=2026-01-05T12:00:00 Duration=03:00:00
   Nodes=n[1-2] NodeCnt=2 CoreCnt=8 Features=(null) PartitionName=(null) Flags=SPEC_NODES
   TRES=cpu=8
   Users=ann,bob Groups=(null) Accounts=(null) Licenses=(null) State=INACTIVE BurstBuffer=(null) Watts=n/a
   MaxStartDelay=(null)
"""
SLURM_CONF = """\
ClusterName=site
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=60,bf_window=4320,bf_continue,\\
default_queue_depth=50,bf_max_job_user=5
PriorityType=priority/multifactor
PriorityDecayHalfLife=7-0
PriorityWeightAge=100
PriorityWeightFairshare=1000
PriorityWeightJobSize=50
PriorityWeightPartition=10
PriorityWeightQOS=500
PriorityMaxAge=7-0
PreemptType=preempt/qos
PreemptMode=REQUEUE
PreemptExemptTime=00:10:00
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits,qos
TopologyPlugin=topology/tree
GresTypes=gpu
Licenses=matlab:4
OverTimeLimit=1
NodeName=DEFAULT RealMemory=16000
NodeName=n[1-4] CPUs=8 Feature=opa
NodeName=g[1-2] Sockets=2 CoresPerSocket=4 ThreadsPerCore=1 Gres=gpu:v100:2 Weight=5
PartitionName=DEFAULT MaxTime=3-0 State=UP
PartitionName=general Nodes=ALL Default=YES GraceTime=60
PartitionName=urgent Nodes=n[1-4] PriorityTier=10 MaxNodes=2 QOS=high \\
AllowAccounts=physics,lasers OverSubscribe=EXCLUSIVE
"""
GRES_CONF = "NodeName=g[1-2] Name=gpu Type=v100 File=/dev/nvidia[0-1] Cores=0-7\n"
TOPOLOGY = "SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=g[1-2]\nSwitchName=top Switches=a,b\n"
TOPOLOGY_YAML = """\
- topology: halls
  cluster_default: true
  tree:
    switches:
      - switch: a
        nodes: n[1-4]
      - switch: b
        nodes: g[1-2]
      - switch: top
        children: a,b
- topology: islands
  block:
    block_sizes: [2]
    blocks:
      - block: left
        nodes: n[1-4]
"""
SCRIPT = """\
# accounts
modify QOS set normal Priority=1
add QOS Name=high Priority=100 Preempt=normal GrpTRES=cpu=16 MaxJobsPerUser=2 GraceTime=60
add cluster Name=site Fairshare=1 QOS=normal,high
add account name=physics Fairshare=100 MaxJobs=7
add account name=lasers Parent=physics Fairshare=20
add user name=ann DefaultAccount=lasers Fairshare=parent MaxSubmitJobs=10 AdminLevel=Operator
add user name=bob DefaultAccount=physics
modify user name=bob set qos=normal
"""
DUMP = """\
Cluster - 'site':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'physics':Description='light: and heat':Organization='physics':GrpTRES=cpu=16:MaxWallDurationPerJob=600
Parent - 'physics'
User - 'ann':DefaultAccount='physics':Fairshare=3
"""
SACCT = (
    "JobIDRaw|JobID|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|TimelimitRaw|AllocCPUS|AllocNodes|"
    "ReqTRES|AllocTRES|Constraints|NodeList|Flags|Priority|Reason\n"
) + "".join(
    f"{number}|{number}|{user}|{account}|{partition}|normal|{state}|"
    f"2026-04-01T08:{number:02d}:00|2026-04-01T08:{number:02d}:00|"
    f"2026-04-01T08:{number + 3:02d}:00|2026-04-01T09:{number:02d}:00|{limit}|{cpus}|1|"
    f"cpu={cpus},mem=2G,node=1,billing=4|"
    f"cpu={cpus},mem=2G,node=1|{'opa' if number % 3 else ''}|n{1 + number % 4}|SchedBackfill|{1000 + number}|None\n"
    for number, (user, account, partition, state, limit, cpus) in enumerate(
        [("ann", "lasers", "general", "COMPLETED", 120, 4), ("bob", "physics", "urgent", "TIMEOUT", 60, 8)] * 5
        + [("ann", "lasers", "urgent", "CANCELLED by 7", 240, 2), ("bob", "physics", "general", "NODE_FAIL", 90, 8)],
        10,
    )
)
SINFO = """\
NODELIST|CPUS|MEMORY|GRES|AVAIL_FEATURES|WEIGHT|S:C:T|PARTITION|TIMELIMIT|STATE
n1|12|48000|(null)|ib,slow|2|2:6:1|batch*|1-12:00:00|idle
n2|12|48000|(null)|ib,slow|2|2:6:1|debug|30:00|drain*
g1|24|96000|gpu:a100:4(S:0-1),gpu:v100:1,lustre:1|(null)|1|2:6:2|batch*|1-12:00:00|mix
"""
MACHINES = "# id name nodes cores speed memory\n0 node 4 8 1.0 16777216\n1 fat 2 16 2 33554432\n"
NODE_LIST = "sn,cpu_milli,memory_mib,gpu,model\na,32000,262144,2,P100\nb,96000,524288,0,\n"
VARIANTS = """\
[[variant]]
name = "two days"
set = ["PartitionName=general MaxTime=2-0", "NodeName=n[5-6] CPUs=8", "SwitchName=a Nodes=n[1-6]"]
[[variant]]
name = "saf"
policy = "saf"
load = 1.1
[over]
"SchedulerParameters.bf_interval" = [30, 60]
"""
DEFINITION = """name = "clusters"
seed = 3
schedulers = { today = "fcfs+slurm", saf = "saf+easy" }
[metrics]
main = "mean_wait"
[[workloads]]
trace = "log.swf"
"""

SIMULATE = "simulate DIR/on-nodes.parquet --clean none"


def cluster_targets(directory: Path) -> list[Target]:
    """Write sound files of clusters and sites into a directory, and return what is fuzzed."""
    conf = directory / "conf"
    conf.mkdir(parents=True, exist_ok=True)
    parts = {"slurm.conf": SLURM_CONF, "gres.conf": GRES_CONF, "topology.conf": TOPOLOGY, "accounts.script": SCRIPT}
    for name, text in {**parts, "../sacct-site.txt": SACCT, "../rich.toml": CLUSTER}.items():
        (conf / name).write_text(text)
    _make(directory)
    reads = (
        "cluster show conf",
        "site import --conf conf --sacct DIR/sacct-site.txt -o out",
        f"{SIMULATE} --cluster conf",
    )
    shows = ("cluster show FILE --ignored", "cluster convert FILE -o out.toml")
    replays = ("site show site", "site calibrate site", "site what-if site --policy saf -j 1")
    asks = (
        "site explain site",
        "site months site --by day",
        "site maintenance site --hours 0.01 --every 5min -j 1",
        "site capacity site --until mean_wait=1h --most 2 -j 1",
        "site anonymise site -o copy",
    )
    simulates = tuple(
        f"{SIMULATE} --cluster FILE -s {text}" for text in ("saf+easy", "fcfs+slurm", "fcfs+conservative")
    )

    def text(name: str, file: str, sound: str, *commands: str, harm: Harm = harm_text) -> Target:
        return Target(name, file, sound.encode(), harm, commands, how="plain")

    def stored(name: str, file: str, harm: Harm, *commands: str, seal: Callable[[bytes], bytes] = bytes) -> Target:
        return Target(name, file, (directory / file).read_bytes(), harm, commands, seal, how="plain")

    return [
        *(text(f"site's {name}", f"conf/{name}", sound, *reads) for name, sound in parts.items()),
        text("topology.yaml", "conf/topology.yaml", TOPOLOGY_YAML, *reads),
        text("site without a configuration", "alone.txt", SACCT, "site import --sacct FILE -o out"),
        text("sacctmgr dump", "conf/accounts.script", DUMP, *reads[:2]),
        text("rich cluster", "rich.toml", CLUSTER, *shows, *simulates),
        stored("cluster json", "rich.json", harm_json, *shows, *simulates),
        text("node events", "events.csv", NODE_EVENTS, *(f"{one} --node-events FILE" for one in _on("DIR/rich.toml"))),
        text("reservations", "reservations.txt", RESERVATIONS, "cluster reservations FILE --epoch 0 -o out.csv"),
        text("site's sacct", "sacct-site.txt", SACCT, "site import --conf DIR/conf --sacct FILE -o out --ledger"),
        text("sinfo", "site.sinfo", SINFO, *shows),
        text("machines", "site.machines", MACHINES, *shows),
        text("node list", "nodes.csv", NODE_LIST, *shows),
        text("variants", "variants.toml", VARIANTS, "site what-if DIR/site --variants FILE -j 1"),
        *(
            stored(f"site's {file}", f"site/{file}", harm_json, *replays)
            for file in ("site.json", "cluster.json", "ledger.json")
        ),
        stored("site's jobs", "site/jobs.parquet", harm_parquet, *replays, *asks),
        text("site's changed events", "changed.csv", NODE_EVENTS, "site what-if DIR/site --node-events FILE -j 1"),
        text(
            "site's conf",
            "site/conf/slurm.conf",
            SLURM_CONF,
            replays[0],
            "site what-if site --set PriorityMaxAge=1-0 -j 1",
        ),
        text("change", "", "QOS=high MaxJobsPerUser=2", "site what-if DIR/site -j 1 --set TEXT"),
        text("axis", "", "SchedulerParameters.bf_interval=30,60", "site what-if DIR/site -j 1 --over TEXT"),
        stored("agent", "agent.json", harm_json, "agent show FILE", "simulate DIR/log.swf -s @agent:FILE"),
        stored("saved simulation", "standing.sim", harm_saved, "resume FILE"),
        text(
            "scheduler on nodes",
            "",
            "multifactor(age=100,size=10)+slurm(interval=60)",
            f"{SIMULATE} --cluster DIR/rich.toml -s TEXT",
        ),
    ]


def _on(machine: str) -> tuple[str, ...]:
    return tuple(
        f"{SIMULATE} --cluster {machine} -s {text} --interrupted {fate}"
        for text, fate in (("fcfs+easy", "requeue"), ("saf+slurm", "lost"), ("fcfs+conservative", "requeue"))
    )


def _make(directory: Path) -> None:
    """Have schedlab make what only schedlab makes: a site, jobs on its nodes, an agent, a simulation that stands."""
    from schedlab.cluster.files import read_cluster, write_cluster
    from schedlab.engine.steps.stepwise import Simulation
    from schedlab.scheduler.agent_file import AgentFile
    from schedlab.scheduler.agent_network import INPUTS, Network
    from schedlab.site import import_site
    from schedlab.workload.files import write_workload

    site = import_site(directory / "conf", directory / "sacct-site.txt")
    site.save(directory / "site")
    write_workload(site.jobs, directory / "on-nodes.parquet")
    write_cluster(read_cluster(directory / "rich.toml"), directory / "rich.json")
    shortest = np.zeros((len(INPUTS), 1), np.float32)
    shortest[INPUTS.index("request")] = -1
    network = Network((shortest,), (np.zeros(1, np.float32),))
    AgentFile(network, longest=3600, slots=128).save(directory / "agent.json")
    standing = Simulation(site.jobs, "saf+easy", cluster=read_cluster(directory / "rich.toml"))
    standing.run(until=int(site.jobs.submit_time[6]))
    standing.save(directory / "standing.sim")
