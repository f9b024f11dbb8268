"""Scores of continuous tables: noise prediction networks, the curvature read from them, and the CCS.

The methods that order by it are `disco.methods.diffan` and `disco.methods.cont`.
"""
