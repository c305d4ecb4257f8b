"""Nouns and ports. Imports nothing else of this package."""
