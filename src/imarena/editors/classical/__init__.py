"""Built-in classical editors: image processing that follows an instruction without a model."""
