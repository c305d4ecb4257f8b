"""Where records and blobs live: SQLite or PostgreSQL, and files by SHA-256."""
