"""The table being prepared, and its properties."""
