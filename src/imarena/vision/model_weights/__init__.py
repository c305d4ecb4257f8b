"""Weights that are not bundled: which there are, where they are kept, and checks that a file is what it should be."""
