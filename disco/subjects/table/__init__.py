"""A table of counts."""
