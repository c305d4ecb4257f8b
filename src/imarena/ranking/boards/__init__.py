"""From fitted or online ratings to a frozen `Ranking` with intervals."""
