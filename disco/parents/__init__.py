"""Find the parents of each node, given a causal order."""
