"""Read plain tables of battles, ratings and scores (CSV, TSV, JSON Lines, Parquet, frames) as Arrow tables."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
