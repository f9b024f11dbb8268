"""Fitted networks and their results."""
