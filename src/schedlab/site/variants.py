"""Variants of a site: what to change, from a file or as a grid."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from schedlab.arguments import explained
from schedlab.cluster.event_text import events_text
from schedlab.cluster.node_events import NodeEvents
from schedlab.documents import checked, read_toml
from schedlab.energy.power import check_watts
from schedlab.errors import InputError, located
from schedlab.imports import check_imports
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site.changes import parse_change
from schedlab.site.nodes_off import is_of_power
from schedlab.site.time_limits import Long, Requests
from schedlab.site.variant_names import name_of, point_name
from schedlab.slurm.own_priority import HIGHEST_WEIGHT
from schedlab.wording import shown
from schedlab.workload.checkpoint_rules import parse_checkpoint_rules

MOST = 100_000
"""Variants of a grid: more is a mistake."""

AS_IT_IS = "as it is"
POLICY, LOAD, REQUESTS, LONG = "policy", "load", "requests", "long"
CHECKPOINTS, CAP = "checkpoints", "cap"
AXES = (POLICY, LOAD, REQUESTS, LONG, CHECKPOINTS, CAP)
"""Axes of a grid that are not lines of the configuration."""

GIVEN: Final = "given"
Cap = float | Literal["given"]
"""Watts that no start may exceed, or "given": the cap of the power model, which may change with time."""


@explained
@dataclass(frozen=True, slots=True)
class Variant:
    """A site as it might be.

    Parameters
    ----------
    name
        Of the variant, in tables.
    changes
        Of the configuration, all together, as for `schedlab.site.parse_change`.
    policy
        A policy in place of the site's priorities, or a whole scheduler; empty: the site's own.
    points
        What the policy adds, as one factor, to the site's own priorities: points of the job that it wants first; 0: it
        takes their place. None: as `schedlab deploy` does it, within them if its scores are fixed at submission.
    load
        Factor of the offered load: with 1.1, the same jobs come in a shorter time.
    requests
        What becomes of requests that a change of a limit on time (MaxTime, MaxWall) forbids: "cut", they become the new
        limit; or "drop", these jobs are left out.
    long
        What becomes of jobs with such requests that ran longer than the new limit: "killed" at it; "split", they run in
        pieces, each after the one before; or "drop", they are left out.
    node_events
        What happens to the nodes here, in the seconds of the jobs; None: nothing that the site does not have.
    own_events
        Whether the site's own node events happen here, too.
    slurm
        The version of Slurm whose rules hold where they are known to differ; empty: those of the site as it is.
    rules
        Names of rules of `schedlab.scheduler.slurm_versions` that alone are those of this version; none: all are.
    checkpoints
        Rules by which jobs write checkpoints, see `schedlab.workload.with_checkpoints`; empty: none do.
    cap
        Watts that the site may draw: no job starts that would bring its power above them. 0: no cap; "given": that of
        the power model, which may change with time.
    nodes_off
        Whether idle nodes are switched off as the site's slurm.conf says; a change of that says it by itself.

    Raises
    ------
    InputError
        If a change or the policy cannot be understood, the load is not positive, or there is no such way.

    Examples
    --------
    >>> Variant("quick", ("SchedulerParameters.bf_interval=30",), policy="saf").policy
    'saf'
    """

    name: str
    changes: tuple[str, ...] = ()
    policy: str = ""
    load: float = 1.0
    requests: Requests = "cut"
    long: Long = "killed"
    node_events: NodeEvents | None = None
    own_events: bool = True
    points: int | None = None
    slurm: str = ""
    rules: tuple[str, ...] = ()
    checkpoints: str = ""
    cap: Cap = 0.0
    nodes_off: bool = False

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InputError("a variant needs a name")
        for text in self.changes:
            parse_change(text)
        if self.policy:
            Scheduler.parse(self.policy)
        if self.points is not None and not (self.policy and 0 <= self.points <= HIGHEST_WEIGHT):
            raise InputError(f"variant {self.name}: points={self.points}: 0 to {HIGHEST_WEIGHT:,} points of a policy")
        if self.checkpoints:
            parse_checkpoint_rules(self.checkpoints)
        if self.cap != GIVEN:
            check_watts(f"variant {self.name}: cap", self.cap)
        if not 0 < self.load <= 100:
            raise InputError(f"variant {self.name}: load={self.load}: must be a factor above 0, such as 1.1")
        for what, value, known in ((REQUESTS, self.requests, Requests), (LONG, self.long, Long)):
            if value not in get_args(known):
                ways = ", ".join(get_args(known))
                raise InputError(f"variant {self.name}: {what}={value}: must be one of {ways}")

    @classmethod
    @explained
    def of(cls, changes: Sequence[str], policy: str = "", **shortened: Any) -> Variant:
        """Return a variant that is named by what it changes; `shortened` has its requests, long and points.

        Examples
        --------
        >>> Variant.of(["SchedulerParameters.bf_interval=30", "QOS=high MaxJobsPerUser=5"], "saf").name
        'bf_interval=30, QOS high MaxJobsPerUser=5, policy=saf'
        """
        if not policy:
            shortened.pop("points", None)
        return cls(name_of(changes, policy, shortened.get("points")), tuple(changes), policy, **shortened)

    @property
    def text(self) -> str:
        """What is changed, in one line."""
        parts = [*self.changes, *([f"policy={self.policy}"] if self.policy else [])]
        parts += [] if self.points is None else [f"points={self.points}"]
        parts += [f"load={self.load:g}"] if self.load != 1 else []
        parts += [f"requests={self.requests}"] if self.requests != "cut" else []
        parts += [f"long={self.long}"] if self.long != "killed" else []
        parts += [] if self.node_events is None else [events_text(self.node_events)]
        parts += [] if self.own_events else ["without the site's own node events"]
        parts += [f"Slurm {self.slurm}"] if self.slurm else []
        parts += [f"only {' and '.join(self.rules)}"] if self.rules else []
        parts += [f"checkpoints={self.checkpoints}"] if self.checkpoints else []
        parts += [f"cap={text_of_cap(self.cap)}"] if self.cap else []
        return "; ".join(parts) or AS_IT_IS


def text_of_cap(cap: Cap) -> str:
    """Return a cap as it is written; nothing for none."""
    return cap if isinstance(cap, str) else f"{cap:g}" if cap else ""


def compared_with(variant: Variant) -> Variant:
    """Return the site as it is, with the load of a variant that changes more than that: else both are in the effect.

    If a variant changes when nodes are switched off, the site as it is does with them what its slurm.conf says, and has
    the same node events. If jobs of the variant write checkpoints, the same nodes fail at the site as it is.

    Examples
    --------
    >>> compared_with(Variant("busier", load=1.1)).load, compared_with(Variant("both", policy="saf", load=1.1)).load
    (1.0, 1.1)
    >>> compared_with(Variant("off", ("SuspendTime=600",))).nodes_off
    True
    """
    words = (variant.changes, variant.policy, variant.slurm, variant.checkpoints, variant.cap)
    more = any(words) or not variant.own_events or variant.node_events is not None
    nodes_off = any(is_of_power(parse_change(text)) for text in variant.changes)
    return Variant(
        AS_IT_IS,
        load=variant.load if more else 1.0,
        node_events=variant.node_events if variant.checkpoints else None,
        own_events=variant.own_events or not nodes_off,
        nodes_off=nodes_off,
    )


Axes = Mapping[str, Sequence[str]]
"""Values by what they are values of: a parameter, a line up to its option, policy, load, requests or long."""


@explained
def parse_axis(text: str) -> tuple[str, tuple[str, ...]]:
    """Read an axis of a grid.

    Parameters
    ----------
    text
        `WHAT=VALUE,VALUE...`, where WHAT is what stands before the value in a change, or policy, load, requests,
        long, checkpoints or cap. Values that have commas themselves are separated by `;`, as rules of checkpoints are.

    Raises
    ------
    InputError
        If it is not written like that, or a value is given twice.

    Examples
    --------
    >>> parse_axis("SchedulerParameters.bf_interval=30,60")
    ('SchedulerParameters.bf_interval', ('30', '60'))
    >>> parse_axis("PartitionName=long MaxTime=1-0,2-0")
    ('PartitionName=long MaxTime', ('1-0', '2-0'))
    >>> parse_axis("policy=saf; multifactor(age=1,size=2)")[1]
    ('saf', 'multifactor(age=1,size=2)')
    """
    what, equals, rest = _split(text)
    apart = ";" if ";" in rest or what.lower() == CHECKPOINTS else ","
    values = tuple(part.strip() for part in rest.split(apart))
    if not equals or not what or not all(values):
        raise InputError(
            f"axis {shown(text)}: must be written WHAT=VALUE,VALUE, such as SchedulerParameters.bf_interval=30,60"
        )
    if len(set(values)) < len(values):
        raise InputError(f"axis {shown(text)}: a value is given twice")
    return what, values


def _split(text: str) -> tuple[str, str, str]:
    """Split what is changed from its values: at the first "=" of a parameter, at the last option's of a line."""
    head, equals, rest = (part.strip() for part in text.partition("="))
    words = rest.split(" ")
    places = [number for number, word in enumerate(words) if number and "=" in word]
    if "." in head or head.lower() in AXES or not places:
        return head, equals, rest
    option, _, value = words[places[-1]].partition("=")
    before = " ".join([*words[: places[-1]], option])
    return f"{head}={before}", "=", " ".join([value, *words[places[-1] + 1 :]])


@explained
def grid(axes: Axes, *, requests: str = "cut", long: str = "killed") -> list[Variant]:
    """Return a variant for every combination of values, named by them.

    Parameters
    ----------
    axes
        Values of each.
    requests, long
        Of all variants, unless they are axes; see `Variant`.

    Raises
    ------
    InputError
        If there is no axis, a value is not possible, or there are more than `MOST` combinations.

    Examples
    --------
    >>> [one.name for one in grid({"SchedulerParameters.bf_interval": ["30", "60"], "load": ["1", "1.1"]})]
    ['bf_interval=30, load=1', 'bf_interval=30, load=1.1', 'bf_interval=60, load=1', 'bf_interval=60, load=1.1']
    """
    if not axes:
        raise InputError("a grid needs at least one axis, such as SchedulerParameters.bf_interval=30,60")
    number = 1
    for values in axes.values():
        number *= len(values)
    if number > MOST:
        raise InputError(f"the grid has {number:,} variants; the maximum is {MOST:,}: give fewer values")
    usual = {REQUESTS: requests, LONG: long}
    return [at(dict(zip(axes, values, strict=True)), usual) for values in itertools.product(*axes.values())]


def at(point: Mapping[str, str], usual: Mapping[str, str] = MappingProxyType({})) -> Variant:
    """Return the variant at a point of a grid; `usual` has what holds if the point does not say it."""
    changes: list[str] = []
    given: dict[str, Any] = dict(usual)
    for what, value in point.items():
        if (word := what.lower()) in AXES:
            is_number = word == LOAD or (word == CAP and value != GIVEN)
            given[word] = _number(word, value) if is_number else value
        else:
            changes.append(f"{what}={value}")
    return Variant(", ".join(point_name(what, value) for what, value in point.items()), tuple(changes), **given)


def _number(word: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        watts = f"a number of watts, such as 400000, or {GIVEN}, that of the power file"
        what = "a factor, such as 1.1" if word == LOAD else watts
        raise InputError(f"{word}={shown(text)}: must be {what}") from None


REMEDY = "write [[variant]] tables with set, policy, load, requests, long, checkpoints, cap or name, or a table [over]"
"""What to do about a file of variants that cannot be understood."""


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = ""
    set: list[str] = []
    policy: str = ""
    load: float = 1.0
    requests: Requests | None = None
    long: Long | None = None
    checkpoints: str = ""
    cap: Cap = 0.0

    def called(self) -> str:
        """Return its name or, if it has none, what it changes."""
        words = {LOAD: f"{self.load:g}" if self.load != 1 else "", REQUESTS: self.requests, LONG: self.long}
        words |= {CHECKPOINTS: self.checkpoints, CAP: text_of_cap(self.cap)}
        parts = [name_of(self.set, self.policy), *(f"{what}={value}" for what, value in words.items() if value)]
        if not (name := self.name or ", ".join(filter(None, parts))):
            raise InputError(f"a variant has neither changes nor a name: {REMEDY}")
        return name


class _Document(BaseModel):
    """What a file of variants says."""

    model_config = ConfigDict(extra="forbid", strict=True)

    variant: list[_Entry] = []
    over: dict[str, Annotated[list[str | int | float], Field(min_length=1)]] = {}


_DOCUMENT = TypeAdapter(_Document)


@explained
def read_variants(path: str | PathLike[str], *, requests: str = "cut", long: str = "killed") -> list[Variant]:
    """Read variants from a TOML file: tables `[[variant]]` and a table `[over]`, a grid.

    Parameters
    ----------
    path
        Of the file. A variant has set, policy, load, requests, long, checkpoints and cap, and a name, without which
        its changes name it.
    requests, long
        Of all variants that do not say it themselves; see `Variant`.

    Raises
    ------
    InputError
        If the file cannot be read, says something else, names a policy MODULE:FUNCTION that the user has not allowed,
        or two variants have one name; the message names the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "variants.toml"
    >>> _ = file.write_text('''
    ... [[variant]]
    ... name = "two days"
    ... set = ["PartitionName=long MaxTime=2-0"]
    ...
    ... [over]
    ... "SchedulerParameters.bf_interval" = [30, 60]
    ... ''')
    >>> [one.name for one in read_variants(file)]
    ['two days', 'bf_interval=30', 'bf_interval=60']
    """
    document = checked(_DOCUMENT, read_toml(path, "file of variants"), str(Path(path)), REMEDY)
    policies = [one.policy for one in document.variant]
    policies += [str(value) for what, values in document.over.items() if what.lower() == POLICY for value in values]
    check_imports(policies, str(path))
    found: list[Variant] = []
    with located(str(path)):
        usual: dict[str, Any] = {REQUESTS: requests, LONG: long}
        for one in document.variant:
            own = {what: value for what in usual if (value := getattr(one, what)) is not None}
            own |= {CHECKPOINTS: one.checkpoints, CAP: one.cap}
            found.append(Variant(one.called(), tuple(one.set), one.policy, one.load, **usual | own))
        if document.over:
            found += grid({what: [str(value) for value in values] for what, values in document.over.items()}, **usual)
        if not found:
            raise InputError(f"the file has no variants: {REMEDY}")
        distinct(found)
    return found


def distinct(variants: Iterable[Variant]) -> None:
    """Refuse variants that share a name, with each other or with the site as it is."""
    seen = {AS_IT_IS}
    for one in variants:
        if one.name in seen:
            raise InputError(f"two variants are called {shown(one.name)}")
        seen.add(one.name)
