"""Figures of a table of counts: its columns and its quality."""
