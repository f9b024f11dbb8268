"""Refinement: a search over orders by the likelihood of the paper's own class, with evidence for every edge."""

from disco.refine.choice import QUICK, Choice
from disco.refine.refinement import refine
from disco.refine.result import Refined

__all__ = ["QUICK", "Choice", "Refined", "refine"]
