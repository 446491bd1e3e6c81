"""The twin of a site: read its configuration and accounting, replay its past, ask what would change."""

from schedlab.site.calibration import Calibration, WaitErrors, calibrate
from schedlab.site.changes import Change, changed
from schedlab.site.importing import import_site
from schedlab.site.jobs import Replayable
from schedlab.site.ledger import Ledger, LedgerLine
from schedlab.site.site import Settings, Site, read
from schedlab.site.validation import Validation, validate
from schedlab.site.what_if import WhatIf, what_if

__all__ = [
    "Calibration",
    "Change",
    "Ledger",
    "LedgerLine",
    "Replayable",
    "Settings",
    "Site",
    "Validation",
    "WaitErrors",
    "WhatIf",
    "calibrate",
    "changed",
    "import_site",
    "read",
    "validate",
    "what_if",
]
