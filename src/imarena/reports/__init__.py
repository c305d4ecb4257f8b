"""Tables, plots, HTML."""
