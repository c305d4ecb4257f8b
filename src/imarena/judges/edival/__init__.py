"""EdiVal-Agent's scores: instruction following, content consistency and visual quality by looking at objects."""
