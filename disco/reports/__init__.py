"""A run as a whole: all of its results, its provenance, its script, its ZIP, and two runs compared."""
