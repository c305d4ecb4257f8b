"""``imarena edival``: the object-centric benchmark."""
