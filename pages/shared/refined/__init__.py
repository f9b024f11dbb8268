"""A run's refinement: evidence in numbers and words, node fits, rules for another run."""
