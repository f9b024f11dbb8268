"""The command line: one module per command, with the same engine and runs as the app."""
