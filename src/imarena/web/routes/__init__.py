"""The API, one file per subject."""
