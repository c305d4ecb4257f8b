"""Region-decoupled preference synthesis and PVC-Judge."""
