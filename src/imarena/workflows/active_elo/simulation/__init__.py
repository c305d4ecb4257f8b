"""Simulated campaigns: ways of spending the same human budget, compared."""
