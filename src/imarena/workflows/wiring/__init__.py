"""From settings and command-line arguments to judges and editors; the log of runs."""
