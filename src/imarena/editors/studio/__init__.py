"""Built-in editors for the rendered world, with a known quality order."""
