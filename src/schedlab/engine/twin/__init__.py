"""The engine once more, in plain Python for the reader: lists, dictionaries, sorting, no cleverness.

It is the oracle of the property tests, and the place to read what a rule means. It shares with the compiled engine the
preparation of a simulation, the way to a `Schedule` and the formulas of the policies; no rule of the simulation itself.

`clock` holds the second by second: what ends, what is corrected, what enters the queue, and then one scheduling pass.
The rules of the pass are in `queue_pass` (none, EASY), `plan_pass` (conservative) and `slurm_pass`; what a second can
bring besides in `dependencies`, `predictors`, `priority` and `retries`. SC'17's simulator stands apart, in `serial`.
"""

from schedlab.engine.twin.simulate import simulate_plain

__all__ = ["simulate_plain"]
