"""One verb a file: read the store, run a stage, write the store."""
