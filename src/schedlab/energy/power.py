"""How much power a machine draws: nodes by group, jobs by what they hold or by what was measured, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_list, host_names
from schedlab.energy.series import Series, as_series
from schedlab.errors import InputError
from schedlab.wording import did_you_mean, shown

SERIES = ("price", "intensity", "cap")
"""What may change with time."""

LARGEST = 1e9
"""Watts of anything: more is a mistake."""


@explained
@dataclass(frozen=True, slots=True)
class GroupPower:
    """What nodes of a kind draw, in watts each.

    Parameters
    ----------
    idle
        A node that is on and has no job.
    busy
        A node whose cores are all held. In between, power grows with the cores that are held.
    nodes
        Names of the nodes; empty: all that no other group names.
    feature
        Or a feature that the nodes have in the cluster; "": none.
    gpu
        What each GPU that a job holds adds.
    off
        A node that is switched off.
    boot
        A node that boots; None: as a busy one.
    cores
        How many processors a node has, where the machine is a number of processors; on a cluster, nodes say it.

    Raises
    ------
    InputError
        If a number is out of range, or a node with jobs would draw less than an idle one.

    Examples
    --------
    >>> GroupPower.of(idle=117, busy=358, nodes="n[1-2]").nodes
    ('n1', 'n2')
    """

    idle: float
    busy: float
    nodes: tuple[str, ...] = ()
    feature: str = ""
    gpu: float = 0.0
    cores: int = 1
    off: float = 0.0
    boot: float | None = None

    def __post_init__(self) -> None:
        if self.boot is None:
            object.__setattr__(self, "boot", self.busy)
        for name in ("idle", "busy", "gpu", "off", "boot"):
            check_watts(f"{self.subject}: {name}", getattr(self, name))
        if self.busy < self.idle:
            raise InputError(
                f"{self.subject}: a busy node draws {self.busy:g} W, less than an idle one ({self.idle:g} W)"
            )
        if isinstance(self.cores, bool) or not isinstance(self.cores, int) or not 1 <= self.cores <= 1 << 20:
            raise InputError(f"{self.subject}: cores={shown(self.cores)}: must be a whole number of 1 or more")
        if self.nodes and self.feature:
            raise InputError(f"{self.subject}: give nodes or feature, not both")

    @classmethod
    @explained
    def of(cls, *, idle: float, busy: float, nodes: str | Iterable[str] = (), **more: Any) -> GroupPower:
        """Return a group of the nodes in a host list such as "n[01-20]"; `more` are the other parameters."""
        return cls(idle, busy, tuple(host_names(nodes) if isinstance(nodes, str) else nodes), **more)

    @property
    def subject(self) -> str:
        """What messages call it."""
        if self.feature:
            return f"power of nodes with feature {self.feature}"
        return f"power of nodes {host_list(self.nodes)}" if self.nodes else "power of all other nodes"


def check_watts(what: str, watts: Any) -> None:
    """Raise InputError if a number is not one of watts."""
    number = isinstance(watts, int | float) and not isinstance(watts, bool)
    if not number or not 0 <= watts <= LARGEST:
        raise InputError(f"{what} is {shown(watts)}: must be a number of watts, 0 or more")


class NodeWatts(NamedTuple):
    """Watts by node, float64: idle, with all cores held, of each GPU in use, switched off, and while it boots."""

    idle: NDArray[np.float64]
    busy: NDArray[np.float64]
    gpu: NDArray[np.float64]
    off: NDArray[np.float64]
    boot: NDArray[np.float64]


@explained
@dataclass(frozen=True, slots=True, eq=False)
class Power:
    """A power model: what the machine draws, and what its energy costs and emits.

    Parameters
    ----------
    groups
        What its nodes draw.
    base
        Watts that it always draws besides its nodes: switches, storage.
    pue
        What the site draws for each watt of the machine, cooling included (power usage effectiveness), at least 1.
    price
        Of a kWh: a number or a series; None: not known.
    currency
        Of the price.
    intensity
        Grams of CO2 per kWh: a number or a series; None: not known.
    cap
        Watts that the site may draw, cooling included: a number or a series; None: no cap.

    Raises
    ------
    InputError
        If a number is out of range, or two groups are of the same nodes.

    Examples
    --------
    >>> power = Power((GroupPower(idle=100, busy=300),), price=0.25, currency="EUR", intensity=400)
    >>> power.price.values.tolist()
    [0.25]
    """

    groups: tuple[GroupPower, ...]
    base: float = 0.0
    pue: float = 1.0
    price: Series | None = None
    currency: str = ""
    intensity: Series | None = None
    cap: Series | None = None

    def __post_init__(self) -> None:
        if not self.groups:
            raise InputError("the power model has no groups of nodes")
        check_watts("base", self.base)
        if isinstance(self.pue, bool) or not isinstance(self.pue, int | float) or not 1 <= self.pue <= 100:
            raise InputError(f"pue={shown(self.pue)}: must be 1 or more, such as 1.2")
        for name in SERIES:
            object.__setattr__(self, name, as_series(getattr(self, name), name))
        for name, series in self._series():
            if name != "price" and (series.values < 0).any():
                raise InputError(f"{name}: {series.values.min():g} is below 0")
        self._refuse_twice()

    def _refuse_twice(self) -> None:
        whole = [group for group in self.groups if not group.nodes and not group.feature]
        if len(whole) > 1:
            raise InputError("two groups of the power model name neither nodes nor a feature; only one can be the rest")
        seen: set[str] = set()
        for name in (name for group in self.groups for name in (group.nodes or [f"feature {group.feature}"])):
            if name in seen:
                raise InputError(f"the power model gives {name if ' ' in name else f'node {name}'} twice")
            seen.add(name)

    def on(self, cluster: Cluster | None) -> Power:
        """Return it with the names of nodes in place of their features.

        Raises
        ------
        InputError
            If a feature or a node is not in the cluster, or a node has two of the features.
        """
        if cluster is None or not cluster.groups:
            return self
        has = {name: group.features for group in cluster.groups for name in group.names}
        groups = []
        for group in self.groups:
            names = tuple(name for name, features in has.items() if group.feature in features)
            if group.feature and not names:
                known = sorted(frozenset().union(*has.values()))
                raise InputError(
                    f"{group.subject}: no node of {cluster.name} has it{did_you_mean(group.feature, known)}; its "
                    f"features are {', '.join(known) or 'not known'}"
                )
            groups.append(replace(group, nodes=names, feature="") if group.feature else group)
        return replace(self, groups=tuple(groups))

    def watts_of(self, nodes: Sequence[str]) -> NodeWatts:
        """Return what some nodes draw.

        Raises
        ------
        InputError
            If the model does not know one, knows one that is not there, or asks for features.
        """
        for group in self.groups:
            if group.feature:
                raise InputError(
                    f"{group.subject}: the cluster file says which nodes have it: give that, too (cluster)"
                )
        position = {name: number for number, name in enumerate(nodes)}
        rest = next((number for number, group in enumerate(self.groups) if not group.nodes), -1)
        chosen = np.full(len(nodes), rest)
        for number, name in ((number, name) for number, group in enumerate(self.groups) for name in group.nodes):
            if name not in position:
                raise InputError(
                    f"the power model names node {name}, which the machine does not have{did_you_mean(name, position)}"
                )
            chosen[position[name]] = number
        unknown = np.flatnonzero(chosen < 0)
        if unknown.size:
            raise InputError(
                f"the power model does not say what node {nodes[unknown[0]]} draws: add a group without nodes "
                "for the rest"
            )
        columns = [np.array([getattr(group, name) for group in self.groups])[chosen] for name in NodeWatts._fields]
        return NodeWatts(*columns)

    def of_processors(self) -> GroupPower:
        """Return the one group of a machine that is a number of processors.

        Raises
        ------
        InputError
            If there are more, or it names nodes or GPUs.
        """
        group = self.groups[0]
        if len(self.groups) > 1 or group.nodes or group.feature or group.gpu:
            raise InputError(
                "the machine is a number of processors: its power model has one group, with idle, busy and cores alone"
            )
        return group

    def on_clock(self, start_time: int | None) -> Power:
        """Return it with its series in the seconds of a log; see `Series.on_clock`."""
        changed: dict[str, Any] = {name: one.on_clock(start_time) for name, one in self._series()}
        return replace(self, **changed)

    def shifted(self, seconds: int) -> Power:
        """Return it with its series so many seconds later, those with dates as they are."""
        changed: dict[str, Any] = {name: one.shifted(seconds) for name, one in self._series()}
        return replace(self, **changed)

    def _series(self) -> Iterator[tuple[str, Series]]:
        for name in SERIES:
            if (one := getattr(self, name)) is not None:
                yield name, one
