"""Detectors, segmenters, OCR, embeddings, metrics: one file a tool."""
