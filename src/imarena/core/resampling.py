"""How often data are resampled for an interval, and with which seed, where nobody asks for another number.

One figure has one interval: `align`, `health`, `agree` and `campaign status` all use these.
"""

ROUNDS = 1000
SEED = 0
