"""The Gantt chart: which job holds which processors when."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError, check_type
from schedlab.kernels import kernel
from schedlab.report.style import TimeAxis, number_ticks, styled_axes
from schedlab.schedule.allocation import Allocation, allocate_recorded
from schedlab.schedule.placement import KINDS as CLOSED
from schedlab.schedule.runs import BY_ITSELF
from schedlab.schedule.schedule import NO_SCHEDULE, Schedule
from schedlab.schedule.stretches import by_stretch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

KINDS = ("started in order", "backfilled", "killed at its request", "interrupted")
KILLED, INTERRUPTED = 2, 3
SHADES = (
    ("#7FA8D1", "#A6C4E1", "#5C8DBF"),
    ("#E9B44C", "#F2CF85", "#D99A21"),
    ("#C2607A", "#D68A9F", "#A94463"),
    ("#8E7CC3", "#B4A7D6", "#6F5BA8"),
)
"""Three shades for each kind of job, so that neighbours can be told apart."""
SHADES_EACH = 3

HATCHES = (("xxx", "#555555"), ("////", "#555555"), ("....", "#2E7D5B"))
"""How closed nodes are drawn, by the kind of the closure."""

MOST_RECTANGLES = 1_000
"""Beyond this many, the chart is painted as an image: single jobs cannot be seen any more."""

MOST_LABELS = 40

IMAGE_COLUMNS, IMAGE_ROWS = 1_600, 800


@explained
def plot_gantt(schedule: Schedule, ax: Axes | None = None, *, begin: int | None = None, end: int | None = None) -> Axes:
    """Draw the processors over time, one rectangle per job (or run, where runs may fail) and interval of processors.

    Parameters
    ----------
    schedule
        What to draw; its jobs are given the lowest free processors, see `schedlab.schedule.allocation.allocate`, of
        more than the machine has if a record has used more. Where nodes had events, the chart is one of the cores of
        each node, those of the first node at the bottom.
    ax
        Where to draw; by default, in a new figure.
    begin, end
        int64 seconds after the first submission: the window to draw; by default, everything.

    Returns
    -------
    matplotlib.axes.Axes
        Blue jobs started in order, yellow ones were backfilled, red ones were killed at their request, violet ones were
        interrupted: by a node, by a job that preempted them, or by the end of their reservation. Where jobs may fail
        and come back, the same is said of each run; yellow are then only speculative runs and last ones.
        Hatched are nodes that were out of service, in maintenance or reserved. Few jobs carry their number; with very
        many, the colour of a pixel is that of the job at its centre.

    Raises
    ------
    InputError
        If the window is empty or no job runs in it, or if the jobs use more processors than there are.
    """
    origin, first, last = _window(schedule, begin, end)
    schedule = by_stretch(schedule)
    runs, schedule = schedule.runs, by_run(schedule)
    by_node = schedule.placement is not None and schedule.placement.closures is not None
    schedule, allocation = (schedule, _by_node(schedule)) if by_node else allocate_recorded(schedule)
    job = np.repeat(np.arange(len(schedule)), np.diff(allocation.offsets))
    running = np.clip(schedule.end_time, first, last) > np.clip(schedule.start_time, first, last)
    pieces = np.flatnonzero(running[job])
    if not pieces.size:
        raise InputError(f"no job runs from second {first - origin} to second {last - origin}; widen the window")
    jobs = job[pieces]
    axis = TimeAxis(first, last, origin, schedule.workload.start_time)
    lines = allocation.first[pieces], allocation.last[pieces] + 1
    times = np.clip(schedule.start_time[jobs], first, last), np.clip(schedule.end_time[jobs], first, last)
    shade = SHADES_EACH * _kinds(schedule, runs)[jobs] + jobs % SHADES_EACH
    with styled_axes(ax, (10.0, 5.0)) as axes:
        if pieces.size > MOST_RECTANGLES:
            _paint(axes, times, lines, shade, window=(first, last), machine=schedule.processors, limits=axis.limits)
        else:
            spans = tuple(axis(time) for time in times)
            _draw(axes, spans, lines, shade)
            _label(axes, schedule, allocation, jobs, spans)
        closed = _draw_closures(axes, schedule, axis, first, last) if by_node else []
        axis.label(axes)
        axes.set_ylim(0, schedule.processors)
        axes.grid(visible=False)
        number_ticks(axes.yaxis)
        axes.set_ylabel("Core, node after node" if by_node else "Processor")
        axes.set_title(f"Gantt chart ({schedule.workload.name}, {schedule.scheduler})")
        _explain_colours(axes, np.unique(shade // SHADES_EACH), closed)
    return axes


def _kinds(schedule: Schedule, runs: NDArray[Any] | None) -> NDArray[np.int64]:
    """Return the kind of each rectangle; `runs` are those that the rows stand for, if runs may fail."""
    kinds = np.where(schedule.killed, KILLED, schedule.backfilled).astype(np.int64)
    if runs is not None:
        kinds[~runs["done"] & (runs["cause"] != BY_ITSELF)] = INTERRUPTED
    return kinds


def _by_node(schedule: Schedule) -> Allocation:
    """Return the cores that each run takes on its nodes."""
    assert schedule.placement is not None
    return schedule.placement.rows(schedule.start_time, schedule.end_time, "cores")


def _draw_closures(ax: Axes, schedule: Schedule, axis: TimeAxis, first: int, last: int) -> list[Patch]:
    """Hatch the nodes while they are closed; return a patch for each kind, for the legend."""
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    where = schedule.placement
    assert where is not None
    assert where.closures is not None
    top, patches = np.cumsum(where.cores), []
    begin, end = (np.clip(where.closures[name], first, last) for name in ("begin", "end"))
    for kind, (name, (hatch, colour)) in enumerate(zip(CLOSED, HATCHES, strict=True)):
        shown = np.flatnonzero((where.closures["kind"] == kind) & (end > begin))
        if not shown.size:
            continue
        node = where.closures["node"][shown]
        (left, right), (low, high) = (axis(begin[shown]), axis(end[shown])), (top[node] - where.cores[node], top[node])
        corners = np.stack(
            [np.column_stack([left, right, right, left]), np.column_stack([low, low, high, high])], axis=2
        )
        style: dict[str, Any] = {"facecolor": "none", "edgecolor": colour, "hatch": hatch, "linewidth": 0.0}
        ax.add_collection(PolyCollection(list(corners), **style))
        patches.append(Patch(label=name, **style))
    return patches


def by_run(schedule: Schedule) -> Schedule:
    """Return a schedule with one row for each run, if runs may fail; for each stretch of one that was suspended.

    Of malleable jobs, with one row for each size that they had.
    """
    schedule = by_stretch(schedule)
    runs = schedule.runs
    if runs is None:
        return schedule
    rows = runs["job"]
    if schedule.sizes is not None:
        return _by_size(schedule, schedule.sizes)
    last = np.zeros(len(runs), dtype=np.bool_)
    last[len(runs) - 1 - np.unique(rows[::-1], return_index=True)[1]] = True
    return replace(
        schedule,
        workload=schedule.workload[rows],
        start_time=runs["start"],
        end_time=runs["end"],
        backfilled=runs["speculative"] | (last & schedule.backfilled[rows]),
        killed=~runs["done"],
        predicted_run_time=runs["request"],
        corrections=schedule.corrections[rows],
        runs=None,
        eligible_time=None,
    )


def _by_size(schedule: Schedule, sizes: NDArray[Any]) -> Schedule:
    """Return a schedule of malleable jobs with one row for each size."""
    rows, jobs = sizes["job"], schedule.workload[sizes["job"]].replace(alternatives=None)
    columns = ("backfilled", "killed", "predicted_run_time", "corrections")
    return replace(
        schedule,
        workload=jobs.replace(requested_processors=sizes["processors"], allocated_processors=sizes["processors"]),
        start_time=sizes["start"],
        end_time=sizes["end"],
        **{name: getattr(schedule, name)[rows] for name in columns},
        runs=None,
        sizes=None,
        eligible_time=None,
        cancelled=None,
    )


def _window(schedule: Schedule, begin: int | None, end: int | None) -> tuple[int, int, int]:
    """Return the first submission, and begin and end of the window, on the clock of the workload."""
    check_type(schedule, Schedule, NO_SCHEDULE)
    if not len(schedule):
        raise InputError("not enough jobs: the schedule is empty")
    origin = int(schedule.workload.submit_time.min())
    first = origin + (0 if begin is None else begin)
    last = int(schedule.end_time.max()) if end is None else origin + end
    if last <= first:
        raise InputError(f"the window from second {first - origin} to second {last - origin} is empty")
    return origin, first, last


def _draw(
    ax: Axes,
    spans: tuple[NDArray[np.float64], ...],
    lines: tuple[NDArray[np.int64], NDArray[np.int64]],
    shade: NDArray[np.int64],
) -> None:
    """Draw all rectangles as one collection."""
    from matplotlib.collections import PolyCollection

    (left, right), (low, high) = spans, lines
    corners = np.stack([np.column_stack([left, right, right, left]), np.column_stack([low, low, high, high])], axis=2)
    colours = np.array(SHADES).ravel()[shade]
    ax.add_collection(PolyCollection(list(corners), facecolors=colours, edgecolors="white", linewidths=0.4))


def _label(
    ax: Axes,
    schedule: Schedule,
    allocation: Allocation,
    jobs: NDArray[np.intp],
    spans: tuple[NDArray[np.float64], ...],
) -> None:
    """Write the job numbers, if they are few, into the widest interval of each, where there is room."""
    shown, first_piece = np.unique(jobs, return_index=True)
    if len(shown) > MOST_LABELS:
        return
    period = spans[1].max() - spans[0].min()
    for row, piece in zip(shown, first_piece, strict=True):
        mine = slice(allocation.offsets[row], allocation.offsets[row + 1])
        low, high = allocation.first[mine], allocation.last[mine] + 1
        widest = np.argmax(high - low)
        if spans[1][piece] - spans[0][piece] < period / 25 or high[widest] - low[widest] < schedule.processors / 30:
            continue
        ax.text(
            (spans[0][piece] + spans[1][piece]) / 2,
            (low[widest] + high[widest]) / 2,
            str(schedule.workload.job_id[row]),
            ha="center",
            va="center",
            fontsize=7,
            color="#222222",
            clip_on=True,
        )


def _paint(
    ax: Axes,
    times: tuple[NDArray[np.int64], NDArray[np.int64]],
    lines: tuple[NDArray[np.int64], NDArray[np.int64]],
    shade: NDArray[np.int64],
    *,
    window: tuple[int, int],
    machine: int,
    limits: tuple[float, float],
) -> None:
    """Paint all rectangles into one image."""
    from matplotlib.colors import to_rgb

    rows = min(machine, IMAGE_ROWS)
    image = np.full((rows, IMAGE_COLUMNS), -1, dtype=np.int64)
    column_width, row_height = (window[1] - window[0]) / IMAGE_COLUMNS, machine / rows
    left, right = (_first_centre(time - window[0], column_width) for time in times)
    low, high = (_first_centre(line, row_height) for line in lines)
    _fill(image, left, right, low, high, shade)
    palette = np.array([to_rgb(colour) for shades in SHADES for colour in shades] + [(1.0, 1.0, 1.0)])
    ax.imshow(
        palette[image],
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        extent=(*limits, 0, machine),
    )


def _first_centre(positions: NDArray[np.int64], size: float) -> NDArray[np.int64]:
    """Return the first pixel whose centre is at or after each position."""
    return np.ceil(positions / size - 0.5).astype(np.int64)


@kernel
def _fill(
    image: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    value: NDArray[np.int64],
) -> None:
    """Set the pixels of each rectangle to its value."""
    for rectangle in range(value.size):
        image[low[rectangle] : high[rectangle], left[rectangle] : right[rectangle]] = value[rectangle]


def _explain_colours(ax: Axes, kinds: NDArray[np.int64], closed: list[Patch]) -> None:
    """Put a legend of the kinds of jobs, and of closed nodes, that occur above the axes."""
    from matplotlib.patches import Patch

    patches = [Patch(color=SHADES[kind][0], label=KINDS[kind]) for kind in kinds] + closed
    corner: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
    ax.legend(handles=patches, ncols=min(len(patches), 3), **corner)
