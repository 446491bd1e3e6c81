"""What a schedule costs in energy: power models, prices, and accounts in kWh, money and CO2."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
