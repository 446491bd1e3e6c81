"""Partitions, and limits of accounts, users and QOS.

Every limit of accounts, users and QOS is a line in `schedlab.cluster.limit_kinds`; what else must know a new one stands
in the page "How the engine works". A limit goes through `associations` (which limits each job is under), `uses`
(how much it takes of each), `numbers` (as arrays) and `state` (asked and charged by the kernels). Limits on what all
jobs share, licences and arrays, come in by `on_all_jobs`. A use is of a job, not of one of its partitions.
"""
