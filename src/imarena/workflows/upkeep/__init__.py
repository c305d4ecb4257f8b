"""Keeping a workspace: its status, its schema, the machine."""
