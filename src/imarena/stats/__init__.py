"""Agreement, correlation, significance, bootstrap, power."""
