"""From a causal order to parents."""
