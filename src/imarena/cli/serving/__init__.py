"""`serve`, `report` and `demo`."""
