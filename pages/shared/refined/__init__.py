"""A run's refinement: evidence in numbers and words, fitted nodes, rules for another run."""
