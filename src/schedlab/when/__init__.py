"""When waiting jobs will start: a distribution from forks of a simulation, and how good it was in the past."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
