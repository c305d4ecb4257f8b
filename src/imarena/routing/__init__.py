"""Who rates what."""
