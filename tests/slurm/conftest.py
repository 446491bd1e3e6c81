"""What tests of the real Slurm share: without Debian's packages or a compiler they are skipped, with the reason."""

from __future__ import annotations

import pytest

from schedlab.errors import InputError
from schedlab.slurm.installation import find_slurm, library
from schedlab.slurm.releases import RELEASES


@pytest.fixture(scope="session")
def real_slurm() -> None:
    """Skip a test where there is no Slurm, or no compiler for the clock."""
    try:
        library(find_slurm())
    except InputError as error:
        pytest.skip(str(error))


@pytest.fixture(params=[name for name, release in RELEASES.items() if release.suite])
def slurm_version(request: pytest.FixtureRequest) -> str:
    """Return a version of Slurm that is here, installed or fetched; skip the others."""
    version = str(request.param)
    try:
        library(find_slurm(version))
    except InputError as error:
        pytest.skip(str(error))
    return version
