"""Effects in the graphs compatible with a refinement."""
