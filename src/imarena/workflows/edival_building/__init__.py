"""Build object-centric benchmarks: images in, items with chains of instructions out (EdiVal-Agent)."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
