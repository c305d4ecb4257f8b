"""Commands that maintain a workspace: `init`, `status`, `verify`, `backup` and others."""
