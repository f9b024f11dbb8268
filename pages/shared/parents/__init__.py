"""The selectors of parents, their thresholds, and the edges they keep."""
