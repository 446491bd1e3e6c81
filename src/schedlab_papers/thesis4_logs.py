"""The logs and the policies of chapter 4 of the thesis, and what it prints of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

FCFS = "FCFS"
POLICIES = (FCFS, "SPF", "SQF", "SAF")
"""As in Table 4.1; each with EASY."""


@dataclass(frozen=True, slots=True)
class Thesis4Log:
    """A log of Table 4.2.

    Parameters
    ----------
    name
        As in the thesis.
    file
        In the directory of traces.
    jobs, utilisation
        As printed in Table 4.2, the latter in percent.
    premature
        Premature jobs in percent, Table 4.3.
    ratios
        Mean slowdown of the premature jobs over that of the others, by policy, Table 4.4.
    """

    name: str
    file: str
    jobs: int
    utilisation: float
    premature: float
    ratios: Mapping[str, float]


def _ratios(*numbers: float) -> dict[str, float]:
    return dict(zip(POLICIES, numbers, strict=True))


LOGS = (
    Thesis4Log("HPC2N", "HPC2N-2002-2.2-cln.swf.gz", 202_871, 60.1, 17.4, _ratios(17.84, 17.29, 14.02, 17.88)),
    Thesis4Log("SDSC Blue", "SDSC-BLUE-2000-4.2-cln.swf.gz", 243_306, 76.7, 30.2, _ratios(3.59, 7.17, 2.96, 7.41)),
    Thesis4Log("SDSC SP2", "SDSC-SP2-1998-4.2-cln.swf.gz", 59_715, 83.4, 16.1, _ratios(3.94, 4.36, 2.04, 3.79)),
    Thesis4Log("CTC SP2", "CTC-SP2-1996-3.1-cln.swf.gz", 77_222, 85.2, 9.5, _ratios(5.58, 5.04, 1.67, 2.61)),
    Thesis4Log("KTH SP2", "KTH-SP2-1996-2.1-cln.swf.gz", 28_476, 70.1, 12.4, _ratios(8.69, 12.09, 9.31, 11.41)),
)
