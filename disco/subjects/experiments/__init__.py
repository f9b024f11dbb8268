"""Experiments: contrasts of a measured one, and which to do next."""
