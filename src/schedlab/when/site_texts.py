"""When jobs of a site start, as a person reads it, and as programs do."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from schedlab.cluster.membership import membership
from schedlab.cluster.node_events import NodeEvent
from schedlab.durations import WEEK
from schedlab.when.backtest_record import NEVER_CHECKED
from schedlab.when.forks import WEEKS
from schedlab.when.methods import BOTH, FORKED, QUEUE, RECALIBRATED
from schedlab.when.site_forecast import SiteForecast
from schedlab.when.start_forecast import CHANCES
from schedlab.when.waits_for import WaitsFor
from schedlab.wording import count_of, table

NEVER = "not within nine weeks"

ANSWERED = {
    RECALIBRATED: "simulations, recalibrated",
    QUEUE: "what jobs waited that saw a similar queue, recalibrated, and not by simulations",
    BOTH: "what jobs waited that saw a similar queue and had similar simulations, recalibrated",
}
"""What is said of the methods that answer."""

_NAMED = {"within_1_min": "1 min", "within_10_min": "10 min", "within_1_h": "1 h"}


def day_and_time(second: float, found: SiteForecast, zone: ZoneInfo) -> str:
    """Return a moment as a person of the site tells it on the day of the forecast."""
    if second - found.starts.now >= WEEKS * WEEK:
        return NEVER
    moment = datetime.fromtimestamp(found.state.epoch + second, zone)
    days = (moment.date() - _asked_at(found, zone).date()).days
    day = {0: "", 1: "tomorrow "}.get(days, f"{moment:%a %-d %b} ")
    return f"{day}{moment:%H:%M}"


def _asked_at(found: SiteForecast, zone: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(found.state.epoch + found.starts.now, zone)


def start_text(found: SiteForecast, row: int, zone: ZoneInfo) -> str:
    """Return when a job will start, in a sentence, and what decides."""
    starts = found.starts
    new = int(starts.jobs.job_id[row]) not in found.state.state.jobs.job_id
    name = "Such a job" if new else f"Job {starts.jobs.job_id[row]}"
    at_once = float(starts.chance(60)[row])
    decide = deciding_text(found, row, zone)
    if at_once >= 0.9:
        return f"{name} will {'probably ' if at_once < 1 else ''}start at once ({at_once:.0%})."
    early, middle, late = (day_and_time(second, found, zone) for second in starts.quantiles()[row] + starts.now)
    if early == NEVER:
        return f"{name} will probably not start within nine weeks{decide}."
    begin = f"{name} may start at once ({at_once:.0%}); it will" if at_once >= 0.05 else f"{name} will"
    if early == late:
        return f"{begin} start at about {middle}{decide}."
    until = f"after {early}, in half of the cases {'before ' if middle != NEVER else ''}{middle}"
    if late != NEVER:
        until = f"between {early} and {late}, most likely about {middle}"
    return f"{begin} probably start {until}{decide}."


def deciding_text(found: SiteForecast, row: int, zone: ZoneInfo) -> str:
    """Return what decides about a start, as the rest of a sentence: "; 12 jobs before it (2 of your own) decide"."""
    told = found.waits_for[row]
    parts = _parts(found, row, zone)
    if not parts:
        return "" if told.reason in ("", "None") else f"; it waits for {_reason(told.reason)}"
    one = len(parts) == 1 and told.ahead <= 1
    return f"; {_and(parts)} {'decides' if one else 'decide'}"


def waits_for_text(found: SiteForecast, row: int, zone: ZoneInfo) -> str:
    """Return what a job waits for, for a cell of a table."""
    return _and(_parts(found, row, zone)) or _reason(found.waits_for[row].reason)


def _and(parts: list[str]) -> str:
    return f"{', '.join(parts[:-1])}{' and ' if parts[1:] else ''}{parts[-1]}" if parts else ""


def _parts(found: SiteForecast, row: int, zone: ZoneInfo) -> list[str]:
    told = found.waits_for[row]
    parts = [_ahead(told)] if told.ahead else []
    if told.limit:
        parts.append(f"a limit ({told.limit})")
    parts += [_closure(one, found, zone) for one in told.closures[:2]]
    if len(told.closures) > 2:
        parts.append(f"{len(told.closures) - 2} further reservations")
    return parts


def owners_of_jobs(found: SiteForecast) -> list[tuple[str, str, str]]:
    """Return the user, the account and the partition of each job of a forecast."""
    assert found.state.twin.cluster is not None
    jobs = found.starts.jobs.replace(header=found.state.state.jobs.header)
    who = membership(jobs, found.state.twin.cluster)
    return list(zip(who.user.texts(), who.account.texts(), who.partition.texts(), strict=True))


def _ahead(told: WaitsFor) -> str:
    others = [f"{told.own} of its user"] if told.own else []
    others += [f"{told.group} of its group"] if told.group else []
    whose = f" ({', '.join(others)})" if others else ""
    return f"{count_of(told.ahead, 'job')} before it in the queue{whose}"


def _closure(one: NodeEvent, found: SiteForecast, zone: ZoneInfo) -> str:
    kind = "a maintenance" if one.event == "maintenance" else f"the reservation {one.name}"
    begin = "until" if one.second <= found.starts.now else "from"
    when = one.end if begin == "until" and one.end is not None else one.second
    return f"{kind} of {count_of(len(one.nodes), 'node')} {begin} {day_and_time(when, found, zone)}"


def _reason(reason: str) -> str:
    return {"Resources": "nodes to become free", "Priority": "jobs of higher priority"}.get(reason, reason)


def until_midnight(found: SiteForecast, zone: ZoneInfo) -> int:
    """Return the seconds that are left of the day."""
    asked = _asked_at(found, zone)
    tomorrow = (asked + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return int((tomorrow - asked).total_seconds())


def answer_text(found: SiteForecast, zone: ZoneInfo, sure: str = NEVER_CHECKED) -> str:
    """Return a forecast as text: a sentence for one job or a table for several, chances, and what it rests on."""
    starts = found.starts
    if len(starts) == 1:
        chances = [f"within {name} {float(starts.chance(CHANCES[key])[0]):.0%}" for key, name in _NAMED.items()]
        chances.append(f"today {float(starts.chance(until_midnight(found, zone))[0]):.0%}")
        lines = [start_text(found, 0, zone), f"Chances to start: {', '.join(chances)}."]
    else:
        lines = [_table(found, zone)]
    lines.append(f"{basis_text(found, zone)} {sure}")
    if found.state.notes:
        lines.append(notes_text(found))
    return "\n".join(lines)


def basis_text(found: SiteForecast, zone: ZoneInfo) -> str:
    """Return what a forecast was made from, in a sentence."""
    starts, state = found.starts, found.state.state
    waiting = len(state.waiting)
    running = count_of(len(state.jobs) - waiting, "running job")
    basis = (
        f"From {starts.made_of} of {found.site} as it was at "
        f"{_asked_at(found, zone):%Y-%m-%d %H:%M} {zone.key}, with {running}, {waiting:,} waiting and "
        f"{starts.arrivals}; seed {starts.seed}."
    )
    return " ".join([basis, *([methods_text(starts.methods)] if starts.methods else [])])


def methods_text(methods: tuple[str, ...]) -> str:
    """Return which method answered about each job, in a sentence."""
    counts = {name: methods.count(name) for name in ANSWERED if name in methods}
    if len(counts) == 1:
        return f"Answered by {ANSWERED[methods[0]]}: the best on this site's past forecasts."
    parts = [f"by {ANSWERED[name]} ({count_of(count, 'job')})" for name, count in counts.items()]
    return f"Answered {', '.join(parts)}: for each job, the best on this site's past forecasts of its lead."


def notes_text(found: SiteForecast) -> str:
    """Return what was not seen or not understood, in sentences."""
    return " ".join(f"{note[:1].upper()}{note[1:]}." for note in found.state.notes)


def _table(found: SiteForecast, zone: ZoneInfo) -> str:
    starts = found.starts
    quantiles = starts.quantiles() + starts.now
    rows = [
        [
            str(starts.jobs.job_id[row]),
            f"{starts.jobs.job_processors[row]:,}",
            *(day_and_time(second, found, zone) for second in quantiles[row]),
            f"{float(starts.chance(60)[row]):.0%}",
            f"{float(starts.chance(3_600)[row]):.0%}",
            f"{found.waits_for[row].ahead:,}",
        ]
        for row in np.argsort(quantiles[:, 1], kind="stable").tolist()
    ]
    return table(["job", "cores", "start 10%", "start 50%", "start 90%", "within 1 min", "within 1 h", "ahead"], rows)


def answer_document(found: SiteForecast, zone: ZoneInfo, sure: str = NEVER_CHECKED) -> dict[str, Any]:
    """Return a forecast as a JSON document; moments are Unix times."""
    starts, today = found.starts, until_midnight(found, zone)
    owners, jobs = owners_of_jobs(found), []
    for row, one in enumerate(starts.to_dicts()):
        moments = {name: int(one[name]) + found.state.epoch for name in ("start_10", "start_50", "start_90")}
        told = found.waits_for[row]
        chances = {name: one[name] for name in CHANCES} | {"today": float(starts.chance(today)[row])}
        why = {"reason": told.reason, "ahead": told.ahead, "own": told.own, "group": told.group, "limit": told.limit}
        why["closures"] = [one.name or one.event for one in told.closures]
        user, account, partition = owners[row]
        whose = {"job": one["job"], "user": user, "account": account, "partition": partition}
        method = starts.methods[row] if starts.methods else FORKED
        told_so = {"method": method, "text": start_text(found, row, zone)}
        jobs.append({**whose, **moments, "chances": chances, "waits_for": why, **told_so})
    return {
        "format": "schedlab when",
        "version": 1,
        "site": found.site,
        "asked_at": found.state.epoch + starts.now,
        "forks": starts.forks,
        "forks_left_out": starts.left_out,
        "seed": starts.seed,
        "weeks_of_arrivals": starts.weeks,
        "how_sure": sure,
        "notes": list(found.state.notes),
        "never": {str(job): why for job, why in found.state.never.items()},
        "jobs": jobs,
    }
