"""Models of a site's workload: empirical distributions fitted to a log, kept in a file, and checked against the log."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
