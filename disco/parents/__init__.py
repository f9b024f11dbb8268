"""Find the parents of each node, given a causal order."""

STOPPED = "Stopped while parents were tested."
