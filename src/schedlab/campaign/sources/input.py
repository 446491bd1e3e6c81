"""One source of the workloads of a campaign, and what is known of it before anything runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from schedlab.arguments import explained
from schedlab.campaign.sources.machine import NO_MACHINE, MachineFiles
from schedlab.speculate.assignment import beyond_text
from schedlab.wording import count_of


@dataclass(frozen=True, slots=True)
class Input:
    """One source of workloads and what is known of it.

    Parameters
    ----------
    workload
        How results call it.
    entry
        Position of the entry in the campaign that it belongs to.
    path, sha256
        The file and its fingerprint; empty for a model.
    jobs
        How many there are, after cleaning.
    processors
        Size of the machine.
    windows
        How many windows are cut from it, before some are skipped; 0 if it is simulated whole.
    distributions, distributions_sha256
        The file that gives its jobs distributions, and its fingerprint; empty without one.
    with_distribution, beyond_distribution
        How many jobs have a distribution, and how many of them run longer than it allows.
    variant
        Which of the variants of its entry it is, of an experiment.
    label
        What the variants with other submission modes are called, too.
    files
        Other files and their fingerprints: those of workflows.
    machine
        The files of the cluster, if there is one.
    left_out
        Jobs of a log that can never run on the cluster.
    """

    workload: str
    entry: int
    path: str
    sha256: str
    jobs: int
    processors: int
    windows: int
    distributions: str = ""
    distributions_sha256: str = ""
    with_distribution: int = 0
    beyond_distribution: int = 0
    variant: int = 0
    label: str = ""
    files: tuple[tuple[str, str], ...] = ()
    machine: MachineFiles = NO_MACHINE
    left_out: int = 0

    @property
    def warning(self) -> str:
        """Sentences about jobs that are left out or run longer than their distribution allows; empty without any."""
        never = f"{self.workload}: {count_of(self.left_out, 'job')} that can never run on the cluster left out"
        told = [never] if self.left_out else []
        beyond = beyond_text(self.workload, self.beyond_distribution, self.with_distribution)
        return "; ".join([*told, *([beyond] if beyond else [])])

    @classmethod
    @explained
    def from_dict(cls, facts: dict[str, Any]) -> Input:
        """Return the input that `to_dict` gave, also by way of JSON."""
        files = tuple((str(path), str(sha256)) for path, sha256 in facts.get("files", ()))
        return cls(**{**facts, "files": files, "machine": MachineFiles(*facts.get("machine", ()))})

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as a dictionary."""
        return asdict(self)
