"""How all figures look: colours, axes with units, the place of the legend. Nothing touches pyplot's state."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from schedlab.arguments import explained
from schedlab.atomic import atomic_path, make_directory
from schedlab.campaign.results.comparison import Comparison
from schedlab.durations import DAY
from schedlab.errors import InputError, check_positive, check_type, checked_text
from schedlab.naming import label_of
from schedlab.schedule.schedule import NO_SCHEDULE, Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

COLOURS = ("#332288", "#CC6677", "#117733", "#88CCEE", "#882255", "#999933", "#44AA99", "#DDAA33", "#AA4499")
"""Distinct for every kind of colour vision: Paul Tol's "muted" scheme, with a darker sand."""

LINE_STYLES = ("-", "--", ":", "-.")

STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666666",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "lines.linewidth": 1.5,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
}

DPI = 150

_DURATIONS = {
    1: "1 s",
    10: "10 s",
    60: "1 min",
    600: "10 min",
    3_600: "1 h",
    86_400: "1 d",
    864_000: "10 d",
    8_640_000: "100 d",
}


@contextmanager
def styled_axes(ax: Axes | None, size: tuple[float, float] = (8.0, 4.2)) -> Iterator[Axes]:
    """Give the axes to draw on, new ones of `size` inches if there are none, while our style holds."""
    with styled():
        yield ax or new_figure(size).add_subplot()


@contextmanager
def styled() -> Iterator[None]:
    """Let our style hold, with that of a paper if one is chosen, and put back what held before."""
    import matplotlib

    paper = _PAPER.get()
    with matplotlib.rc_context(cast("Any", STYLE if paper is None else STYLE | paper.rules())):
        yield


class Paper(NamedTuple):
    """The look of figures in a paper: their width in inches, and the family and size of their letters."""

    width: float
    family: str
    size: float

    def rules(self) -> dict[str, Any]:
        """Return them as matplotlib's parameters; titles are left to the caption."""
        fonts = {"font.family": self.family, "mathtext.fontset": "cm" if self.family == "serif" else "dejavusans"}
        sizes = dict.fromkeys(("font.size", "axes.titlesize", "axes.labelsize", "legend.fontsize"), self.size)
        ticks = dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), self.size - 1)
        return fonts | sizes | ticks | {"lines.linewidth": 1.0}


_PAPER: ContextVar[Paper | None] = ContextVar("paper", default=None)


@contextmanager
def paper(width: float = 3.5, *, family: str = "serif", size: float = 8.0) -> Iterator[None]:
    """Draw the figures in this context for a paper: as wide as its column, with its letters.

    Parameters
    ----------
    width
        Of a figure, in inches: 3.5 is a column of most proceedings; the height follows.
    family
        Of the letters: "serif", "sans-serif", or the name of a font that is installed.
    size
        Of the letters, in points.

    Raises
    ------
    InputError
        If a size is not a number above 0, or the family is not a text.

    Examples
    --------
    >>> from schedlab.workload.workload import Workload
    >>> from schedlab.engine.simulation import simulate
    >>> from schedlab.report.figures import plot_utilisation
    >>> jobs = Workload.from_columns(dict(submit_time=[0], run_time=[9], requested_processors=[1]), processors=4)
    >>> with paper(width=3.3):
    ...     axes = plot_utilisation(simulate(jobs, "fcfs@actual"))
    >>> float(axes.figure.get_figwidth())
    3.3
    """
    for name, value in (("width", width), ("size", size)):
        check_positive(name, value)
    before = _PAPER.set(Paper(float(width), checked_text("family", family), float(size)))
    try:
        yield
    finally:
        _PAPER.reset(before)


def new_figure(size: tuple[float, float]) -> Figure:
    """Return an empty figure of `size` inches, unknown to pyplot, that shows itself in notebooks."""
    from schedlab.report.canvas import NotebookFigure

    chosen = _PAPER.get()
    if chosen is not None:
        size = (chosen.width, chosen.width * size[1] / size[0])
    return NotebookFigure(figsize=size, layout="constrained")


@explained
def save_figure(drawn: Figure | Axes, path: str | PathLike[str]) -> Path:
    """Write a figure, or the one that some axes belong to, to a file; the suffix decides the format.

    PDF has its letters as TrueType, as publishers ask; PGF has none, and takes those of the document that inputs it.

    Raises
    ------
    OutputError
        If the file cannot be written.
    InputError
        If the suffix is not the name of a format, or for PGF, if there is no LaTeX.
    """
    import matplotlib

    from schedlab.report.canvas import only_drawable

    figure = root_figure(drawn)
    only_drawable(figure)
    embedding = {"pdf.fonttype": 42, "pgf.rcfonts": False, "pgf.texsystem": _tex_system(path)}
    with atomic_path(path) as temporary, matplotlib.rc_context(cast("Any", embedding)):
        try:
            figure.savefig(temporary, dpi=DPI)
        except ValueError as error:
            raise InputError(f"{path}: {error}") from None
    return Path(path)


def _tex_system(path: str | PathLike[str]) -> str:
    """Return the LaTeX that measures letters for PGF; of other formats, none is asked."""
    systems = ("xelatex", "lualatex", "pdflatex")
    found = [one for one in systems if shutil.which(one)]
    if not found and Path(path).suffix == ".pgf":
        raise InputError(f"{path}: PGF needs LaTeX ({', '.join(systems)}), which is not installed: take .pdf")
    return found[0] if found else systems[0]


def save_figures(
    plots: Mapping[str, Callable[[Any], Axes]], subject: Any, directory: str | PathLike[str]
) -> list[Path]:
    """Draw and write several figures of one subject as PNG, and return the files.

    Parameters
    ----------
    plots
        What draws them, by the names of the files without suffix.
    subject
        What each is given.
    directory
        Where to write; it is made if it is not there.

    Raises
    ------
    OutputError
        If the directory cannot be made or written to.
    """
    target = make_directory(directory)
    return [save_figure(plot(subject), target / f"{name}.png") for name, plot in plots.items()]


def root_figure(drawn: Figure | Axes) -> Figure:
    """Return the whole figure that something is part of."""
    return cast("Figure", drawn.get_figure(root=True))


def named(schedules: Schedule | Comparison | Mapping[str, Schedule] | Iterable[Schedule]) -> dict[str, Schedule]:
    """Return schedules, also those of a comparison, by the name that figures give them: by default, their scheduler.

    Raises
    ------
    InputError
        If there are none, if one is empty, or if two have the same name.
    """
    if isinstance(schedules, Comparison):
        schedules = schedules.schedules
    if isinstance(schedules, Mapping):
        result = dict(schedules)
    else:
        given = [schedules] if isinstance(schedules, Schedule) else list(schedules)
        result = {label_of(_checked(schedule).scheduler): schedule for schedule in given}
        if len(result) < len(given):
            raise InputError("two schedules have the same scheduler: give a dictionary of names and schedules")
    if not result:
        raise InputError("no schedule to plot")
    for name, schedule in result.items():
        if not len(_checked(schedule)):
            raise InputError(f"not enough jobs: the schedule of {name} is empty")
    return result


def _checked(schedule: Schedule) -> Schedule:
    check_type(schedule, Schedule, NO_SCHEDULE)
    return schedule


def line_look(number: int) -> dict[str, Any]:
    """Return colour and line style of the schedule at a position."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": LINE_STYLES[number // len(COLOURS) % len(LINE_STYLES)],
    }


def title(ax: Axes, what: str, schedules: Mapping[str, Schedule], note: str = "") -> None:
    """Say what is shown, of which workload and, if there is one, of which scheduler; under it, a note."""
    subject = ", ".join(sorted({schedule.workload.name for schedule in schedules.values()}))
    if len(schedules) == 1:
        subject += f", {next(iter(schedules))}"
    lines = [f"{what} ({subject})", note] if note else [f"{what} ({subject})"]
    ax.set_title("\n".join(lines))


def legend(ax: Axes) -> None:
    """Put the legend to the right of the axes, where it hides nothing, if there is more than one name."""
    handles, labels = ax.get_legend_handles_labels()
    if len(handles) > 1:
        ax.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)


def duration_ticks(axis: Axis, low: float, high: float) -> None:
    """Label a logarithmic axis of seconds with seconds, minutes, hours and days."""
    shown = [seconds for seconds in _DURATIONS if low <= seconds <= high]
    if len(shown) > 6:  # a wide axis has no room for the tens
        shown = [seconds for seconds in shown if not _DURATIONS[seconds].startswith("10 ")]
    axis.set_ticks(shown, [_DURATIONS[seconds] for seconds in shown])
    axis.set_ticks([], minor=True)


def number_ticks(axis: Axis) -> None:
    """Label an axis with plain numbers, 1,000 instead of 10^3."""
    axis.set_major_formatter("{x:,.10g}")


def ratio_ticks(axis: Axis) -> None:
    """Label a logarithmic axis with short numbers, 10k for 10^4; if it is short, between the decades too."""
    from matplotlib.ticker import EngFormatter, LogFormatter

    axis.set_major_formatter(EngFormatter(sep=""))
    axis.set_minor_formatter(LogFormatter(minor_thresholds=(1.5, 0.5)))


def percent_ticks(axis: Axis) -> None:
    """Label an axis of shares with percentages, with as many decimals as each needs."""
    axis.set_major_formatter(lambda value, _: f"{100 * value:.6g}%")


def elapsed_unit(seconds: float) -> tuple[int, str]:
    """Return the unit in which a period is shown, its seconds and its name.

    Examples
    --------
    >>> elapsed_unit(7_200), elapsed_unit(10 * 86_400)
    ((60, 'Minutes'), (86400, 'Days'))
    """
    if seconds >= 4 * 86_400:
        return 86_400, "Days"
    if seconds >= 4 * 3_600:
        return 3_600, "Hours"
    return 60, "Minutes"


class TimeAxis:
    """Where moments of a workload stand on an axis: at their date, or after the first submission.

    Parameters
    ----------
    begin, end
        Seconds on the workload's clock: what the axis shows.
    origin
        The first submission, in the same seconds.
    start_time
        Unix time of the clock's second 0, if it is known.

    Examples
    --------
    >>> TimeAxis(0, 7 * 86_400, 0, None)(86_400), TimeAxis(0, 7 * 86_400, 0, 1_000 * 86_400)(86_400)
    (1.0, 1001.0)
    """

    def __init__(self, begin: float, end: float, origin: float, start_time: int | None) -> None:
        self.dated = start_time is not None
        self.seconds, self.unit = (DAY, "") if self.dated else elapsed_unit(end - begin)
        # Matplotlib counts dates in days since 1970.
        self.zero = -(start_time or 0) if self.dated else origin
        self.limits = (self(begin), self(end))

    def __call__(self, times: Any) -> Any:
        """Return the places of moments."""
        return (times - self.zero) / self.seconds

    def label(self, ax: Axes) -> None:
        """Set limits, ticks and label of the horizontal axis."""
        ax.set_xlim(*self.limits)
        if not self.dated:
            ax.set_xlabel(f"{self.unit} since the first submission")
            return
        from matplotlib import dates

        untyped = cast("Any", dates)
        locator = untyped.AutoDateLocator()
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(untyped.ConciseDateFormatter(locator))
        ax.set_xlabel("Date (UTC)")
