"""ImagenWorld: items, outputs, ratings, segment masks."""
