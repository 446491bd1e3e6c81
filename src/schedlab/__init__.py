"""schedlab: a laboratory for HPC batch scheduling.

>>> import numpy as np
>>> import schedlab as sl
>>> rng = np.random.default_rng(1)
>>> jobs = sl.model.tsafrir_estimates(sl.model.lublin(500, 256, rng=rng, load=0.9), rng=rng)
>>> comparison = sl.compare(jobs, schedulers=["fcfs", "fcfs+easy", "saf+easy"])
>>> list(comparison.schedules)
['fcfs', 'fcfs+easy', 'saf+easy']

Names are loaded when they are first used, so that importing schedlab costs next to nothing; `__init__.pyi` lists them.
"""

import lazy_loader

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
