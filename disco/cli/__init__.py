"""The command line: one module a command, on the same engine and the same runs as the app."""
