"""The refinement of a run: its work, its time, its files."""
