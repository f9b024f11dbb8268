"""Long work: its estimate, start, progress and end."""
