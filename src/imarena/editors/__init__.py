"""Adapters to image models."""
