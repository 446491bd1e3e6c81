"""Choices of `conformance/slurm-ways.json` on a real slurmctld: nodes of jobs by other ways than the usual one.

`python tests/slurm/ways_on_slurm.py` repeats them. They are like those of `consecutive_on_slurm.py`, with
pack_serial_at_end, CR_LLN or LLN=YES of the partition, some under switches.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from consecutive_on_slurm import configuration_of, repeat_all

from schedlab.slurm.configuration import Configuration

CHOICES = Path(__file__).parents[2] / "conformance" / "slurm-ways.json"


def with_partition_and_switches(group: dict[str, Any]) -> Configuration:
    """Return the machine of a group."""
    made = configuration_of(group)
    lines = (f"{line} {group['partition']}" if line.startswith("PartitionName") else line for line in made.lines)
    made = replace(made, lines=tuple(lines))
    if not group["topology"]:
        return made
    topology = {"topology.conf": "\n".join([*group["topology"], ""])}
    return replace(made, files=topology).having(TopologyPlugin="topology/tree")


if __name__ == "__main__":
    repeat_all(CHOICES, with_partition_and_switches)
