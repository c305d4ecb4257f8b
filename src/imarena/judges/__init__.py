"""Machines that give verdicts."""
