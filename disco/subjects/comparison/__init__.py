"""Other methods on the table of a run."""
