"""The jobs: what they ask for and need, cleaning and sampling of logs, workflows among jobs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
