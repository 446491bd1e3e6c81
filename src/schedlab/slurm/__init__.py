"""A real Slurm in skipped time, and policies deployed on one: `schedlab.slurm.run`, `read_events`, `deploy`.

>>> import schedlab as sl
>>> sl.slurm.machine_configuration(64).lines[-2]
'NodeName=n[1-64] CPUs=1 Boards=1 SocketsPerBoard=1 CoresPerSocket=1 ThreadsPerCore=1 RealMemory=1000 State=UNKNOWN'
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
