"""`edit` and `agent`."""
