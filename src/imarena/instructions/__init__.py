"""Scene decomposition and instruction writing."""
