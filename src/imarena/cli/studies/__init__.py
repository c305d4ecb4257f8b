"""Commands that measure raters, judges and models: `agree`, `align`, `health`, `compare`."""
