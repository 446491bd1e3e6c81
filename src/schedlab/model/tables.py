"""A workload model as text."""

from __future__ import annotations

from schedlab.model.jobs import JointJobs
from schedlab.model.model import WorkloadModel
from schedlab.wording import count_of

HOUR = 3_600


def model_text(model: WorkloadModel) -> str:
    """Return what a model holds, line by line, and where it comes from."""
    facts, told = model.facts(), model.provenance
    nodes = "" if model.cores_per_node is None else f", whole nodes of {model.cores_per_node}"
    drawn = "together, as whole jobs" if model.joint else "each on its own"
    if isinstance(model.jobs, JointJobs):
        drawn += f" of {len(model.jobs.rows):,} kinds"
    cycle = "none" if model.cycle is None else f"by the {'day' if len(model.cycle.intensity) == 24 else 'week'}"
    rows = [
        ("model of", model.name),
        ("machine", f"{count_of(model.processors, 'processor')}{nodes}"),
        ("rules", model.rules),
        ("size, request, run time", drawn),
        ("users", "yes" if facts["users"] else "no"),
        ("cycle", cycle),
        ("mean time between arrivals", f"{facts['mean_gap']:,.4g} s"),
        ("mean work of a job", f"{facts['mean_work'] / HOUR:,.4g} core-hours"),
        ("offered load", f"{facts['offered_load']:.3f}"),
    ]
    rows += [("jobs of the log", f"{told['jobs_in_log']:,}")] if "jobs_in_log" in told else []
    rows += [
        (f"  left out: {step['rule']}", f"{step['dropped']:,}") for step in told.get("filtered", []) if step["dropped"]
    ]
    if told.get("jobs_without_request"):
        filled = told.get("settings", {}).get("missing_requests") == "run-time"
        rows.append(
            (f"  {'request their run time' if filled else 'left out: no-request'}", f"{told['jobs_without_request']:,}")
        )
    rows += [("  modelled", f"{told['jobs_modelled']:,}")] if "jobs_modelled" in told else []
    if told.get("gaps_left_out"):
        rows.append(
            ("gaps left out as too long", f"{told['gaps_left_out']:,}, {told['seconds_left_out'] / 86_400:,.1f} days")
        )
    rows += [
        (
            "scaled",
            f"from {change['from_processors']:,} to {change['to_processors']:,} processors; rounding to whole nodes "
            f"multiplies the load by {change['load_factor_of_rounding']:.3f}",
        )
        for change in told.get("scaled", [])
    ]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)
