"""What a simulation may have or lack, a package for each part.

Nodes are a part, too, in `schedlab.engine.machine`. `admission` and `stopping_limits` are what passes ask of several
parts together; `reservations` and `suspension` belong to outages and to preemption, `checkpoints` changes what
`retries` does with a run that ended too soon, `malleable` acts where a pass resizes.
"""
