"""Figures of a fit: losses, order, parents."""
