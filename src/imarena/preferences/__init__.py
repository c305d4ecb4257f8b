"""Preference pairs from edit and non-edit regions, training data, and PVC-Judge."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
