"""Ask judges: plan the questions, estimate the cost, run them, and parse stored replies again."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
