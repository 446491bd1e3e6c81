"""A small site and what Slurm's programs would print of it, for the tests of `schedlab when --site`."""

from __future__ import annotations

from pathlib import Path

import schedlab as sl
from schedlab.when.snapshots import SnapshotFiles

CONF = """
ClusterName=lab
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=30
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightJobSize=100
NodeName=n[1-4] CPUs=8
PartitionName=batch Nodes=n[1-4] Default=YES MaxTime=1-0
"""

# Unix time 1775037600 is 2026-04-01 10:00 UTC.
MOMENT = 1_775_037_600

HEADER = "JOBID|USER|PARTITION|STATE|SUBMIT_TIME|START_TIME|TIME_LIMIT|CPUS|NODES|REASON|DEPENDENCY|PRIORITY|NODELIST"
QUEUE = f"""{HEADER}
7|ann|batch|RUNNING|2026-04-01T09:00:00|2026-04-01T09:10:00|2:00:00|16|2|None|(null)|500|n[2-3]
8|bob|batch|RUNNING|2026-04-01T09:00:00|2026-04-01T09:30:00|1:00:00|8|1|None|(null)|500|n1
9|ann|batch|PENDING|2026-04-01T09:40:00|N/A|1:00:00|32|4|Resources|(null)|300|
10|bob|batch|PENDING|2026-04-01T09:50:00|N/A|30:00|8|1|Priority|(null)|200|
11|eve|batch|PENDING|2026-04-01T09:50:00|N/A|30:00|8|1|JobHeldUser|(null)|0|
"""

NODES = "".join(
    f"NodeName=n{place} Arch=x86_64\n   CPUTot=8\n   State=ALLOCATED ThreadsPerCore=1\n" for place in (1, 2, 3, 4)
)
RESERVATIONS = "No reservations in the system\n"
SSHARE = "Account|User|RawUsage\nroot||9000\n"


def small_site(directory: Path) -> sl.site.Site:
    """Return the site, without accounting."""
    (directory / "slurm.conf").write_text(CONF)
    return sl.site.import_site(directory / "slurm.conf")


def printed(directory: Path, queue: str = QUEUE, nodes: str = NODES, reservations: str = RESERVATIONS) -> SnapshotFiles:
    """Write what Slurm's programs print, and return the files."""
    texts = {"squeue": queue, "nodes": nodes, "reservations": reservations, "sshare": SSHARE}
    for name, text in texts.items():
        (directory / name).write_text(text)
    return SnapshotFiles(**{name: directory / name for name in texts})
