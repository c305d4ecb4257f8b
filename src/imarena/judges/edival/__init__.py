"""EdiVal-Agent's object-based scores: instruction following, content consistency and visual quality."""
