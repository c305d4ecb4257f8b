"""Judges whose weights run on this machine: embeddings and reward models."""
