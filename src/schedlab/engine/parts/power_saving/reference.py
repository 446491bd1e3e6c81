"""Nodes that are switched off when they have been idle for long: the same rules in plain Python."""

from __future__ import annotations

from bisect import bisect_left

from schedlab.engine.parts.power_saving.part import inputs_of
from schedlab.engine.prepared import Prepared
from schedlab.engine.reference.job import Job


class PowerSaving:
    """Which nodes are in use, since when the others are not, and when they have booted; nothing if none ever sleeps."""

    def __init__(self, prepared: Prepared) -> None:
        self.inputs, self.begin = inputs_of(prepared), int(prepared.jobs["submit"][0])
        self.users: dict[int, set[Job]] = {}
        self.idle_since: dict[int, int] = {}
        self.ready: dict[int, int] = {}

    def boot(self, job: Job, now: int) -> int:
        """Give a job its nodes; return when all of them have booted."""
        if self.inputs is None:
            return now
        for node in {piece.node for piece in job.pieces}:
            if not self.users.setdefault(node, set()):
                off = self.idle_since.get(node, self.begin) + int(self.inputs.after[node])
                if now > off:
                    self.ready[node] = max(now, off + self.inputs.shutdown) + self.inputs.boot
            self.users[node].add(job)
        booted = max([now, *(self.ready.get(piece.node, now) for piece in job.pieces)])
        if booted == now:
            return now
        looks = range(self.inputs.origin % self.inputs.looks, booted + self.inputs.looks, self.inputs.looks)
        return looks[bisect_left(looks, booted)]

    def leave(self, job: Job, now: int) -> None:
        """Take a job off its nodes."""
        if self.inputs is not None:
            for node in {piece.node for piece in job.pieces}:
                self.users[node].remove(job)
                if not self.users[node]:
                    self.idle_since[node] = now
