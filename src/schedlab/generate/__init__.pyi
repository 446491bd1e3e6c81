from .experiment import Experiment as Experiment
from .fill import scsf_fill_jobs as scsf_fill_jobs
from .generation import Generated as Generated
from .generation import generate_experiment as generate_experiment
