"""How few votes, items or raters a leaderboard depends on."""
