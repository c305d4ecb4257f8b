"""Tables of studies: what `agree`, `align` and `health` print, and the report shows."""
