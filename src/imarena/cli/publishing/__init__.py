"""`publish` and `submission`."""
