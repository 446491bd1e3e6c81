"""Plans of requests, fits and gains as text for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from schedlab.durations import duration_text
from schedlab.schedule.summary import duration
from schedlab.speculate.applications import GAINS, JUDGED, ApplicationGain, RequestGains
from schedlab.speculate.distributions import ContinuousDistribution, RunTimeDistribution
from schedlab.speculate.families import FAMILIES
from schedlab.speculate.fits import DistributionFit
from schedlab.speculate.plan import RequestPlan
from schedlab.speculate.sequences import Evaluation
from schedlab.wording import count_of

HOUR = 3_600


def distribution_line(distribution: RunTimeDistribution, name: str | None = None) -> str:
    """Return a one-line description of a distribution."""
    ends = f"from {duration(distribution.low)} to {duration(distribution.high)}"
    return f"{name or rounded_text(distribution)}: mean {duration(distribution.mean)}, {ends}"


def plan_text(plan: RequestPlan, alternatives: Mapping[str, Evaluation], name: str | None = None) -> str:
    """Return a plan with its alternatives."""
    zeta, model = plan.objective.zeta, plan.objective.cost
    if zeta:
        goal = f"least makespan while small jobs take {zeta:g} of the machine"
    elif model.is_makespan:
        goal = "least time requested"
    else:
        goal = f"least cost of {model.alpha:g} x requested + {model.beta:g} x used + {duration_text(model.gamma)}"
    show, unit = _time_of(plan.distribution)
    head = ["", f"cost ({unit})", "to the best", "attempts", f"requested ({unit})", f"used ({unit})"]
    rows = [
        [
            title,
            show(one.cost),
            f"{one.cost / plan.evaluation.cost - 1:+.2%}",
            f"{one.attempts:.3f}",
            show(one.requested),
            show(one.used),
        ]
        for title, one in {"these requests": plan.evaluation, **alternatives}.items()
    ]
    return (
        f"{distribution_line(plan.distribution, name)}\nrequests: {plan.sequence.text} ({goal})\n\n{_table(head, rows)}"
    )


def convergence_text(plans: Iterable[RequestPlan]) -> str:
    """Return the costs of the sequences of coarse and fine grids, on the grid and on the distribution."""
    shown = list(plans)
    finest = min(plan.evaluation.cost for plan in shown)
    show, unit = _time_of(shown[0].distribution)
    head = ["intervals", f"on the grid ({unit})", f"on the distribution ({unit})", "to the least", "requests"]
    rows = [
        [
            f"{plan.points}",
            show(plan.grid_cost),
            show(plan.evaluation.cost),
            f"{plan.evaluation.cost / finest - 1:+.3%}",
            f"{len(plan.sequence)}",
        ]
        for plan in shown
    ]
    return _table(head, rows)


def fits_text(found: Sequence[DistributionFit]) -> str:
    """Return the goodness of fit of families, best first."""
    head = ["family", "AIC", "distance", "fits", "distribution"]
    rows = [
        [
            fit.family,
            f"{fit.aic:,.1f}",
            f"{fit.distance:.3f}",
            "yes" if fit.fits else "no",
            rounded_text(fit.distribution),
        ]
        for fit in found
    ]
    return _table(head, rows, texts=(0, 3, 4))


def gains_text(gains: RequestGains, most: int = 20) -> str:
    """Return the evaluated applications, largest savings first, and the number of the others."""
    counts = Counter(one.verdict for one in gains.applications)
    title = f"{gains.workload}: {count_of(len(gains.applications), 'application')} by {' and '.join(gains.by)}"
    judged = [one for one in gains.applications if one.verdict in JUDGED]
    told = [f"{verdict} {count:,}" for verdict, count in counts.most_common()]
    lines = [title, f"fitted on jobs before second {gains.split:,}, judged on the later ones: {', '.join(told)}"]
    if gains.left_out:
        lines.append(
            f"left out: {count_of(gains.left_out, 'job')} without a run time, a request or a known application"
        )
    if judged:
        head = [
            " ".join(gains.by),
            "past",
            "later",
            "cost ratio",
            "95 % interval",
            "saved (proc. h)",
            "verdict",
            "requests",
        ]
        shown = judged[:most]
        lines += ["", _table(head, [_gain_row(one) for one in shown], texts=(0, 6, 7))]
        if len(judged) > most:
            lines.append(f"... and {len(judged) - most:,} more")
        certain = sum(one.saved for one in judged if one.verdict == GAINS)
        lines += [
            "",
            f"saved by the {counts[GAINS]:,} whose whole 95 % interval is below 1: {certain:,.0f} processor hours",
        ]
    return "\n".join(lines)


def _gain_row(one: ApplicationGain) -> list[str]:
    requests = one.sequence.requests if one.sequence else ()
    return [
        " ".join(map(str, one.key)),
        f"{one.past:,}",
        f"{one.future:,}",
        f"{one.ratio:.3f}",
        f"[{one.low:.3f}, {one.high:.3f}]",
        f"{one.saved:,.0f}",
        one.verdict,
        ", ".join(map(_short, requests)),
    ]


def rounded_text(distribution: RunTimeDistribution) -> str:
    """Return the text of a distribution with three digits per number; for an empirical one, the number of runs.

    Examples
    --------
    >>> rounded_text(RunTimeDistribution.parse("gamma(0s,43211s,scale=3611s,shape=2.00001)"))
    'gamma(0s,12h,scale=60.2min,shape=2)'
    """
    if not isinstance(distribution, ContinuousDistribution):
        return f"distribution on {duration(distribution.low)} to {duration(distribution.high)}"
    durations = FAMILIES[distribution.family].durations if distribution.family in FAMILIES else ("loc", "scale")
    ends = [_short(distribution.low), _short(distribution.high)]
    values = [
        f"{name}={_short(value) if name in durations else f'{value:.3g}'}" for name, value in distribution.parameters
    ]
    return f"{distribution.family}({','.join(ends + values)})"


def _time_of(distribution: RunTimeDistribution) -> tuple[Callable[[float], str], str]:
    """Return the format of times in the table of a distribution, and their unit."""
    if distribution.high >= HOUR:
        return lambda seconds: f"{seconds / HOUR:.4f}", "h"
    return lambda seconds: f"{seconds:,.2f}", "s"


def _short(seconds: float) -> str:
    return ("-" if seconds < 0 else "") + duration(abs(seconds)).replace(" ", "")


def _table(head: list[str], rows: list[list[str]], texts: Collection[int] = (0,)) -> str:
    """Return a table, with text columns flush left and number columns flush right."""
    table = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if number in texts else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    )
