"""Clients for chat and image endpoints with retries, rate limits and cost accounting, and the one safe downloader."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
