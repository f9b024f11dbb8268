"""Refinement: a search over orders by the likelihood of the paper's own class, with evidence for every edge."""

from typing import TYPE_CHECKING, Any

from disco.refine.choice import QUICK, Choice
from disco.refine.result import Refined

if TYPE_CHECKING:
    from disco.refine.refinement import refine

__all__ = ["QUICK", "Choice", "Refined", "refine"]


def __getattr__(name: str) -> Any:
    """`refine`, imported on first use: it imports torch, which a page that shows a refinement does not need."""
    if name != "refine":
        raise AttributeError(f"module 'disco.refine' has no attribute {name!r}")
    from disco.refine.refinement import refine

    return refine
