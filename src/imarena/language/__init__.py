"""Reading an instruction: what to change, where, to what."""
