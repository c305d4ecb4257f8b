"""GEditBench v2: benchmark, outputs and pair results."""
