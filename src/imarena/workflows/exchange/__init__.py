"""Importing and exporting records."""
