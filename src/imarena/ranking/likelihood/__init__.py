"""Maximum-likelihood models of battles and their fits."""
