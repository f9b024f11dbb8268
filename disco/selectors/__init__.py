"""Selection of each node's parents, given a causal order."""

STOPPED = "Stopped while parents were tested."
