"""Vision tools that need torch and pretrained weights, one file per tool (the `vision` extra)."""
