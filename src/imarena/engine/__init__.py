"""Plan, run, resume."""
