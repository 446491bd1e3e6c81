"""What the jobs run on: nodes, partitions, limits of accounts and QOS, nodes that fail."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
