"""Boards from votes and a judge together, where the judge counts by its reliability."""
