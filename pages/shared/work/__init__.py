"""Long-running work: its estimate, start, progress and end."""
