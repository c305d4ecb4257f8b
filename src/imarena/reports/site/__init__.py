"""Pages of the static leaderboard site, from published records alone."""
