"""How a result compares with known edges."""
