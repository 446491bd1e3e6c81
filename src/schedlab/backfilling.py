"""The backfilling passes, as classes: `sl.Scheduler("saf", sl.backfilling.Easy())` is the text "saf+easy"."""

from schedlab.scheduler.backfilling import Conservative, Easy, NoBackfill, Slurm

__all__ = [
    "Conservative",
    "Easy",
    "NoBackfill",
    "Slurm",
]
