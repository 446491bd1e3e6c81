"""Nodes that are switched off when they have been idle for long: the same rules in plain Python."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from math import floor

from schedlab.engine.parts.power_saving.part import inputs_of
from schedlab.engine.prepared import Prepared
from schedlab.engine.reference.job import Job

UNIT = Fraction(1, 60 * 2**20)
"""Of nodes that are counted, parts of which are rounded down."""


class Rate:
    """How many nodes a minute may change: as many as there are tokens, at most a sixth of the rate, or one."""

    def __init__(self, nodes: int, begin: int) -> None:
        self.nodes, self.second = nodes, begin
        self.most = self.tokens = max(Fraction(nodes, 6), Fraction(1))

    def go_on(self) -> None:
        """Let a second pass."""
        self.second += 1
        self.tokens = min(self.tokens + Fraction(self.nodes, 60), self.most)

    def admits(self) -> bool:
        """Return whether one more node may change in this second."""
        return self.nodes == 0 or self.tokens >= 1

    def take(self) -> None:
        """Change a node in this second."""
        self.tokens -= 1

    def turn(self, second: int) -> int:
        """Return when the next node changes that may from a second on."""
        if self.nodes == 0:
            return second
        while self.second < second or not self.admits():
            self.go_on()
        self.take()
        return self.second


class OldRate(Rate):
    """The same in Slurm 22.05: a sixtieth of what was counted is forgotten each second."""

    def __init__(self, nodes: int, begin: int) -> None:
        super().__init__(nodes, begin)
        self.count = Fraction(0)

    def go_on(self) -> None:
        """Let a second pass."""
        self.second += 1
        self.count = floor(self.count * Fraction(59, 60) / UNIT) * UNIT

    def admits(self) -> bool:
        """Return whether one more node may change in this second: rounded to whole nodes, fewer than allowed have."""
        return self.nodes == 0 or floor(self.count + Fraction(1, 2)) < self.nodes

    def take(self) -> None:
        """Change a node in this second."""
        self.count += 1


class PowerSaving:
    """Which nodes are in use, since when the others are not, and when they have booted; nothing if none ever sleeps."""

    def __init__(self, prepared: Prepared) -> None:
        self.inputs, begin = inputs_of(prepared), int(prepared.jobs["submit"][0])
        self.users: dict[int, set[Job]] = {}
        self.ready: dict[int, int] = {}
        self.asleep: dict[int, int] = {}
        if self.inputs is not None:
            self.idle_since = dict.fromkeys(range(len(self.inputs.after)), begin)
            kind = OldRate if self.inputs.forgets_shares else Rate
            self.suspends, self.resumes = kind(self.inputs.suspend_rate, begin), kind(self.inputs.resume_rate, begin)

    def switch_off(self, now: int) -> None:
        """Switch nodes off that are due before now: second after second, the first nodes first, as the rate allows."""
        assert self.inputs is not None
        idle = [node for node in sorted(self.idle_since) if node not in self.asleep and not self.users.get(node)]
        due = {node: self.idle_since[node] + int(self.inputs.after[node]) for node in idle}
        if self.suspends.nodes == 0:
            self.asleep |= {node: second for node, second in due.items() if second < now}
            return
        while self.suspends.second < now:
            for node in idle:
                if node not in self.asleep and due[node] <= self.suspends.second and self.suspends.admits():
                    self.asleep[node] = self.suspends.turn(self.suspends.second)
            self.suspends.go_on()

    def off(self, now: int) -> set[int]:
        """Return the nodes that are switched off now."""
        if self.inputs is None:
            return set()
        self.switch_off(now)
        return set(self.asleep)

    def boot(self, job: Job, now: int) -> int:
        """Give a job its nodes; return when all of them have booted."""
        if self.inputs is None:
            return now
        self.switch_off(now)
        for node in sorted({piece.node for piece in job.pieces}):
            if node in self.asleep:
                is_off = self.asleep.pop(node) + self.inputs.shutdown
                self.ready[node] = max(self.resumes.turn(now), is_off) + self.inputs.boot
            self.users.setdefault(node, set()).add(job)
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
