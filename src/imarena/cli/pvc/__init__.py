"""Commands about PVC-Judge."""
