"""Commands that ask judges and other tools: `judge`, `battle`, `objects`, `scan`, `reparse`."""
