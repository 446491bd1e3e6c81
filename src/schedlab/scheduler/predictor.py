"""The run times that a scheduler assumes: the request, the actual run time, or a prediction learned online.

A predictor is asked once per job, at its submission, and receives the run time when the job completes. A job that
outlives its prediction gets another one from a correction, see `CORRECTIONS`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from typing import ClassVar, Literal

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.scheduler.arguments import argument
from schedlab.wording import exact_text

CLAIRVOYANT = "knows every run time beforehand (clairvoyant): a reference point, not a scheduler that can be installed"
"""The warning about schedulers that use actual run times."""

CORRECTIONS = ("requested", "incremental", "doubling")
"""The corrections of a prediction that has expired while the job still runs.

requested: the requested time. incremental: the first prediction and 1, 5, 15, 30 min, 1, 2, 5, 10, 20, 50, 100 h, at
most the request (Tsafrir et al., TPDS 2007, as programmed by Gaussier et al., SC 2015). doubling: twice the last
prediction, also beyond the request (as programmed for SC 2015).
"""

Curve = Literal["square", "linear"]
Weight = Literal["constant", "narrow", "wide", "small", "area"]
Features = Literal["code", "paper"]
Mean = Literal["geometric", "arithmetic"]

CHOICES: dict[str, tuple[str, ...]] = {
    "over": ("square", "linear"),
    "under": ("square", "linear"),
    "weight": ("constant", "narrow", "wide", "small", "area"),
    "features": ("code", "paper"),
}

MEANS = ("geometric", "arithmetic")

ATTRIBUTES = {
    "user": "user_id",
    "account": "group_id",
    "executable": "executable_id",
    "queue": "queue_id",
    "partition": "partition_id",
    "request": "requested_time",
    "processors": "processors",
}
"""The attributes that jobs of a group may have in common, and their names in `JobView`."""


def is_clairvoyant(text: str) -> bool:
    """Return whether a scheduler text uses actual run times.

    Examples
    --------
    >>> is_clairvoyant("fcfs+easy:sjf@actual"), is_clairvoyant("saf@similar+easy@requested")
    (True, False)
    """
    return re.search(r"@actual\b", text) is not None


def _whole(predictor: Predictor, name: str, *, least: int) -> None:
    value = getattr(predictor, name)
    if not isinstance(value, int) or value < least:
        raise InputError(f"predictor {predictor.name}: {name}={value!r} must be a whole number of at least {least}")


def _share(predictor: Predictor, name: str) -> None:
    value = getattr(predictor, name)
    if not isinstance(value, int | float) or not 0 < value < 1:
        raise InputError(f"predictor {predictor.name}: {name}={value!r} is not between 0 and 1")


def check_attributes(predictor: Predictor, by: str) -> None:
    """Raise InputError unless a text names different attributes of jobs, separated by dots."""
    names = by.split(".")
    if len(set(names)) < len(names) or not set(names) <= set(ATTRIBUTES):
        raise InputError(
            f"predictor {predictor.name}: by={by!r} must be different attributes separated by dots; "
            f"known are {', '.join(ATTRIBUTES)}"
        )


def arguments_of(predictor: Predictor, unnamed: str = "") -> str:
    """Return the parameters that differ from the defaults, in brackets; one of them may omit its name."""
    changed = [field.name for field in fields(predictor) if getattr(predictor, field.name) != field.default]
    shown = {name: exact_text(getattr(predictor, name)) for name in changed}
    arguments = [value if name == unnamed else f"{name}={value}" for name, value in shown.items()]
    return f"({','.join(arguments)})" if arguments else ""


@dataclass(frozen=True, eq=False)  # which those that wrap an object of Python would inherit: all of them were equal
class Predictor:
    """The source of the run times that a scheduler assumes.

    The fields of a subclass are its parameters; its text names those that differ from the defaults.
    """

    name: ClassVar[str]
    learns: ClassVar[bool] = True
    """Whether predictions depend on jobs that have completed."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of a job that it uses besides the user, see `ATTRIBUTES`."""
        return ()

    @property
    def text(self) -> str:
        """Its form in a scheduler text."""
        return f"{self.name}{arguments_of(self)}"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Requested(Predictor):
    """The time that the user requested."""

    name: ClassVar[str] = "requested"
    learns: ClassVar[bool] = False


REQUESTED = Requested()


@dataclass(frozen=True)
class Actual(Predictor):
    """The actual run time of the job: clairvoyance."""

    name: ClassVar[str] = "actual"
    learns: ClassVar[bool] = False


@dataclass(frozen=True)
class RecentAverage(Predictor):
    """The mean run time of the user's last completed jobs, rounded down; the request while there are fewer.

    Parameters
    ----------
    jobs
        The number of jobs.

    References
    ----------
    Tsafrir, Etsion and Feitelson, "Backfilling using system-generated predictions rather than user runtime
    estimates", TPDS 2007: two.
    """

    name: ClassVar[str] = "ave"
    jobs: int = argument("how many of the last jobs", default=2)

    def __post_init__(self) -> None:
        _whole(self, "jobs", least=1)

    @property
    def text(self) -> str:
        """`ave2`, or `ave(5)` for another number of jobs."""
        return "ave2" if self.jobs == 2 else f"ave({self.jobs})"


@dataclass(frozen=True)
class UserMean(Predictor):
    """The mean run time of all completed jobs of the user, rounded down; the request before the first."""

    name: ClassVar[str] = "mean"


@dataclass(frozen=True)
class UserQuantile(Predictor):
    """A quantile of the run times of the user's last completed jobs; the request before the first.

    Of k run times in ascending order it is the one at position ceil(k quantile), counted from 1.

    Parameters
    ----------
    quantile
        Between 0 and 1.
    jobs
        Maximum number of jobs to use.
    """

    name: ClassVar[str] = "quantile"
    quantile: float = argument("which quantile, between 0 and 1", default=0.5)
    jobs: int = argument("of how many of the last jobs", default=50)

    def __post_init__(self) -> None:
        _whole(self, "jobs", least=1)
        _share(self, "quantile")

    @property
    def text(self) -> str:
        """`median` for the usual median, otherwise `quantile(0.8)` or `quantile(0.8,jobs=20)`."""
        return "median" if self == UserQuantile() else f"{self.name}{arguments_of(self, 'quantile')}"


@dataclass(frozen=True)
class SimilarQuantile(Predictor):
    """A quantile of the run times of the user's last completed jobs that are similar to this one.

    Similar jobs are those with the same request and processors; if there are none, those with the same request; then
    all jobs of the user; before the first of these, the prediction is the request. The position of the quantile is that
    of `UserQuantile`.

    Parameters
    ----------
    quantile
        Between 0 and 1.
    jobs
        Maximum number of jobs to use.
    memory
        The number of last completed jobs of the user that are searched.
    """

    name: ClassVar[str] = "similar"
    quantile: float = argument("which quantile, between 0 and 1", default=0.5)
    jobs: int = argument("of how many of the last jobs that are like it", default=5)
    memory: int = argument("among how many of the last jobs of the user they are looked for", default=200)

    def __post_init__(self) -> None:
        _whole(self, "jobs", least=1)
        _whole(self, "memory", least=1)
        _share(self, "quantile")

    @property
    def text(self) -> str:
        """`similar`, or `similar(0.3)` or `similar(0.3,jobs=50)` for values other than the defaults."""
        return f"{self.name}{arguments_of(self, 'quantile')}"


@explained
@dataclass(frozen=True)
class GroupMean(Predictor):
    """The mean share of the request used by runs of the job's group, times the request; the request before the first.

    The narrowest group has all the attributes in common; each wider one drops the last of them, up to the group of all
    jobs. The mean of a group and the estimate of the next wider group are weighted: each run by its age, and the wider
    group's estimate as `shrink` runs.

    Parameters
    ----------
    by
        The attributes of the narrowest group (see `ATTRIBUTES`), joined by dots; the last one is dropped first.
    mean
        "geometric" or "arithmetic".
    shrink
        The weight of the next wider group's estimate, in runs of the group itself; 0: it counts only if the group has
        no run.
    decay
        The factor by which the weight of a run shrinks with each later run of its group: 1 for no decay, 0.95 for a
        memory of about 20 runs.

    References
    ----------
    Shrinkage of the means of small groups to that of a wider one: Buehlmann, "Experience rating and credibility", ASTIN
    Bulletin 4(3), 1967. Groups of similar jobs by user, executable, request and processors: Gibbons, "A historical
    application profiler for use by parallel schedulers", JSSPP 1997; Smith, Foster and Taylor, "Predicting application
    run times using historical information", JSSPP 1998.
    """

    name: ClassVar[str] = "groups"
    by: str = argument("what jobs of the narrowest group share", default="user.request")
    mean: Mean = argument("of the shares of requests", words=MEANS, default="geometric")
    shrink: float = argument("as how many runs the wider group's estimate counts", default=1.0)
    decay: float = argument("factor by which a run loses weight with each later one", default=0.95)

    def __post_init__(self) -> None:
        check_attributes(self, self.by)
        if self.mean not in MEANS:
            raise InputError(f"predictor groups: mean={self.mean!r} is unknown; known are {', '.join(MEANS)}")
        if not (isinstance(self.shrink, int | float) and math.isfinite(self.shrink) and self.shrink >= 0):
            raise InputError(f"predictor groups: shrink={self.shrink!r} must be a number of 0 or more")
        if not (isinstance(self.decay, int | float) and 0 < self.decay <= 1):
            raise InputError(f"predictor groups: decay={self.decay!r} must be above 0 and at most 1")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of the narrowest group, those of the widest first."""
        return tuple(self.by.split("."))

    @property
    def text(self) -> str:
        """`groups`, or `groups(user.executable,shrink=2)` for values other than the defaults."""
        return f"{self.name}{arguments_of(self, 'by')}"


@dataclass(frozen=True)
class Regression(Predictor):
    """Polynomial regression of degree 2 over the job and its user's history, learned online by normalised gradients.

    Parameters
    ----------
    over, under
        How the loss grows with the error of a prediction that is too long, or too short.
    weight
        The weight of an error: "constant" 1, "narrow" 5 + ln(p/q), "wide" 5 + ln(q/p), "small" 11 - ln(q p), "area" 1 +
        ln(q p), of a job of p seconds on q processors.
    features
        "code": the features of the authors' program, including its deviations; "paper": those of the paper's Table 2.
    threshold
        Seconds by which a prediction may be too long before it counts as too long.
    step, penalty
        The parameters of the learning algorithm: eta, and the weight lambda of the squared norm.

    References
    ----------
    Gaussier, Glesser, Reis and Trystram, "Improving backfilling by using machine learning to predict running times",
    SC 2015; Ross, Mineiro and Langford, "Normalized online learning", UAI 2013.
    """

    name: ClassVar[str] = "nag"
    over: Curve = argument("loss of predictions that are too long", words=CHOICES["over"], default="square")
    under: Curve = argument("loss of predictions that are too short", words=CHOICES["under"], default="linear")
    weight: Weight = argument("which jobs' errors count most", words=CHOICES["weight"], default="area")
    features: Features = argument("of the authors' program or of the paper", words=CHOICES["features"], default="code")
    threshold: float = argument("seconds that a prediction may be too long before it counts as that", default=0.0)
    step: float = argument("learning rate", default=5_000.0)
    penalty: float = argument("weight of the squared norm", default=4e9)

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            if (value := getattr(self, name)) not in known:
                raise InputError(f"predictor nag: {name}={value!r} is unknown; known are {', '.join(known)}")
        for name in ("threshold", "step", "penalty"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and math.isfinite(value) and value >= 0):
                raise InputError(f"predictor nag: {name}={value!r} must be a number of 0 or more")
        if self.step == 0:
            raise InputError("predictor nag: step=0 never learns: give a positive number")

    @property
    def text(self) -> str:
        """`e-loss` for the loss that SC'15 recommends, otherwise `nag(...)`."""
        return "e-loss" if self == Regression() else super().text
