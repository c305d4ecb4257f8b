"""How the bundled network of `pvc-small` was made: pictures, pairs, training, export."""
