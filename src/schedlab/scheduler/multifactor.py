"""Slurm's multifactor priority as a policy: multifactor(age=1000,size=...,fairshare=...)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, ClassVar, Literal

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.scheduler.arguments import argument, in_minutes, number, plain, read_arguments, whole, written_arguments
from schedlab.scheduler.policy import Policy, Scores
from schedlab.scheduler.site_factor import order_of

HIGHEST = 2**32 - 1
"""Slurm keeps priorities in 32 bits."""

WEIGHTS = ("age", "size", "fairshare", "partition", "qos")

CHOICES: dict[str, dict[str, object]] = {
    "favor": {"large": "large", "small": "small"},
    "relative": {"yes": True, "no": False},
    "shares": {"tree": "tree", "classic": "classic"},
    "accrue": {"eligible": "eligible", "always": "always"},
    "ends": {"counted": "counted", "lost": "lost"},
    "amounts": {"yes": True, "no": False},
}
"""The values of the words in a text."""

BELONGS_TO = {
    "favor": "size",
    "relative": "size",
    "max_age": "age",
    "accrue": "age",
    "half_life": "fairshare",
    "shares": "fairshare",
    "dampening": "fairshare",
    "ends": "fairshare",
    "amounts": "tres",
    "order": "site",
}
"""The weight without which an option has no effect."""


def _factors(name: str, text: str) -> dict[int, float]:
    """Read 1:0.5;2:1."""
    factors: dict[int, float] = {}
    for pair in text.split(";"):
        match = re.fullmatch(r"\s*([0-9]{1,12})\s*:\s*([0-9.]+)\s*", pair)
        if match is None or int(match[1]) in factors:
            raise InputError(f"multifactor: {name}={text}: give each factor once with its number, such as 1:0.5;2:1")
        factors[int(match[1])] = number(name, match[2], high=1)
    return factors


def _weights(name: str, text: str) -> dict[str, float]:
    """Read cpu:1000;gres/gpu:3000; types of GPUs have a colon themselves."""
    weights: dict[str, float] = {}
    for pair in text.split(";"):
        resource, _, weight = pair.strip().rpartition(":")
        if not re.fullmatch(r"[a-z]+(/[a-z0-9_.:-]+)?", resource) or resource in weights:
            raise InputError(
                f"multifactor: {name}={text}: give each resource once with its weight, such as cpu:1;mem:2"
            )
        weights[resource] = number(name, weight, high=HIGHEST)
    return weights


def _weight(meaning: str, synonym: str) -> Any:
    """Return an argument that is a weight, PriorityWeight... in slurm.conf."""
    return argument(
        f"weight {meaning}",
        lambda name, text: number(name, text, high=HIGHEST),
        plain,
        synonym=f"PriorityWeight{synonym}",
        default=0,
    )


def _choice(name: str, meaning: str, default: object) -> Any:
    """Return an argument that takes one of a few words."""
    words = CHOICES[name]

    def read(name: str, text: str) -> object:
        if text not in words:
            raise InputError(f"multifactor: {name}={text}; known are {' and '.join(words)}")
        return words[text]

    def write(value: object) -> str:
        return next(word for word, known in words.items() if known == value)

    return argument(meaning, read, write, words=words, default=default)


def _factors_by(meaning: str) -> Any:
    """Return an argument that is a factor for each of some numbers."""

    def write(factors: Mapping[int, float]) -> str:
        return ";".join(f"{one}:{plain(factor)}" for one, factor in sorted(factors.items()))

    return argument(f"factors by {meaning}", _factors, write, default_factory=dict, hash=False)


@explained
@dataclass(frozen=True)
class Multifactor(Policy):
    """A weighted sum of factors between 0 and 1, the largest first; ties go to the earlier submission.

    Parameters
    ----------
    age, size, fairshare, partition, qos
        Weights: PriorityWeightAge, -JobSize, -Fairshare, -Partition, -QOS.
    max_age
        Seconds of waiting after which the age factor is 1 (PriorityMaxAge).
    favor
        "large" or "small" jobs (PriorityFavorSmall).
    relative
        Size counts per minute of the request (SMALL_RELATIVE_TO_TIME).
    half_life
        Seconds in which usage decays by half (PriorityDecayHalfLife); 0: no decay.
    period
        Seconds between two computations of priorities and usage (PriorityCalcPeriod). Between computations they are
        constant.
    shares
        "tree": users are ranked by shares over usage, account by account (Fair Tree, Slurm's default since 19.05).
        "classic": 2^(-usage/share/dampening). Accounts and shares are those of the cluster; without a cluster, all
        users have equal shares.
    dampening
        See above (FairShareDampeningFactor); with "classic" alone.
    ends
        "counted": a job's usage since the last computation is charged when it ends, as with
        AccountingStorageEnforce=limits. "lost": it is never charged, as in Slurm 22.05 without that setting.
    accrue
        "eligible": the age grows once all dependencies are met. "always": from submission (ACCRUE_ALWAYS).
    tres
        Weights of the resources that a job requests (PriorityWeightTRES): cpu, mem (MiB), node, billing, gres/gpu,
        gres/gpu:TYPE. On a machine without nodes, cpu alone counts.
    amounts
        Whether these multiply amounts (NO_NORMAL_TRES), not shares of what the partition has.
    site, order
        Points that a site factor gives the job that a policy wants first, and the policy: a name, or a formula without
        commas, whose scores are fixed as a job is submitted. It is what `schedlab deploy` installs.
    partitions, qoses
        Factors by partition_id and, for the quality of service, by queue_id; 0 for the others.

    Examples
    --------
    >>> Multifactor(age=50000000, size=600000000, favor="small", relative=True).text
    'multifactor(age=50000000,size=600000000,favor=small,relative=yes)'

    References
    ----------
    Slurm's documentation of the multifactor priority plugin, and its source (priority_multifactor.c, fair_tree.c).
    """

    name: ClassVar[str] = "multifactor"
    formula: ClassVar[str] = "-(age*A + size*S + fairshare*F + partition*P + qos*Q + tres*R + site)"
    age: float = _weight("of the waiting time, in parts of max_age; a dependent job's begins at its release", "Age")
    size: float = _weight("of the processors, as a share of the machine", "JobSize")
    fairshare: float = _weight("of having used little", "Fairshare")
    partition: float = _weight("of the factors in partitions=", "Partition")
    qos: float = _weight("of the factors in qoses=, by the queue of the log", "QOS")
    max_age: int = argument(
        "seconds of waiting from which the age factor is 1",
        whole,
        synonym="PriorityMaxAge",
        read_synonym=in_minutes,
        default=7 * 86400,
    )
    favor: Literal["large", "small"] = _choice("favor", "which jobs the size factor favours", "large")
    relative: bool = _choice("relative", "yes: size counts per minute of the request", False)
    half_life: int = argument(
        "seconds after which past usage counts half; 0: it never fades",
        whole,
        synonym="PriorityDecayHalfLife",
        read_synonym=in_minutes,
        default=7 * 86400,
    )
    period: int = argument(
        "seconds between two computations of priorities",
        whole,
        synonym="PriorityCalcPeriod",
        read_synonym=in_minutes,
        default=300,
    )
    shares: Literal["tree", "classic"] = _choice(
        "shares", "tree: Fair Tree; classic: 2^(-usage/share/dampening)", "tree"
    )
    dampening: int = argument(
        "what the ratio of usage to share is divided by, with shares=classic",
        whole,
        synonym="FairShareDampeningFactor",
        default=1,
    )
    accrue: Literal["eligible", "always"] = _choice(
        "accrue", "always: a dependent job ages from its submission on", "eligible"
    )
    ends: Literal["counted", "lost"] = _choice(
        "ends",
        "lost: what a job has used since the last computation before its end never counts, as without "
        "AccountingStorageEnforce=limits",
        "counted",
    )
    partitions: Mapping[int, float] = _factors_by("partition_id, such as 1:0.5;2:1; 0 for the others")
    qoses: Mapping[int, float] = _factors_by("queue_id, such as 1:0.5;2:1; 0 for the others")
    tres: Mapping[str, float] = argument(
        "weights of what a job requests as shares of its partition, such as cpu:1000;mem:500;gres/gpu:3000",
        _weights,
        lambda weights: ";".join(f"{one}:{plain(weight)}" for one, weight in sorted(weights.items())),
        default_factory=dict,
        hash=False,
    )
    site: float = argument(
        "points of the policy in order=, from the job that it wants first to the one that it wants last",
        lambda name, text: number(name, text, high=HIGHEST),
        plain,
        default=0,
    )
    order: str = argument("policy of site=, fixed at submission, such as saf or p*q", default="")
    amounts: bool = _choice("amounts", "yes: weights in tres= multiply amounts, not shares", False)

    def __post_init__(self) -> None:
        for one in WEIGHTS:
            _check_weight(one, getattr(self, one))
        if sum(getattr(self, weight) for weight in (*WEIGHTS, "site")) > HIGHEST:
            raise InputError(f"multifactor: the weights add up to more than {HIGHEST}, the highest priority of Slurm")
        if not any(getattr(self, weight) for weight in (*WEIGHTS, "tres")):
            raise InputError("multifactor: give at least one weight: age= size= fairshare= partition= qos= tres=")
        if self.max_age < 1 or self.period < 1 or self.half_life < 0:
            raise InputError("multifactor: max_age= and period= must be at least 1 second, half_life= at least 0")
        if self.dampening < 1 or (self.dampening > 1 and self.shares == "tree"):
            raise InputError("multifactor: dampening= must be at least 1, and goes with shares=classic alone")
        for name, words in CHOICES.items():
            if getattr(self, name) not in words.values():
                raise InputError(f"multifactor: {name}={getattr(self, name)}; known are {' and '.join(words)}")
        for option in fields(self):
            weight = BELONGS_TO.get(option.name)
            if weight is not None and getattr(self, option.name) != option.default and not getattr(self, weight):
                raise InputError(f"multifactor: {option.name}= has no effect without {weight}=: remove it")
        for weight, factors in (("partition", self.partitions), ("qos", self.qoses)):
            if bool(getattr(self, weight)) != bool(factors):
                raise InputError(f"multifactor: {weight}= also needs factors: {_plural(weight)}=1:0.5;2:1")
            if not all(0 <= factor <= 1 for factor in factors.values()):
                raise InputError(f"multifactor: {_plural(weight)}= must be factors from 0 to 1")

        self._check_site_factor()

    def _check_site_factor(self) -> None:
        if self.site and not self.order:
            raise InputError("multifactor: site= also needs the policy that it is of: order=saf")
        if self.site:
            order_of(self.order)

    @classmethod
    @explained
    def parse(cls, text: str) -> Multifactor:
        """Read the canonical text.

        Raises
        ------
        InputError
            If an argument is unknown or has an invalid value.

        Examples
        --------
        >>> Multifactor.parse("multifactor(age=1000, max_age=14d)").max_age
        1209600
        >>> Multifactor.parse("multifactor(PriorityWeightAge=1000, PriorityMaxAge=14-0)").text
        'multifactor(age=1000,max_age=1209600)'
        """
        return cls(**read_arguments(cls, text))

    @property
    def text(self) -> str:
        """The canonical text, with the arguments that differ from the defaults."""
        return f"multifactor({written_arguments(self)})"

    @property
    def program(self) -> None:
        """None: priorities depend on the usage of users."""
        return None

    @property
    def changes_with_time(self) -> bool:
        """True: jobs age."""
        return True

    def scores(self, *_: object) -> Scores:
        """Raise InputError: a priority depends on more than these columns."""
        raise InputError(
            "multifactor priorities depend on users and on the machine: run time, processors, submit and waiting time "
            "do not determine them; simulate the scheduler"
        )


def _plural(weight: str) -> str:
    return {"partition": "partitions", "qos": "qoses"}[weight]


def _check_weight(name: str, value: object) -> None:
    if not isinstance(value, Real) or not float(value) >= 0:
        raise InputError(f"multifactor: {name}={value!r}: weights are numbers of 0 or more")
