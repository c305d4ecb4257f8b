"""Read replies: a verdict that the text states, or a status that says why there is none."""
