"""Failure modes of a report: what finds each, counts, examples, heat maps and error areas."""
