"""The twin of a site: read its configuration and accounting, replay its past, ask what would change."""

from schedlab.site.calibration import Calibration, WaitErrors, calibrate
from schedlab.site.changes import changed
from schedlab.site.effects import Effect, effects, effects_frame
from schedlab.site.importing import import_site
from schedlab.site.ledger import Ledger, LedgerLine
from schedlab.site.ranking import Ranked, Ranking, rank
from schedlab.site.site import Settings, Site, read
from schedlab.site.sweep import Answer, Failure, Sample, Sweep
from schedlab.site.tuning import Found, search_parameters
from schedlab.site.validation import Validation, validate
from schedlab.site.variants import Variant, grid, parse_axis, read_variants
from schedlab.site.what_if import WhatIf, what_if

__all__ = [
    "Answer",
    "Calibration",
    "Effect",
    "Failure",
    "Found",
    "Ledger",
    "LedgerLine",
    "Ranked",
    "Ranking",
    "Sample",
    "Settings",
    "Site",
    "Sweep",
    "Validation",
    "Variant",
    "WaitErrors",
    "WhatIf",
    "calibrate",
    "changed",
    "effects",
    "effects_frame",
    "grid",
    "import_site",
    "parse_axis",
    "rank",
    "read",
    "read_variants",
    "search_parameters",
    "validate",
    "what_if",
]
