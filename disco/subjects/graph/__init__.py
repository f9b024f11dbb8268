"""The graph of a finished run, as a file."""
