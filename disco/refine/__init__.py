"""Refinement: a search over orders by the likelihood of the paper's own class, with evidence for every edge."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from disco.refine.choice import QUICK, Choice
from disco.refine.refinement_result import Refined

if TYPE_CHECKING:
    from disco.refine.refinement import refine
    from disco.refine.settling import next_experiment

__all__ = ["QUICK", "Choice", "Refined", "next_experiment", "refine"]


_LATER = {"refine": "refinement", "next_experiment": "settling"}


def __getattr__(name: str) -> Any:
    """A function, imported on first use: it brings the compiler, which a page that shows a refinement does not need."""
    if name not in _LATER:
        raise AttributeError(f"module 'disco.refine' has no attribute {name!r}")
    return getattr(import_module(f"disco.refine.{_LATER[name]}"), name)
