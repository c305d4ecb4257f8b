"""Commands for PVC-Judge."""
