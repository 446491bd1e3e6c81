"""Tables of a page, each head with the key of its definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.campaign.results.statistics import quantity
from schedlab.campaign.results.trade_offs import Price
from schedlab.report.groups import Grouping
from schedlab.schedule.columns import waits_in_column
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.summary import durations
from schedlab.scheduler.predictor import CLAIRVOYANT, is_clairvoyant
from schedlab.site.wait_text import wait_text, waits_texts
from schedlab.wording import count_of

MOST_GROUPS = 50
"""Groups that a table of several schedulers names; it says how many there are."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: its text, what it is sorted by, the key of its definition, a name that goes before, and
    whether it has words, which are wrapped, rather than a number.

    Of a wait, `wait` is how many columns before it those begin that are compared with it; None: it is no wait.
    """

    text: str
    value: float | None = None
    term: str | None = None
    name: str = ""
    words: bool = False
    wait: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page; waits of columns that are compared stand in one unit."""

    heading: str
    caption: str
    head: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", _in_columns(self.rows))


def _in_columns(rows: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    """Return rows whose waits are in one unit in each column, and in those that are compared with it."""
    found = [list(row) for row in rows]
    places: dict[int, list[tuple[int, int]]] = {}
    for line, row in enumerate(found):
        for column, cell in enumerate(row):
            if cell.wait is not None:
                places.setdefault(column - cell.wait, []).append((line, column))
    for some in places.values():
        texts = waits_in_column([found[line][column].value or 0.0 for line, column in some])
        for (line, column), text in zip(some, texts, strict=True):
            found[line][column] = replace(found[line][column], text=text)
    return found


def seconds_cell(seconds: float) -> Cell:
    """Return a duration that may be unknown; a table shows those of a column in one unit."""
    return waits_cells(seconds)[0]


def column_cells(seconds: Sequence[float], like: Sequence[float] | None = None) -> list[Cell]:
    """Return the durations of a column in one unit, see `durations`; some may be unknown."""
    texts = waits_in_column(seconds, like)
    return [Cell("–") if np.isnan(one) else Cell(text, one) for one, text in zip(seconds, texts, strict=True)]


def waits_cells(*seconds: float) -> list[Cell]:
    """Return waits that stand side by side to be compared, of which some may be unknown: a table shows these columns in
    one unit."""
    return [Cell("–") if np.isnan(one) else Cell(wait_text(one), one, wait=place) for place, one in enumerate(seconds)]


def waits_in_row(*seconds: float) -> list[Cell]:
    """Return waits of a row to be compared, in one unit if they are of one size; other rows measure something else."""
    texts = iter(waits_texts(*(one for one in seconds if not np.isnan(one))))
    return [Cell("–") if np.isnan(one) else Cell(next(texts), one) for one in seconds]


def who_pays(prices: Sequence[Price], baseline: str, labels: Mapping[int, str]) -> Table:
    """Return what each scheduler asks of the jobs that wait longest, of wide jobs and of users.

    Parameters
    ----------
    prices
        What `Comparison.who_pays` returned.
    baseline
        What users are compared with.
    labels
        Names of users by number, as far as they are known.
    """
    users = any(price.users for price in prices)
    head = [
        Cell("Scheduler"),
        Cell("Mean wait", term="wait"),
        Cell("Median wait", term="median"),
        Cell("95th percentile", term="percentile"),
        Cell("Longest wait", term="largest"),
        Cell("Mean wait of wide jobs", term="size_class"),
    ]
    head += [Cell("Users who wait longer", term="users_worse"), Cell("Most for", term="users_worse")] if users else []
    waits = zip(*((p.mean_wait, p.median_wait, p.p95_wait, p.max_wait, p.wide_wait) for p in prices), strict=True)
    columns = [column_cells(column) for column in waits]
    changes = durations([price.worst_change for price in prices])
    rows = []
    for price, change, *cells in zip(prices, changes, *columns, strict=True):
        row = [Cell(price.scheduler), *cells]
        if users:
            row += [Cell(f"{price.worse:,} of {price.users:,}", price.worse) if price.users else Cell("–")]
            row += [_most_for(price, change, labels) if price.worse else Cell("–")]
        rows.append(row)
    foresee = [price.scheduler for price in prices if is_clairvoyant(price.scheduler)]
    note = f"{', '.join(foresee)}: {CLAIRVOYANT}." if foresee else ""
    known = next((price for price in prices if price.jobs < max(each.jobs for each in prices)), None)
    if known is not None:
        note += f" {known.scheduler}: of {count_of(known.jobs, 'job')} the wait is known."
    return Table("Who pays", f"Waits under each scheduler; users against {baseline}", head, rows, note.strip())


def who_pays_by(group: Grouping, schedules: Mapping[str, Schedule], baseline: str, rows: NDArray[np.intp]) -> Table:
    """Return the mean wait of each group under each scheduler, and its change against the baseline.

    Parameters
    ----------
    group
        By what jobs are told apart.
    schedules
        Of the same jobs, by scheduler text.
    baseline
        One of them.
    rows
        The jobs that count.
    """
    codes, place = np.unique(group.codes[rows], return_inverse=True)
    jobs = np.bincount(place)
    waits = {text: np.bincount(place, weights=each.wait_time[rows]) / jobs for text, each in schedules.items()}
    others = [text for text in schedules if text != baseline]
    shown = np.argsort(-jobs, kind="stable")[:MOST_GROUPS]
    head = [Cell(group.title, term="group"), Cell("Jobs", term="jobs"), Cell(f"Mean wait, {baseline}", term="wait")]
    head += [Cell(text, term="wait_and_change") for text in others]
    like = np.concatenate([each[shown] for each in waits.values()]).tolist()
    columns = [column_cells(waits[baseline][shown].tolist(), like)]
    columns += [_changed_waits(waits[text][shown], waits[baseline][shown], like) for text in others]
    names = [Cell(group.name_of(int(codes[line]))) for line in shown]
    counts = [Cell(f"{jobs[line]:,}", float(jobs[line])) for line in shown]
    body = [list(row) for row in zip(names, counts, *columns, strict=True)]
    few = "" if len(shown) == len(codes) else f": the {MOST_GROUPS} with most jobs of {len(codes):,}"
    caption = f"Mean wait by {group.noun} under each scheduler, and its change against {baseline}{few}"
    return Table(f"Who pays, by {group.noun}", caption, head, body)


def _changed_waits(waits: NDArray[np.float64], before: NDArray[np.float64], like: Sequence[float]) -> list[Cell]:
    """Return waits with their changes, all in one unit, see `durations`."""
    changes = np.rint(waits - before)
    signs = ["+" if change > 0 else "−" if change < 0 else "±" for change in changes]
    told, by_how_much = (durations(each.tolist(), like) for each in (waits, np.abs(changes)))
    texts = zip(told, signs, by_how_much, waits.tolist(), strict=True)
    return [Cell(f"{wait} ({sign}{change})", value) for wait, sign, change, value in texts]


def own_values(values: Mapping[str, Mapping[str, float]]) -> Table:
    """Return the values of a user's own metrics.

    Parameters
    ----------
    values
        For each scheduler, the value of each metric by its name; the same metrics for all.
    """
    names = list(next(iter(values.values())))
    rows = [
        [Cell(scheduler), *(_own_cell(name, metrics[name]) for name in names)] for scheduler, metrics in values.items()
    ]
    head = [Cell("Scheduler"), *map(Cell, names)]
    return Table("Metrics of your own", "Values of your own metrics for each scheduler; less is better", head, rows)


def _own_cell(name: str, value: float) -> Cell:
    return Cell(quantity(name, value), value if np.isfinite(value) else None)


def by_reason(waited_for: Mapping[str, NDArray[np.int64]]) -> list[Table]:
    """Return for how long jobs waited for each reason, if any did; see `Schedule.waited_for`."""
    seconds = {name: waited[waited > 0] for name, waited in waited_for.items() if waited.any()}
    total = sum(float(waited.sum()) for waited in seconds.values())
    rows = [
        [
            Cell(name),
            Cell(f"{len(waited):,}", float(len(waited))),
            Cell(f"{waited.sum() / max(total, 1):.1%}", float(waited.sum() / max(total, 1))),
            *(seconds_cell(float(value)) for value in (waited.mean(), np.median(waited), waited.max())),
        ]
        for name, waited in sorted(seconds.items(), key=lambda each: -each[1].sum())
    ]
    head = [
        Cell("Reason", term="told_reason"),
        Cell("Jobs", term="jobs"),
        Cell("Share of all waiting", term="share_of_waiting"),
        Cell("Mean", term="mean"),
        Cell("Median", term="median"),
        Cell("Longest", term="largest"),
    ]
    caption = "Time that jobs waited for each reason that the scheduler gave; a job can have several"
    return [Table("By reason of waiting", caption, head, rows)] if rows else []


def _most_for(price: Price, change: str, labels: Mapping[int, str]) -> Cell:
    """Return the user who loses most, and how much."""
    user = labels.get(price.worst_user, f"user {price.worst_user}")
    return Cell(f"+{change}", price.worst_change, name=user)
