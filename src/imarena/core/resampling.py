"""Default number of bootstrap rounds and default seed for intervals.

One figure has one interval: `align`, `health`, `agree` and `campaign status` all use these.
"""

ROUNDS = 1000
SEED = 0
