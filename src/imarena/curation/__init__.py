"""CogRetriever: from an instruction to legal, fitting, high-resolution source images, every step logged."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
