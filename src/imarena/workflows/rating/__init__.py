"""Rating campaigns: create, change, offer tasks, record votes, measure quality."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
