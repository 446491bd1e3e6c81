"""Statistics of many simulations: paired differences with their intervals, and which scheduler is best everywhere."""

from schedlab.campaign.definition.instances import seed_of
from schedlab.campaign.results.ranking import RankedScheduler, SchedulerRanking, ranking
from schedlab.campaign.results.statistics import METRIC, Paired, interval_text, paired

__all__ = [
    "METRIC",
    "Paired",
    "RankedScheduler",
    "SchedulerRanking",
    "interval_text",
    "paired",
    "ranking",
    "seed_of",
]
