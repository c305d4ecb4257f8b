"""`route` and `simulate`."""
