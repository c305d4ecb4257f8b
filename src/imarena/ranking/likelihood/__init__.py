"""Maximum-likelihood models of battles and how they are fitted."""
