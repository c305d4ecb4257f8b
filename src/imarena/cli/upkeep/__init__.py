"""Commands that keep a workspace: `init`, `status`, `verify`, `backup` and others."""
