"""Ten changes of a site, in the twin and on the real Slurm: `python benchmarks/site_changes.py archer2 --slurm 26.05`.

The files are ARCHER2's and Cirrus' own, as EPCC publishes them (templates are filled in), and hotep's (its partition
names nodes that it lacks), with fewer nodes: the real Slurm needs a minute of a core for a day of some hundred jobs.
The jobs are drawn to offer 90 % of the nodes' time.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from pathlib import Path

import numpy as np

from schedlab.cluster.slurm_releases import SlurmRelease
from schedlab.site.importing import import_site, site_of
from schedlab.site.jobs import completed
from schedlab.site.real_slurm import confirm
from schedlab.site.site import Site
from schedlab.site.slurm_release import with_release
from schedlab.site.variants import Variant
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.workload import Workload

TRACES = Path(os.environ.get("SCHEDLAB_TRACES", "../shared/traces"))
JOBS, LOAD, USERS, ACCOUNTS = 200, 0.9, 20, 5

ARCHER2_NODES = """
NodeName=nid[001-064] Sockets=2 CoresPerSocket=64 ThreadsPerCore=2 RealMemory=256000 Feature=COMPUTE,StandardMem \
Weight=500 Gres=archer2-node:1,compute-node:1
NodeName=nid[065-070] Sockets=2 CoresPerSocket=64 ThreadsPerCore=2 RealMemory=512000 Feature=COMPUTE,HighMem \
Weight=1000 Gres=archer2-node:1,compute-node:1
"""
CIRRUS_NODES = "r1i0n[0-35]"
HOTEP_NODES = "hotep[001-064]"
WHOLE = ("archer2", "hotep")
"""Sites whose jobs have whole nodes."""

CHANGES = {
    "passes every ten minutes": ["SchedulerParameters.bf_interval=600"],
    "a pass looks at 5 jobs": ["SchedulerParameters.bf_max_job_test=5"],
    "plans of one hour": ["SchedulerParameters.bf_window=60"],
    "a pass looks at one job of a user": ["SchedulerParameters.bf_max_job_user=1"],
    "no backfilling": ["SchedulerType=sched/builtin"],
    "large jobs first": ["PriorityWeightJobSize=100000"],
    "small jobs first": ["PriorityWeightJobSize=100000", "PriorityFavorSmall=YES"],
    "two jobs of a user at a time": ["QOS=standard MaxJobsPerUser=2"],
}


def configuration(site: str, directory: Path) -> None:
    """Write a site's files, with fewer nodes, and accounts."""
    text = (TRACES.parent / "slurm-sites" / ("unread" if site == "hotep" else "conf") / f"{site}.conf").read_text()
    if site == "hotep":
        text = re.sub(
            r"(?i)^(NodeName=hotep-login|PartitionName=login|NodeSet=)(.*\\\n)*.*\n", "", text, flags=re.MULTILINE
        )
        text = re.sub(r" NodeAddr=.*\\\n BcastAddr=.*\\\n", "", text).replace("hotep[001-100]", HOTEP_NODES)
        text = re.sub(r"(JobCompType|JobCompLoc)=.*\n", "", text).replace("Nodes=Compute", f"Nodes={HOTEP_NODES}")
        text = text.replace("OTHER_CONS_TRES,", "")  # which no version since 24.11 reads
    elif site == "archer2":
        text = re.sub(r"{% for.*?{% endfor %}", ARCHER2_NODES.replace("\\", r"\\"), text, flags=re.DOTALL)
        text = re.sub(r"{% if gres_types %}.*?{% else %}(.*?){% endif %}", r"\1", text, flags=re.DOTALL)
        text = text.replace("{{ cluster_name }}", "archer2")
        text = "\n".join(line for line in text.splitlines() if "{%" not in line and "{{" not in line)
    else:
        lines = []
        for line in text.splitlines():
            if line.startswith("NodeName=") and "r1i0n" not in line:
                continue
            of_partition = line.startswith("PartitionName=")
            if of_partition and not re.match("PartitionName=(standard|maintenance-all) ", line):
                continue
            lines.append(re.sub(r"Nodes=\S+", f"Nodes={CIRRUS_NODES}", line) if of_partition else line)
        text = "\n".join(lines)
    # Neither publishes its topology.conf, without which slurmctld does not start.
    (directory / "slurm.conf").write_text(re.sub(r"(?m)^TopologyPlugin.*$", "", text) + "\n")
    accounts = [
        "add cluster name=lab fairshare=1",
        "add qos name=standard priority=100",
        "add qos name=short priority=500",
    ]
    # Since 26.05, slurmctld does not start if a partition names a QOS that does not exist.
    named = {name for names in re.findall(r"(?i)\bAllowQOS=(\S+)", text) for name in names.split(",")}
    accounts += [f"add qos name={name}" for name in sorted(named - {"standard", "short", "ALL"})]
    accounts += [f"add account name=a{number} fairshare={number + 1}" for number in range(ACCOUNTS)]
    accounts += [
        f"add user name=u{user} DefaultAccount=a{user % ACCOUNTS} qos=standard,short DefaultQOS=standard"
        for user in range(USERS)
    ]
    (directory / "accounts.script").write_text("\n".join([*accounts, ""]))


def jobs_of(site: str, nodes: int, cores: int, rng: np.random.Generator) -> Workload:
    """Return jobs: sizes by powers of two, run times spread log-normally around ten minutes, requests beyond them."""
    whole = site in WHOLE
    sizes = 2 ** rng.integers(0, 6, JOBS) if whole else rng.choice([1, 2, 4, 9, 18, 36, 72, 144, 288], JOBS)
    run = np.ceil(rng.lognormal(np.log(600), 1.0, JOBS)).clip(30, 2 * 3600).astype(np.int64)
    limit = (-(-(run * rng.uniform(1.05, 4, JOBS)) // 300) * 300).clip(300, 8 * 3600).astype(np.int64)
    run = np.minimum(run, limit - 30)
    span = (run * sizes).sum() / (LOAD * (nodes if whole else nodes * cores))
    users = rng.zipf(1.6, JOBS) % USERS
    columns = {
        "submit_time": 3600 + np.sort(rng.uniform(0, span, JOBS)).astype(np.int64),
        "run_time": run,
        "requested_time": limit,
        "requested_processors": sizes,
        "user_id": users,
    }
    header = tuple(f" User: {number} u{number}" for number in range(USERS))
    jobs = Workload.from_columns(columns, header=header, processors=nodes * cores, name=site)
    qos = Labels.of(np.where((limit <= 900) & (rng.random(JOBS) < 0.3), "short", "standard").tolist())
    partition = Labels.of(["standard"] * JOBS)
    many = sizes if whole else np.where(sizes > cores, -(-sizes // cores), 0)
    # At hotep, DefMemPerCPU times the cores of a node is more than its memory: jobs have to ask for some.
    memory = np.full(JOBS, 100_000 if site == "hotep" else 0)
    asked = Resources.of(JOBS, tasks=sizes, nodes=many, memory_per_node=memory, qos=qos, partition=partition)
    return jobs.replace(resources=asked)


def site_with_jobs(name: str, directory: Path, seed: int, slurm: str) -> Site:
    """Return the site with jobs of the model, under a version of Slurm."""
    configuration(name, directory)
    empty = import_site(directory, slurm=slurm)
    nodes, cores = (64, 128) if name in WHOLE else (36, empty.cluster.groups[0].cores)
    jobs = completed(jobs_of(name, nodes, cores, np.random.default_rng(seed)), empty.cluster).jobs
    return with_release(site_of(directory / "slurm.conf", jobs, ()), SlurmRelease.given(slurm))


def variants(name: str) -> list[Variant]:
    """Return ten changes."""
    found = [Variant(text, tuple(changes)) for text, changes in CHANGES.items()]
    return [*found, Variant("SAF by Lua", policy="saf"), Variant("a tenth more work", load=1.1)]


def main() -> None:
    """Run a site, and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", choices=("archer2", "cirrus", "hotep"))
    parser.add_argument("--slurm", default="22.05", help="the version that runs, and whose rules the twin follows")
    parser.add_argument("--phases", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, default=10)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        site = site_with_jobs(asked.site, Path(place), asked.seed, asked.slurm)
        print(site)
        found = confirm(
            site, variants(asked.site)[: asked.only], phases=asked.phases, seed=asked.seed, slurm=asked.slurm
        )
    for note in found.notes:
        print(note)
    print(found)


if __name__ == "__main__":
    main()
