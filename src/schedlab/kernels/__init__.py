"""How schedlab compiles: the only package that knows Numba. README.md beside this file says what it does and why."""

from __future__ import annotations

import numba

from schedlab.kernels.numba_versions import config, pipeline, refuse_older

refuse_older(numba.__version__)  # before anything else of Numba is imported

from schedlab.kernels.bits import ALL, BITS, ROOM, below, lowest  # noqa: E402
from schedlab.kernels.calls_by_address import (  # noqa: E402
    address_of,
    call,
    call_at,
    compiled_for,
    nowhere,
    settled,
    without_dispatch,
)
from schedlab.kernels.decorators import (  # noqa: E402
    bare_kernel,
    chosen,
    compiled_beside,
    for_python,
    inlined,
    inner_kernel,
    kernel,
    kind_of,
    new_records,
    operation,
)
from schedlab.kernels.disk_cache import cache_directory, why_not_kept  # noqa: E402
from schedlab.kernels.replaced_fields import replacing  # noqa: E402
from schedlab.kernels.shifting import shift  # noqa: E402
from schedlab.kernels.tuples_by_address import by_address  # noqa: E402
from schedlab.kernels.user_code import UserCode, with_methods  # noqa: E402

__all__ = [
    "ALL",
    "BITS",
    "ROOM",
    "UserCode",
    "address_of",
    "bare_kernel",
    "below",
    "by_address",
    "cache_directory",
    "call",
    "call_at",
    "chosen",
    "compiled_beside",
    "compiled_for",
    "config",
    "for_python",
    "inlined",
    "inner_kernel",
    "kernel",
    "kind_of",
    "lowest",
    "new_records",
    "nowhere",
    "operation",
    "pipeline",
    "replacing",
    "settled",
    "shift",
    "why_not_kept",
    "with_methods",
    "without_dispatch",
]
