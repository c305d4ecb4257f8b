"""Built-in editors of the rendered world, with a known order of quality."""
