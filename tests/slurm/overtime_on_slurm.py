"""Cases of `conformance/slurm-overtime.json` on a real slurmctld: how long jobs may run beyond their limits.

`python tests/slurm/overtime_on_slurm.py` runs all of them again, in five phases, and writes what was seen into the
file; names of cases after it run these alone. Cases are as in `rules_on_slurm.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from recorded import record
from rules_on_slurm import on_slurm

CASES = Path(__file__).parents[2] / "conformance" / "slurm-overtime.json"

if __name__ == "__main__":
    record(CASES, on_slurm, sys.argv[1:], "starts")
