"""The rendered world: scenes, truth, renderer."""
