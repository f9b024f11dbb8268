"""Effects: what happens to a node if others are set, over all graphs that a refinement leaves."""
