"""The graph: drawn, picked in, compared and downloaded."""
