"""Plain tables of battles, ratings and scores: CSV, TSV, JSON Lines, Parquet, frames, as Arrow."""
