"""What tests of the real Slurm share: without Debian's packages or a compiler they are skipped, with the reason."""

from __future__ import annotations

import pytest

from schedlab.errors import InputError
from schedlab.slurm.installation import find_slurm, library


@pytest.fixture(scope="session")
def real_slurm() -> None:
    """Skip a test where there is no Slurm 22.05, or no compiler for the clock."""
    try:
        library(find_slurm())
    except InputError as error:
        pytest.skip(str(error))
