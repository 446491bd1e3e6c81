"""Speculative runs in the gaps that Slurm's backfill pass leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.reference.job import Job
from schedlab.engine.reference.nodes import Part
from schedlab.engine.reference.profile import Profile

if TYPE_CHECKING:
    from schedlab.engine.reference.slurm_pass import SlurmPass


def use_gaps(passes: SlurmPass, profile: Profile, begins: dict[Job, int]) -> None:
    """Run jobs speculatively before their own reservations and beside those of others."""
    clock, now = passes.clock, passes.clock.now
    while clock.free() > 0:
        lengths, places = dict[Job, int](), dict[Job, list[Part]]()
        for job in [job for job in begins if job in clock.waiting and clock.admitted(job)]:
            end = profile.room_until(job, now, min(begins[job], clock.outages.next_closing(now) or begins[job]))
            parts = clock.view().lesser(profile.throughout(now, end)).place(job) if end > now else None
            if parts is not None:
                lengths[job], places[job] = end - now, parts
        chosen = clock.speculate(lengths, places)
        if chosen is None:
            return
        profile.take(now, chosen.expected_end, chosen.parts)
