"""DISCO: causal discovery from count data by discrete score matching."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from disco.errors import FitStopped, InputError, ScoreUnavailable
from disco.paper.settings import Settings

if TYPE_CHECKING:
    from disco.estimator import DISCO
    from disco.paper.fitted_networks import Fitted, Variant
    from disco.progress import Event

__all__ = ["DISCO", "Event", "FitStopped", "Fitted", "InputError", "Variant", "ScoreUnavailable", "Settings"]
__version__ = "0.1.0"

# Read when torch is loaded. Threads that spin while they wait slowed a fit tenfold beside one busy program.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Imported on first use: they import torch, which takes two seconds and which a list of runs or a queued job does not
# need.
_LATER = {
    "DISCO": "estimator",
    "Event": "progress",
    "Fitted": "paper.fitted_networks",
    "Variant": "paper.fitted_networks",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'disco' has no attribute {name!r}")
    return getattr(import_module(f"disco.{_LATER[name]}"), name)
