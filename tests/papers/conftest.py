"""Studies run their campaigns in the process of the test: tests/campaign/run has what other processes may do."""

from __future__ import annotations

import pytest
from campaign_runs import Sent

from schedlab.campaign.run import executors


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start no processes."""
    monkeypatch.setattr(executors, "LocalExecutor", Sent)
