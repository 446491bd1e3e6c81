"""Many simulations: one comparison, or a campaign that survives anything, and what its results say."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
