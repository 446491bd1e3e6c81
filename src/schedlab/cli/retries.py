"""Options about requests and retries, as part of a scheduler."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from schedlab.errors import InputError

if TYPE_CHECKING:
    from schedlab.scheduler.scheduler import Scheduler


def with_retries(scheduler: Scheduler, method: str | None, exhausted: str | None, *, speculates: bool) -> Scheduler:
    """Return the scheduler with what the options say of requests, which its text must not say too."""
    from schedlab.scheduler.retries import Retries, parse_exhausted

    options = scheduler.options
    given: dict[str, Any] = {}
    if method is not None:
        if "requests" in options:
            raise InputError(
                f"{scheduler} already sets how jobs request time, as does --requests {method}: remove one of them"
            )
        given["requests"] = method
    if exhausted is not None:
        if "exhausted" in options:
            raise InputError(
                f"{scheduler} already sets exhausted=, as does --exhausted {exhausted}: remove one of them"
            )
        given["exhausted"] = parse_exhausted(exhausted)
    if speculates and "speculation" not in options:
        given["speculation"] = 0.0
    if not given:
        return scheduler
    retries = Retries(**given) if scheduler.retries is None else replace(scheduler.retries, **given)
    return replace(scheduler, retries=retries)
