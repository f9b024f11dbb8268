"""A simulated table: its command and its figures."""
