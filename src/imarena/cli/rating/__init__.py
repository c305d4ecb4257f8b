"""`campaign`."""
