"""Built-in classical editors: image processing that carries out an instruction without a model."""
