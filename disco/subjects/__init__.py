"""What can be asked of a table, one folder each: its files in a run, its long work, its figures."""
