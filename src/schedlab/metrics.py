"""Measures of jobs, classes of jobs, distributions: `sl.metrics.job_measures(schedule)` has a value for each job."""

from schedlab.schedule.analysis import Analysis, Distribution
from schedlab.schedule.groups import SIZE_CLASSES, SLOWDOWN_CLASSES, USER_CLASSES, slowdown_classes
from schedlab.schedule.metrics import bounded_slowdown, job_measures
from schedlab.schedule.minutes import Minutes, minutes_of
from schedlab.schedule.timeline import cumulative_weekly_means

__all__ = [
    "SIZE_CLASSES",
    "SLOWDOWN_CLASSES",
    "USER_CLASSES",
    "Analysis",
    "Distribution",
    "Minutes",
    "bounded_slowdown",
    "cumulative_weekly_means",
    "job_measures",
    "minutes_of",
    "slowdown_classes",
]
