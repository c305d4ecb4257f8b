"""The native formats: a folder, JSON Lines, Parquet."""
