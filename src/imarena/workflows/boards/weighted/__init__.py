"""Boards from votes and a judge together, with the judge weighted by its reliability."""
