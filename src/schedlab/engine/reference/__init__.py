"""A second implementation of the engine, in plain Python for readers: lists, dictionaries and sorting.

It is the oracle of the property tests, and the place to read what a rule means. It shares with the compiled engine the
preparation of a simulation, the conversion to a `Schedule` and the formulas of the policies, but no rule of the
simulation itself.

`clock` holds the order of events within a second: what ends, what is corrected, what enters the queue, and then one
scheduling pass. The rules of the pass are in `queue_pass` (none, EASY), `plan_pass` (conservative), `slurm_main` and
`slurm_backfill`; `slurm_pass` tells when the last two are due. What parts do is in their packages,
`schedlab.engine.parts.NAME.reference`. SC'17's simulator is separate, in `serial`.
"""
