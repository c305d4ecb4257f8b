"""`rank` and `signature`."""
