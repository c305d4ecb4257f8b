"""Asking judges: what to ask, what it will cost, the run itself, and reading replies again."""
