"""The command line: one module per command, with the same engine and the same runs as the app."""
