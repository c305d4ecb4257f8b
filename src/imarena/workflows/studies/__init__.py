"""Studies of raters, judges and models: agreement, alignment, health, comparison."""
