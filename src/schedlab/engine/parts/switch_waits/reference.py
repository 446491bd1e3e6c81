"""Jobs that wait for few leaf switches in Slurm's passes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from schedlab.engine.machine.numbers import NodeInputs
from schedlab.engine.reference.job import Job
from schedlab.engine.reference.nodes import Request, shapes_of


@dataclass
class SwitchWaits:
    """The requests of all jobs, by option, of which those that wait for few switches change; none without inputs."""

    inputs: NodeInputs | None
    requests: list[list[Request]]
    shapes: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.inputs is not None and self.inputs.switch_waits is not None:
            self.shapes = shapes_of(self.inputs)

    def change(self, jobs: Iterable[Job], offsets: list[int], now: int | None) -> None:
        """Let jobs wait for few switches if their time is not over by now; None: outside the passes, none does."""
        if self.inputs is None or self.inputs.switch_waits is None:
            return
        wishes = self.inputs.switch_waits
        for job in jobs:
            wait = int(wishes.wait[job.number])
            if wait:
                job.picky = now is not None and now < job.submit + wait
                of_options = wishes.bound if job.picky else wishes.free
                shapes = of_options[offsets[job.number] : offsets[job.number + 1]].tolist()
                self.requests[job.number] = [self.shapes[shape] for shape in shapes]
