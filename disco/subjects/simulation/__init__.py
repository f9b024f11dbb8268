"""Figures of a simulated table."""
