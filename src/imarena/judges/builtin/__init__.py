"""`builtin`: a judge that measures pixels and needs no model."""
