"""The report of a workspace: a folder that opens in a browser."""
