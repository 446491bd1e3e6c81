"""A policy of one's own: as a formula, and as a Python function of arrays."""

import numpy as np

import schedlab as sl


def short_jobs_that_have_waited(p, w):
    """Score the jobs by the slowdown that they would have now, largest first."""
    return -(w + p) / p


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    jobs = sl.model.tsafrir_estimates(sl.model.lublin(500, 64, rng=rng, load=0.9), rng=rng)
    by_function = sl.Scheduler(short_jobs_that_have_waited, backfill="easy")
    print(sl.compare(jobs, ["fcfs+easy", '"-(w + p)/p"+easy', by_function]))
