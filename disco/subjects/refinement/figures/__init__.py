"""Figures of a refinement: its searches, its fitted model."""
