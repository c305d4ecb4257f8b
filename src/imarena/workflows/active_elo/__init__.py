"""Active Elo: calibrate a judge, plan and assign votes, take them in, report."""
