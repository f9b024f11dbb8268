"""Concrete scores from ranks, their curvature, and an order."""
