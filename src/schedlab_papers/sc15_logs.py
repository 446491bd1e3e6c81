"""The logs of SC'15, its heuristic triples, and what the authors got: as printed, and in the files they published."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from schedlab import Scheduler
from schedlab.policies import SCHEDULERS as ALIASES
from schedlab.predictors import CORRECTIONS, Regression
from schedlab_papers.reproduction import Number, chosen

EASY, SJBF = "fcfs+easy", "fcfs+easy:sjf"
BACKFILLINGS = (EASY, SJBF)
CLAIRVOYANT = tuple(f"{backfilling}@actual" for backfilling in BACKFILLINGS)
BASICS = (*BACKFILLINGS, *CLAIRVOYANT)
EASY_PLUS_PLUS, E_LOSS = ALIASES["easy++"], ALIASES["e-loss"]

Range = tuple[float, float]


def triples(predictors: Iterable[str], backfillings: Iterable[str] = BACKFILLINGS) -> list[str]:
    """Return the texts of predictors x corrections x backfillings.

    Examples
    --------
    >>> triples(["ave2"], ["fcfs+easy"])
    ['fcfs+easy@ave2/requested', 'fcfs+easy@ave2/incremental', 'fcfs+easy@ave2/doubling']
    """
    grid = itertools.product(backfillings, predictors, CORRECTIONS)
    return [f"{backfilling}@{predictor}/{correction}" for backfilling, predictor, correction in grid]


def losses(features: str = "code") -> list[str]:
    """Return the texts of the regression with the 20 losses: two curves above, two below, five weights."""
    curves = ("square", "linear")
    weights = ("constant", "narrow", "wide", "small", "area")
    grid = itertools.product(curves, curves, weights)
    return [Regression(over, under, weight, features).text for over, under, weight in grid]  # type: ignore[arg-type]


PRINTED = [*BASICS, *triples(["ave2", "e-loss"])]
"""The triples of which single values are known."""

LEARNED = triples(losses())
GRID = [*BASICS, *triples(["ave2"]), *LEARNED]
CHOICES = [text for text in GRID if text not in CLAIRVOYANT]
"""The 128 that a site could use, among which the cross-validation chooses."""


def as_printed(scheduler: str) -> str:
    """Return the triple that has the features of the paper in place of those of its program."""
    parsed = Scheduler.parse(scheduler)
    if not isinstance(parsed.runtimes, Regression):
        return scheduler
    loss = parsed.runtimes
    printed = Regression(loss.over, loss.under, loss.weight, "paper").text
    return scheduler.replace(f"@{loss.text}/", f"@{printed}/")


@dataclass(frozen=True, slots=True)
class Sc15Log:
    """A log of the paper and what the authors got with it: mean bounded slowdowns, by triple.

    Parameters
    ----------
    name
        As in the paper.
    file
        In the directory of traces.
    jobs
        How many jobs the authors simulated.
    published, exact
        As printed, and with all digits.
    ranges, exact_ranges
        Best and worst learned triple, for each backfilling: as printed in Table 6, and in the authors' files over the
        20 losses that the paper describes.
    chosen, reduction
        Of the triple that cross-validation chooses, in Table 7: its value, and by how many percent it is below EASY.
    processors
        Size of the machine, where the authors did not use the log's own.
    notes
        Why ours may differ.
    """

    name: str
    file: str
    jobs: int
    published: Mapping[str, Number]
    ranges: tuple[Range, Range]
    chosen: float
    reduction: int
    exact: Mapping[str, Number] = field(default_factory=dict)
    exact_ranges: tuple[Range | None, Range | None] = (None, None)
    processors: int | None = None
    notes: tuple[str, ...] = ()


ANOTHER_LOG = (
    "The authors' copy of this log differs from the archive's cleaned version, which is simulated here, by the few "
    "jobs that the first row shows; where the copies are equal (KTH-SP2, CTC-SP2) all digits are. What is learned from "
    "a few other jobs is passed on to all later ones: learned triples move more than the others."
)
NOT_PUBLIC = (
    "The machine is taken as 80,640 processors, as in the authors' runs (the log says 93,312). Their copy of this "
    "log is the archive's; their exact results for it are not public."
)


def _values(*numbers: Number) -> dict[str, Number]:
    """Return the values of the triples in `PRINTED`, as many as there are."""
    return {text: number for text, number in zip(PRINTED, numbers, strict=False) if number is not None}


def _published(easy: float, easy_actual: float, sjbf_actual: float, easy_plus_plus: float) -> dict[str, Number]:
    return _values(easy, None, easy_actual, sjbf_actual) | {EASY_PLUS_PLUS: easy_plus_plus}


# In the order of PRINTED: the four basics, then EASY with AVE2 and E-loss, then EASY-SJBF with both.
LOGS = (
    Sc15Log(
        "KTH-SP2",
        "variants/predictsim/KTH-SP2/swf_unfiltered/log.swf.gz",
        28_481,
        _published(92.6, 71.7, 49.8, 63.5),
        ((62.6, 93.2), (51.4, 74.5)),
        51.4,
        44,
        _values(
            *(92.5765, 69.4054, 71.7224, 49.8477),
            *(65.724, 85.443, 76.922, 72.209, 71.298, 70.158),
            *(62.857, 63.501, 64.527, 60.258, 51.441, 62.170),
        ),
        ((62.8, 93.2), (51.4, 71.4)),
    ),
    Sc15Log(
        "CTC-SP2",
        "CTC-SP2-1996-3.1-cln.swf.gz",
        77_199,
        _published(49.6, 37.2, 17.6, 85.8),
        ((25.5, 163.5), (16.3, 134.7)),
        20.5,
        59,
        _values(
            *(49.5713, 30.0411, 37.1654, 17.5717),
            *(35.324, 64.647, 69.389, 28.897, 30.002, 25.757),
            *(26.534, 85.767, 55.641, 17.800, 20.548, 17.252),
        ),
        ((25.8, 110.0), (16.3, 104.2)),
    ),
    Sc15Log(
        "SDSC-SP2",
        "SDSC-SP2-1998-4.2-cln.swf.gz",
        54_006,
        _published(87.9, 70.5, 56.8, 79.4),
        ((70.9, 102.3), (69.7, 194.8)),
        75.0,
        15,
        _values(
            *(87.8703, 84.8889, 70.4779, 56.8362),
            *(79.212, 100.018, 83.990, 82.328, 89.045, 83.188),
            *(65.064, 79.396, 98.003, 72.284, 74.952, 81.683),
        ),
        ((75.8, 102.3), (69.8, 172.4)),
        notes=(ANOTHER_LOG,),
    ),
    Sc15Log(
        "SDSC-BLUE",
        "SDSC-BLUE-2000-4.2-cln.swf.gz",
        232_542,
        _published(36.5, 30.6, 13.2, 21.0),
        ((16.5, 48.0), (12.6, 47.8)),
        34.7,
        5,
        _values(
            *(36.5234, 19.8260, 30.6215, 13.1776),
            *(26.584, 33.548, 29.489, 36.536, 37.321, 36.294),
            *(16.827, 20.986, 22.339, 34.669, None, 36.339),
        ),
        ((24.2, 42.0), (17.7, 47.8)),
        notes=(ANOTHER_LOG,),
    ),
    Sc15Log(
        "Curie",
        "CEA-Curie-2011-2.1-cln.swf.gz",
        295_540,
        _published(202.1, 69.9, 12.1, 193.5),
        ((26.3, 9348.8), (24.3, 4010)),
        27.9,
        86,
        processors=80_640,
        notes=(NOT_PUBLIC,),
    ),
)


def named(names: Iterable[str]) -> list[Sc15Log]:
    """Return the logs with these names, or all if there are none.

    Raises
    ------
    InputError
        If the paper has no such log.
    """
    return chosen(LOGS, names, "SC'15")
