"""From settings and command-line arguments to judges and editors; the record of runs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
