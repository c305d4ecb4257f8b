"""Rating campaigns: create, change, offer tasks, record votes, measure quality."""
