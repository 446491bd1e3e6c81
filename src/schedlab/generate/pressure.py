"""Job pressure: the work that has been submitted, against what the machine could have done meanwhile."""

from __future__ import annotations

from collections import deque

WINDOW = 3600
"""Seconds: the upper limit does not judge shorter times, and ScSF's lower limit no longer ones."""

LIMIT = 1.1
"""How far above its target the pressure may rise, as a factor."""


class Pressure:
    """Keeps the account of submitted work, and says what is missing or too much.

    The pressure is the submitted work in core-seconds, divided by the size of the machine times the time since the
    beginning. Jobs are added while it is below the target. Arrivals produce nothing while it is above 1.1 times the
    target; in the first hour, as if that hour had passed.

    Parameters
    ----------
    processors
        Size of the machine.
    target
        The pressure to keep; 0: whatever comes is right.
    begin
        Second from which time counts.

    References
    ----------
    Rodrigo, Elmroth, Östberg and Ramakrishnan, "ScSF: a scheduling simulation framework", JSSPP 2017, section 3.4.

    Examples
    --------
    >>> pressure = Pressure(processors=10, target=1.0, begin=0)
    >>> pressure.missing(60), pressure.excessive(60)
    (600.0, False)
    >>> pressure.add(60, 50_000)
    >>> pressure.missing(60), pressure.excessive(60), pressure.excessive(5000)
    (0.0, True, False)
    """

    def __init__(self, processors: int, target: float, begin: int) -> None:
        self.processors = processors
        self.target = target
        self.begin = begin
        self.submitted = 0
        """Core-seconds so far."""

    def add(self, now: int, work: int) -> None:
        """Count the work of what is submitted now."""
        self.submitted += work

    def missing(self, now: int) -> float:
        """Return how many core-seconds are to be added now."""
        return max(0.0, self.target * self.processors * (now - self.begin) - self.submitted)

    def excessive(self, now: int) -> bool:
        """Return whether so much has been submitted that an arrival is to produce nothing."""
        allowed = LIMIT * self.target * self.processors * max(now - self.begin, WINDOW)
        return self.target > 0 and self.submitted > allowed


class ScsfPressure(Pressure):
    """The rules of the program ScSF, which differ from those of its description.

    Jobs are added while the pressure is below the target in a sliding window: the submissions of the last hour, divided
    by the time from the first to the last of them. The upper limit is 1.1 whatever the target is; it judges after an
    hour, and only where workflows come by share (`limited`).

    Examples
    --------
    >>> pressure = ScsfPressure(processors=10, target=1.0, begin=0, limited=True)
    >>> pressure.missing(60)
    10.0
    >>> pressure.add(60, 50_000)
    >>> pressure.missing(70), pressure.excessive(60), pressure.excessive(3600)
    (0.0, False, True)
    """

    def __init__(self, processors: int, target: float, begin: int, *, limited: bool) -> None:
        super().__init__(processors, target, begin)
        self.limited = limited
        self._recent: deque[tuple[int, int]] = deque()
        self._recently_submitted = 0

    def add(self, now: int, work: int) -> None:
        """Count the work of what is submitted now."""
        super().add(now, work)
        self._recently_submitted += work
        self._recent.append((now, work))

    def missing(self, now: int) -> float:
        """Return how many core-seconds are to be added now."""
        while self._recent and self._recent[0][0] < now - WINDOW:
            self._recently_submitted -= self._recent.popleft()[1]
        elapsed = max(1, now - self._recent[0][0]) if self._recent else 1
        return max(0.0, self.target * self.processors * elapsed - self._recently_submitted)

    def excessive(self, now: int) -> bool:
        """Return whether so much has been submitted that an arrival is to produce nothing."""
        elapsed = now - self.begin
        return self.limited and elapsed >= WINDOW and self.submitted > LIMIT * self.processors * elapsed
