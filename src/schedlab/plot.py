"""The figures: `sl.plot.gantt(schedule)`; each draws on `ax` or on new axes. `explore` is the report in a notebook."""

from schedlab.report.experiments import plot_distributions as distributions
from schedlab.report.experiments import plot_median_waits as median_waits
from schedlab.report.experiments import plot_minutes as minutes
from schedlab.report.experiments import plot_simulation_times as simulation_times
from schedlab.report.experiments import plot_submissions as submissions
from schedlab.report.figures import plot_gantt as gantt
from schedlab.report.figures import plot_queue_length as queue_length
from schedlab.report.figures import plot_slowdown_distribution as slowdown_distribution
from schedlab.report.figures import plot_utilisation as utilisation
from schedlab.report.figures import plot_wait_by_size as wait_by_size
from schedlab.report.figures import plot_weekly_means as weekly_means
from schedlab.report.figures import plot_workload as workload
from schedlab.report.figures import save_comparison_figures
from schedlab.report.gains import plot_gains as gains
from schedlab.report.learning import plot_policies as policies
from schedlab.report.learning import plot_score_precision as score_precision
from schedlab.report.learning import plot_scores_by_job as scores_by_job
from schedlab.report.learning import plot_trial_scores as trial_scores
from schedlab.report.model import plot_model as model
from schedlab.report.model import plot_model_variable as model_variable
from schedlab.report.notebook import explore
from schedlab.report.pareto import plot_pareto as pareto
from schedlab.report.power import plot_power as power
from schedlab.report.predictions import plot_predicted_values as predicted_values
from schedlab.report.predictions import plot_prediction_errors as prediction_errors
from schedlab.report.requests import plot_requests as requests
from schedlab.report.requests import plot_requests_on_distribution as requests_on_distribution
from schedlab.report.resamplings import plot_bands as bands
from schedlab.report.resamplings import plot_sample_boxes as sample_boxes
from schedlab.report.resamplings import plot_slowdown_shares as slowdown_shares
from schedlab.report.sequences import plot_sequences as sequences
from schedlab.report.speculation import plot_method_bars as method_bars
from schedlab.report.speculation import plot_method_lines as method_lines
from schedlab.report.style import paper
from schedlab.report.style import save_figure as save
from schedlab.report.triples import plot_triples as triples

__all__ = [
    "bands",
    "distributions",
    "explore",
    "gains",
    "gantt",
    "median_waits",
    "method_bars",
    "method_lines",
    "minutes",
    "model",
    "model_variable",
    "paper",
    "pareto",
    "policies",
    "power",
    "predicted_values",
    "prediction_errors",
    "queue_length",
    "requests",
    "requests_on_distribution",
    "sample_boxes",
    "save",
    "save_comparison_figures",
    "score_precision",
    "scores_by_job",
    "sequences",
    "simulation_times",
    "slowdown_distribution",
    "slowdown_shares",
    "submissions",
    "trial_scores",
    "triples",
    "utilisation",
    "wait_by_size",
    "weekly_means",
    "workload",
]
