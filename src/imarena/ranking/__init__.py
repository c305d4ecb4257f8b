"""Battles in, a Ranking out."""
