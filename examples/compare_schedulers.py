"""Which scheduler serves a generated workload best, and does the answer hold for other jobs of the same kind?"""

import numpy as np

import schedlab as sl

SCHEDULERS = ["fcfs+easy", "fcfs+easy:sjf", "saf+easy", "fcfs+conservative"]


def mean_slowdowns(seed: int) -> dict[str, float]:
    """Return the mean bounded slowdown under each scheduler, without the first and the last tenth of the jobs."""
    rng = np.random.default_rng(seed)
    jobs = sl.model.tsafrir_estimates(sl.model.lublin(2000, 256, rng=rng, load=0.9), rng=rng)
    comparison = sl.compare(jobs, SCHEDULERS, warm_up=0.1, cool_down=0.1)
    return comparison.to_frame()["mean_bounded_slowdown"].to_dict()


if __name__ == "__main__":
    wins = dict.fromkeys(SCHEDULERS, 0)
    for seed in range(10):
        slowdowns = mean_slowdowns(seed)
        best = min(slowdowns, key=slowdowns.__getitem__)
        wins[best] += 1
        print(f"seed {seed}: {best} has the smallest mean bounded slowdown, {slowdowns[best]:.1f}")
    print("wins:", ", ".join(f"{scheduler} {count}" for scheduler, count in wins.items()))
