"""Run-time predictors outside the loop: validated on a log, kept in files, asked about single jobs.

A predictor learns a run time when the job ends in a replay, never before.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
