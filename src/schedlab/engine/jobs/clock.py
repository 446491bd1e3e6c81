"""What stands where in the clock of a simulation: below its state and its parts, which both read it."""

from __future__ import annotations

# Positions in State.clock.
NOW = 0
FREE = 1  # processors that the scheduler believes to be free
SUBMITTED = 2  # jobs submitted so far; also the next one to be submitted
STARTED = 3  # runs started so far
ARRIVED = 4  # jobs that the last event submitted ...
COMPLETED = 5  # ... and runs that it ended, completed or broken off
WAITING = 6  # jobs waiting, visible to the scheduler or not
CORRECTED = 7  # predictions that were corrected just before the next pass
WATCHED = 8  # 1 if predictions may expire
ENTERING = 9  # jobs that enter the queue at this event
ENTRIES = 10  # entries into the queue so far
STAGE = 11  # the stage of the current event: the stages of `schedlab.engine.loop`
HEAD = 12  # the head of the queue at the end of the last pass of no or EASY backfilling ...
LEFT = 13  # ... and the processors that it left free; UNKNOWN if the next pass cannot use this
BLAMED = 14  # a job whose score is not a number, or at which a pass of one's own failed: the loop stops
CHANGES = 15  # what else the last event has changed: the bits below
TICK = 16  # seconds until the end of a run is noticed
MADE_READY = 17  # jobs that wait for no other any more since the last event
RETURNED = 18  # of those that enter, jobs that were requeued and may begin again
EXEMPTION_ENDED = 19  # 1 if a run may be preempted from the last event on
CLOCK_SIZE = 20

# Bits of State.clock[CHANGES].
CLOSURES_CHANGED = 1  # announced closures have begun or ended
MACHINE_CHANGED = 2  # nodes have left or returned, a closure was announced, a reservation began or ended, a cap stepped
QUEUE_CHANGED = 4  # jobs have left the queue without starting
