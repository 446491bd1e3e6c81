"""Generated experiments: jobs of a model under a wanted pressure, workflows among them, a queue from the beginning."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
