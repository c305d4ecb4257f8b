"""Failure modes in a report: their detection, counts, examples, heat maps and error areas."""
