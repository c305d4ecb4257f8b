"""Weights that are not bundled: the list of them, where they are stored, and checks of their files."""
