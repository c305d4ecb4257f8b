"""Agreement among raters, and of judges with people: columns in, frozen results out."""
