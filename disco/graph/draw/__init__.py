"""The graph as a picture: placed, routed, drawn."""
