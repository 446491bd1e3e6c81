"""Partitions, and limits of accounts, users and QOS.

Every limit is a line in `schedlab.cluster.limit_kinds`; what else must know a new one is listed, and held complete, by
`tests/engine/parts/limits/test_limit_kinds.py`. From there a limit goes through `numbers` (as arrays), `associations`
(on single jobs), `uses` and `on_all_jobs` (on what jobs hold together) and `state` (asked and charged by the kernels).
"""
