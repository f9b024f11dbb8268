"""Scores of continuous tables: noise prediction networks, their curvature, and the CCS.

Used by the methods `disco.methods.diffan` and `disco.methods.cont`.
"""
