"""Sections of the pages of case studies: their runs, graphs, agreement and verdicts."""
