"""Import, export, taxonomies, the bundled benchmark."""
