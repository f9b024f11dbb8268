"""DISCO: causal discovery from count data by discrete score matching."""

import os
from typing import TYPE_CHECKING, Any

from disco.errors import FitStopped, InputError, ScoreUnavailable
from disco.settings import Settings

if TYPE_CHECKING:
    from disco.estimator import DISCO, Recovery
    from disco.progress import Event

__all__ = ["DISCO", "Event", "FitStopped", "InputError", "Recovery", "ScoreUnavailable", "Settings"]
__version__ = "0.1.0"

# Read when torch is loaded: threads that spin while they wait made a fit ten times slower beside one busy neighbour.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def __getattr__(name: str) -> Any:
    # The engine brings torch, two seconds to import: a listing of runs or a waiting job does without.
    if name not in ("DISCO", "Event", "Recovery"):
        raise AttributeError(f"module 'disco' has no attribute {name!r}")
    from disco import estimator, progress

    return getattr(progress if name == "Event" else estimator, name)
