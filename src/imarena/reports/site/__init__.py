"""Pages of the static leaderboard site, made only from published records."""
