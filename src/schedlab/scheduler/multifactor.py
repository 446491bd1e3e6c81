"""Slurm's multifactor priority as a policy: multifactor(age=1000,size=...,fairshare=...)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar, Literal

from schedlab.errors import InputError
from schedlab.scheduler.arguments import arguments_of, number, plain, whole
from schedlab.scheduler.policy import Policy, Scores

HIGHEST = 2**32 - 1
"""Slurm keeps priorities in 32 bits."""

WEIGHTS = ("age", "size", "fairshare", "partition", "qos")

CHOICES: dict[str, dict[str, object]] = {
    "favor": {"large": "large", "small": "small"},
    "relative": {"yes": True, "no": False},
    "shares": {"tree": "tree", "classic": "classic"},
    "accrue": {"eligible": "eligible", "always": "always"},
}
"""What the words of a text stand for."""

BELONGS_TO = {
    "favor": "size",
    "relative": "size",
    "max_age": "age",
    "accrue": "age",
    "half_life": "fairshare",
    "shares": "fairshare",
}
"""The weight without which an option changes nothing."""


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
        Seconds in which what a user has used counts half (PriorityDecayHalfLife); 0: for ever in full.
    period
        Seconds between two computations of priorities and usage (PriorityCalcPeriod). In between they stand still.
    shares
        "tree": users are ranked by the usage of their share (Fair Tree, Slurm's default since 19.05). "classic":
        2^(-usage/share). All users have equal shares.
    accrue
        "eligible": the age grows once no dependency is open. "always": from submission (ACCRUE_ALWAYS).
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
    formula: ClassVar[str] = "-(age*A + size*S + fairshare*F + partition*P + qos*Q)"
    age: float = 0
    size: float = 0
    fairshare: float = 0
    partition: float = 0
    qos: float = 0
    max_age: int = 7 * 86400
    favor: Literal["large", "small"] = "large"
    relative: bool = False
    half_life: int = 7 * 86400
    period: int = 300
    shares: Literal["tree", "classic"] = "tree"
    accrue: Literal["eligible", "always"] = "eligible"
    partitions: Mapping[int, float] = field(default_factory=dict, hash=False)
    qoses: Mapping[int, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not all(getattr(self, weight) >= 0 for weight in WEIGHTS):
            raise InputError("multifactor: weights are at least 0")
        if sum(getattr(self, weight) for weight in WEIGHTS) > HIGHEST:
            raise InputError(f"multifactor: the weights add up to more than {HIGHEST}, the highest priority of Slurm")
        if not any(getattr(self, weight) for weight in WEIGHTS):
            raise InputError("multifactor: give at least one weight: age= size= fairshare= partition= qos=")
        if self.max_age < 1 or self.period < 1 or self.half_life < 0:
            raise InputError("multifactor: max_age= and period= are at least 1 second, half_life= at least 0")
        for name, words in CHOICES.items():
            if getattr(self, name) not in words.values():
                raise InputError(f"multifactor: {name}={getattr(self, name)}; known are {' and '.join(words)}")
        for option in fields(self):
            weight = BELONGS_TO.get(option.name)
            if weight is not None and getattr(self, option.name) != option.default and not getattr(self, weight):
                raise InputError(f"multifactor: {option.name}= has no effect without {weight}=: leave it out")
        for weight, factors in (("partition", self.partitions), ("qos", self.qoses)):
            if bool(getattr(self, weight)) != bool(factors):
                raise InputError(f"multifactor: {weight}= is a weight and needs factors: {_plural(weight)}=1:0.5;2:1")
            if not all(0 <= factor <= 1 for factor in factors.values()):
                raise InputError(f"multifactor: {_plural(weight)}= are factors from 0 to 1")

    @classmethod
    def parse(cls, text: str) -> Multifactor:
        """Read the canonical text.

        Raises
        ------
        InputError
            If an argument is unknown or not possible.

        Examples
        --------
        >>> Multifactor.parse("multifactor(age=1000, max_age=14d)").max_age
        1209600
        """
        _, arguments = arguments_of(text, [option.name for option in fields(cls)])
        values: dict[str, object] = {}
        for name, value in arguments.items():
            if name in WEIGHTS:
                values[name] = number(name, value, high=HIGHEST)
            elif name in ("max_age", "half_life", "period"):
                values[name] = whole(name, value)
            elif name in ("partitions", "qoses"):
                values[name] = _factors(name, value)
            else:
                values[name] = _choice(name, value)
        return cls(**values)  # type: ignore[arg-type]

    @property
    def text(self) -> str:
        """The canonical text: what is not the default."""
        shown = []
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name in ("partitions", "qoses"):
                if value:
                    pairs = ";".join(f"{one}:{plain(factor)}" for one, factor in sorted(value.items()))
                    shown.append(f"{option.name}={pairs}")
            elif option.name == "relative":
                shown += ["relative=yes"] if value else []
            elif option.name in WEIGHTS:
                shown += [f"{option.name}={plain(value)}"] if value else []
            elif value != option.default:
                shown.append(f"{option.name}={value}")
        return f"multifactor({','.join(shown)})"

    @property
    def program(self) -> None:
        """None: priorities depend on what users have used."""
        return None

    @property
    def changes_with_time(self) -> bool:
        """True: jobs age."""
        return True

    def scores(self, *_: object) -> Scores:
        """Raise InputError: these columns do not say what a priority depends on."""
        raise InputError(
            "multifactor priorities depend on users and on the machine: run time, processors, submit and waiting time "
            "do not determine them; simulate the scheduler"
        )


def _plural(weight: str) -> str:
    return {"partition": "partitions", "qos": "qoses"}[weight]


def _factors(name: str, text: str) -> dict[int, float]:
    """Read 1:0.5;2:1."""
    factors: dict[int, float] = {}
    for pair in text.split(";"):
        match = re.fullmatch(r"\s*([0-9]{1,12})\s*:\s*([0-9.]+)\s*", pair)
        if match is None or int(match[1]) in factors:
            raise InputError(f"multifactor: {name}={text}: write factors by number, each once, such as 1:0.5;2:1")
        factors[int(match[1])] = number(name, match[2], high=1)
    return factors


def _choice(name: str, text: str) -> object:
    """Read one of a few words."""
    words = CHOICES[name]
    if text not in words:
        raise InputError(f"multifactor: {name}={text}; known are {' and '.join(words)}")
    return words[text]
