"""What the QOS of jobs exempts them from: bounds of their partition, and reservations in Slurm's backfill pass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import QosLimits
from schedlab.cluster.membership import Membership


class Flags(NamedTuple):
    """Flags of the QOS of jobs, one bool per job each, see `schedlab.cluster.limits.QosLimits`."""

    over_max_time: NDArray[np.bool_]
    over_max_nodes: NDArray[np.bool_]
    under_min_nodes: NDArray[np.bool_]
    reserves: NDArray[np.bool_]


def flags_of(cluster: Cluster, who: Membership) -> Flags:
    """Return the flags of the QOS of jobs; jobs without a QOS have the usual ones."""
    known = {} if cluster.accounting is None else {qos.name: qos for qos in cluster.accounting.qos}
    usual = QosLimits("usual")
    of_label = [known.get(name, usual) for name in who.qos.names] + [usual]  # the last is that of code -1
    columns = (np.array([getattr(qos, flag) for qos in of_label], dtype=np.bool_) for flag in Flags._fields)
    return Flags(*(column[who.qos.codes] for column in columns))
