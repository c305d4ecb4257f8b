"""Judges whose models run on this machine: embeddings and reward models."""
