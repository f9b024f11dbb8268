"""The frames a fit or a recovery leaves, as CSV files of one folder."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from disco.runs.files import read_frame, write_bytes, write_frame, write_json
from disco.settings import CHOICES, Settings

if TYPE_CHECKING:
    from disco.estimator import DISCO, Recovery

VARIANTS = tuple(f"{criterion}-{boundary}" for criterion in CHOICES["criterion"] for boundary in CHOICES["boundary"])

_EDGE_COLUMNS = ["parent", "child", "ocs", "frequency", "z"]
_SELECTOR_COLUMNS = ("score", "p_value")  # of another selector than ocs


def order(folder: Path) -> list[str]:
    """Nodes of order.csv, source first."""
    frame = read_frame(folder / "order.csv", ("node",))
    return frame.sort_values("position")["node"].tolist()


def stored_edges(folder: Path) -> pd.DataFrame:
    """parent, child, ocs, z, frequency of edges.csv, and score and p_value where another selector chose."""
    found = read_frame(folder / "edges.csv", ("parent", "child"))
    return found[["parent", "child", "ocs", "z", "frequency", *(name for name in _SELECTOR_COLUMNS if name in found)]]


def select(ocs: pd.DataFrame, tau_z: float, pi_min: float) -> pd.DataFrame:
    """The edges that pass both thresholds (paper, Parent Selection)."""
    from disco.parents.ocs import select as select_edges

    return select_edges(ocs, tau_z, pi_min)


def own_thresholds(ocs: pd.DataFrame, settings: Settings) -> tuple[float, float]:
    """(τ_Z, π_min) of a fit."""
    from disco.parents.ocs import own_thresholds as of_fit

    return of_fit(ocs, settings)


def save(folder: Path, recovery: "Recovery", settings: Settings) -> None:
    """Write a recovered order and its scores as a folder that is wholly there or not."""
    folder.parent.mkdir(exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=".", suffix=".tmp", dir=folder.parent))
    edges = select(recovery.ocs, *own_thresholds(recovery.ocs, settings))
    _frames(beside, list(recovery.order), recovery.ccs, recovery.criteria, recovery.ocs, edges)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        os.replace(beside, folder)
    except OSError:  # another tab has just put the same there
        shutil.rmtree(beside, ignore_errors=True)


def save_fit(folder: Path, model: "DISCO") -> None:
    """Write all results of a finished fit."""
    from safetensors.torch import save as serialize

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in model.tensors().items()}
    write_bytes(folder / "networks.safetensors", serialize(tensors))
    write_json(folder / "training.json", model.training_)
    if model.candidates_ is not None:
        write_frame(folder / f"parents_{model.settings_.selector}.csv", model.candidates_)
    _frames(folder, model.order_, model.ccs_, model.criteria_, model.ocs_, model.edges_)


def _frames(
    folder: Path,
    nodes: list[str],
    ccs: pd.DataFrame,
    criteria: pd.DataFrame,
    ocs: pd.DataFrame,
    edges: pd.DataFrame,
) -> None:
    positions = pd.DataFrame({"position": range(1, len(nodes) + 1), "node": nodes})
    write_frame(folder / "order.csv", positions)
    write_frame(folder / "ccs.csv", ccs)
    write_frame(folder / "criteria.csv", criteria)
    write_frame(folder / "ocs.csv", ocs)
    columns = [*_EDGE_COLUMNS, *(name for name in _SELECTOR_COLUMNS if name in edges)]
    write_frame(folder / "edges.csv", edges[columns])
