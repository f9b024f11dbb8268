"""The results of the open run, loaded once, and their comparison with a known truth."""
