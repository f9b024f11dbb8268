"""The evidence of a refinement: in numbers and words, fits of single nodes, and what to do next."""
