"""The twin of a site: read its configuration and accounting, replay its past, ask what would change."""

from schedlab.site.affected import Affected
from schedlab.site.anonymising import Anonymised, anonymise
from schedlab.site.answers import VariantAnswer
from schedlab.site.brought_work import BroughtWork
from schedlab.site.calibration import Calibration, calibrate
from schedlab.site.capacity import capacity
from schedlab.site.capacity_found import Capacity, CapacityStep, KindCapacity
from schedlab.site.capacity_goal import Goal
from schedlab.site.changes import Change, changed
from schedlab.site.checkpoint_effects import CheckpointEffect
from schedlab.site.confirmation import Confirmation, ConfirmedEffect, ConfirmedVariant, MeanChange
from schedlab.site.coverage import Coverage, JudgedPartition
from schedlab.site.decisive import DecisivePeriod
from schedlab.site.effect_bounds import EffectBounds
from schedlab.site.effects import Effect, effects, effects_frame
from schedlab.site.energy_effects import EnergyEffect
from schedlab.site.explaining import SiteExplanation, explain
from schedlab.site.far_longer import FarLonger
from schedlab.site.grounds import Grounds
from schedlab.site.importing import import_site
from schedlab.site.jobs import Replayable
from schedlab.site.ledger import Ledger, LedgerLine
from schedlab.site.lost_work import LostWork
from schedlab.site.main_user import MainUser
from schedlab.site.maintenance import Maintenance, MaintenanceSlot, maintenance
from schedlab.site.maintenance_costs import MaintenanceCost, MaintenancePayer
from schedlab.site.maintenance_plan import MaintenancePlan, PossibleBegin
from schedlab.site.months import PeriodUse, SiteMonths, months
from schedlab.site.more_nodes import NodeKind, node_kinds
from schedlab.site.omissions import Omissions
from schedlab.site.ranked_variant import RankedVariant
from schedlab.site.ranking import VariantRanking, rank_variants
from schedlab.site.real_slurm import ConfirmationProgress, confirm
from schedlab.site.samples import SiteSample
from schedlab.site.site import Settings, Site, read
from schedlab.site.standing import CalibrationRecord, Standing
from schedlab.site.sweep import Paired, Sweep, VariantFailure
from schedlab.site.tuning import ParameterSearch, search_parameters
from schedlab.site.upgrade import RuleEffect, Upgrade, upgrade
from schedlab.site.upgrade_lines import OnPaper, UpgradeLine
from schedlab.site.validation import SiteValidation, validate
from schedlab.site.variants import Variant, grid, parse_axis, read_variants
from schedlab.site.wait_errors import WaitErrors
from schedlab.site.what_if import WhatIf, what_if

__all__ = [
    "Affected",
    "Anonymised",
    "BroughtWork",
    "Calibration",
    "CalibrationRecord",
    "Capacity",
    "CapacityStep",
    "Change",
    "CheckpointEffect",
    "Confirmation",
    "ConfirmationProgress",
    "ConfirmedEffect",
    "ConfirmedVariant",
    "Coverage",
    "DecisivePeriod",
    "Effect",
    "EffectBounds",
    "EnergyEffect",
    "FarLonger",
    "Goal",
    "Grounds",
    "JudgedPartition",
    "KindCapacity",
    "Ledger",
    "LedgerLine",
    "LostWork",
    "MainUser",
    "Maintenance",
    "MaintenanceCost",
    "MaintenancePayer",
    "MaintenancePlan",
    "MaintenanceSlot",
    "MeanChange",
    "NodeKind",
    "Omissions",
    "OnPaper",
    "Paired",
    "ParameterSearch",
    "PeriodUse",
    "PossibleBegin",
    "RankedVariant",
    "Replayable",
    "RuleEffect",
    "Settings",
    "Site",
    "SiteExplanation",
    "SiteMonths",
    "SiteSample",
    "SiteValidation",
    "Standing",
    "Sweep",
    "Upgrade",
    "UpgradeLine",
    "Variant",
    "VariantAnswer",
    "VariantFailure",
    "VariantRanking",
    "WaitErrors",
    "WhatIf",
    "anonymise",
    "calibrate",
    "capacity",
    "changed",
    "confirm",
    "effects",
    "effects_frame",
    "explain",
    "grid",
    "import_site",
    "maintenance",
    "months",
    "node_kinds",
    "parse_axis",
    "rank_variants",
    "read",
    "read_variants",
    "search_parameters",
    "upgrade",
    "validate",
    "what_if",
]
