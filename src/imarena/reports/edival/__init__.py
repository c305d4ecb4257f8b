"""EdiVal's figures and tables from scored outputs."""
