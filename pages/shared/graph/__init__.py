"""The graph as it is drawn, picked in, compared and downloaded."""
