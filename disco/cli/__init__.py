"""What all commands share: options, the choice of a table, progress, and how they print."""
