"""CogRetriever: find legal, suitable, high-resolution source images for an instruction, with every step logged."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
