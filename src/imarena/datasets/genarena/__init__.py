"""GenArena: import and export of benchmark, outputs and battle logs."""
