"""Each module is one user action: read the store, run a stage, write the store."""
