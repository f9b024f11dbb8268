"""The frames of a fit or a variant, as CSV files in one folder; on reading, they must agree with its order."""

import errno
import math
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from disco import columns
from disco.errors import InputError
from disco.files import read_json, unwritten, write_bytes, write_frame, write_json
from disco.graph.result import GraphResult
from disco.graph.result import read as read_found
from disco.graph.result import write as write_found
from disco.knowledge import Knowledge
from disco.paper.removals import positions_of
from disco.paper.settings import CHOICES, Settings
from disco.runs import digests
from disco.schema import check_edges, check_order, damaged, fits, read
from disco.table.roles import Roles

if TYPE_CHECKING:
    from disco.estimator import DISCO
    from disco.paper.fitted_networks import Variant

VARIANTS = tuple(f"{criterion}-{boundary}" for criterion in CHOICES["criterion"] for boundary in CHOICES["boundary"])

SELECTORS = tuple(name for name in CHOICES["selector"] if name != "ocs")
NETWORKS = "networks.safetensors"
_PARENTS = tuple(f"parents_{name}.csv" for name in SELECTORS)
ORDERED = ("order.csv", "ccs.csv", "criteria.csv", "ocs.csv", "edges.csv", *_PARENTS)  # of a fit, and of a variant
FILES = ("training.json", NETWORKS, *ORDERED)  # of a fit

_MOST_FOLDS = 1000
_TRAINING_BYTES = 1 << 22
_MOST_SCORES = 8_000_000  # of an order, with about 100 bytes each in criteria.csv, which is read up to 1 GiB


def check_size(nodes: int, folds: int) -> None:
    """Refuse a fit with more scores than a run can store; the `InputError` says how many columns would do."""
    if (scores := folds * nodes * (nodes + 1) // 2) > _MOST_SCORES:
        limit = math.isqrt(2 * _MOST_SCORES // folds) - 1
        raise InputError(
            f"The order of {nodes:,} columns in {folds} folds has {scores:,} scores; a run keeps at most "
            f"{_MOST_SCORES:,}. Use at most {limit:,} columns, or find the graph by the likelihood, without networks."
        )


def _path(folder: Path, name: str) -> Path:
    """The path of a file of a fit or a variant; InputError if it is another one."""
    return digests.checked(folder / name, digests.read(folder))


def order(folder: Path, nodes: Sequence[str]) -> list[str]:
    """Nodes of order.csv, source first: the table's columns, each once."""
    path = _path(folder, "order.csv")
    return check_order(path, read(path, columns.ORDER, nodes, len(nodes)), nodes)


def removals(folder: Path, what: str, order: Sequence[str]) -> pd.DataFrame:
    """ccs.csv or criteria.csv (`what`): one row per step, remaining node and fold."""
    path, nodes = _path(folder, f"{what}.csv"), len(order)
    frame = read(path, {"ccs": columns.CCS, "criteria": columns.CRITERIA}[what], order, _MOST_FOLDS * nodes * nodes)
    position = positions_of(frame["node"], order) + 1
    last = nodes + 1 - frame["step"]  # position of the node removed at the step
    is_right = (position <= last) & (frame["step"] >= 1) & (last >= 2)
    if "chosen" in frame:
        is_right &= (frame["chosen"] == (position == last)) & (frame["remaining"] == last)
    if not is_right.all():
        raise damaged(path, f"row {int((~is_right).argmax()) + 1} does not agree with order.csv")
    return _full(path, frame, nodes * (nodes + 1) // 2 - 1)


def candidates(folder: Path, order: Sequence[str]) -> pd.DataFrame:
    """ocs.csv: one row per fold and pair along the order."""
    path, nodes = _path(folder, "ocs.csv"), len(order)
    frame = read(path, columns.CANDIDATE_OCS, order, _MOST_FOLDS * nodes * nodes)
    if (positions_of(frame["parent"], order) >= positions_of(frame["child"], order)).any():  # faster than finding which
        check_edges(path, frame, order)
    return _full(path, frame, nodes * (nodes - 1) // 2)


def _full(path: Path, frame: pd.DataFrame, each: int) -> pd.DataFrame:
    """A frame, checked to have `each` rows per fold."""
    folds = frame["fold"].max() if len(frame) else 0
    if not 1 <= folds <= _MOST_FOLDS or len(frame) != folds * each or frame["fold"].min() < 1:
        raise damaged(path, f"it should have {each} rows per fold")
    return frame


def stored(folder: Path, nodes: Sequence[str]) -> GraphResult:
    """order.csv, and edges.csv: parent, child, ocs, z, frequency; score, p_value if its selector is not ocs; rule with
    knowledge or experiments, source with experiments.
    """
    _path(folder, "order.csv"), _path(folder, "edges.csv")
    return read_found(folder, nodes, columns.ORDER, columns.EDGES)


def marks(knowledge: Knowledge | None, roles: Roles | None) -> list[str]:
    """Columns of every candidate beside its scores: its rule with knowledge or experiments, its source with these."""
    if roles is not None and roles.named("intervention"):
        return ["rule", "source"]
    return [] if knowledge is None else ["rule"]


def selected(folder: Path, selector: str, order: Sequence[str], marks: Sequence[str]) -> pd.DataFrame | None:
    """parents_NAME.csv: every candidate along the order, by `cam`, `pcm` or `evidence`.

    None if the file is missing, damaged, or for another order. `marks` are from the function of that name.
    """
    names = ["parent", "child", "score", *(["p_value"] if selector != "evidence" else []), "selected"]
    names += marks
    try:
        frame = read(_path(folder, f"parents_{selector}.csv"), columns.CANDIDATES, order, len(order) ** 2)
    except InputError:
        return None
    if not set(names) <= set(frame):
        return None
    nodes = np.array(order, dtype=object)
    child, parent = np.tril_indices(len(nodes), -1)
    same = len(frame) == len(child) and all(
        np.array_equal(frame[end].to_numpy(dtype=object), nodes[positions])
        for end, positions in (("parent", parent), ("child", child))
    )
    return frame[names] if same else None


def select(ocs: pd.DataFrame, tau_z: float, pi_min: float) -> pd.DataFrame:
    """The edges that pass both thresholds (paper, Parent Selection)."""
    from disco.paper.ocs import select as select_edges

    return select_edges(ocs, tau_z, pi_min)


def own_thresholds(ocs: pd.DataFrame, settings: Settings) -> tuple[float, float]:
    """(τ_Z, π_min) of a fit."""
    from disco.paper.ocs import own_thresholds as of_fit

    return of_fit(ocs, settings)


def save(folder: Path, variant: "Variant", settings: Settings) -> None:
    """Write a recovered order and its scores into a folder, completely or not at all."""
    edges = select(variant.ocs, *own_thresholds(variant.ocs, settings))
    try:
        folder.parent.mkdir(exist_ok=True)
        hidden = Path(tempfile.mkdtemp(prefix=".", suffix=".tmp", dir=folder.parent))
    except OSError as error:
        raise unwritten(folder, error) from error
    try:
        _frames(hidden, list(variant.order), variant.ccs, variant.criteria, variant.ocs, edges, folder.parents[1])
        shutil.rmtree(folder, ignore_errors=True)
        os.replace(hidden, folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # another tab has just written it
            raise unwritten(folder, error) from error
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def save_fit(folder: Path, model: "DISCO") -> None:
    """Write all results of a finished fit."""
    from safetensors.torch import save as serialize

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in model.tensors().items()}
    (folder / digests.FILE).unlink(missing_ok=True)  # of an earlier fit, whose files are replaced from here on
    write_bytes(folder / NETWORKS, serialize(tensors))
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
    run: Path | None = None,
) -> None:
    """Write a result into its folder, edges.csv and the digests last; `run`: the folder of its run, if another one."""
    (folder / digests.FILE).unlink(missing_ok=True)
    write_frame(folder / "ccs.csv", ccs)
    write_frame(folder / "criteria.csv", criteria)
    write_frame(folder / "ocs.csv", ocs)
    names = [column.name for column in columns.EDGES.columns if not column.optional or column.name in edges]
    write_found(folder, GraphResult(nodes, edges[names]))
    table = digests.of_table(folder if run is None else run)
    digests.write(folder, {**digests.of_files(folder, FILES), digests.TABLE: table})


def training(folder: Path, settings: Settings) -> dict[str, Any]:
    """training.json, for each stage: epochs, and each fold's best epoch and loss."""
    path = _path(folder, "training.json")
    try:
        content = read_json(path, _TRAINING_BYTES)
    except (OSError, ValueError) as error:
        raise damaged(path, error) from None
    kinds = {"epochs": int, "best_epoch": list[int], "best_loss": list[float | None]}
    for stage in settings.networks:
        values = content.get(stage)
        if not isinstance(values, dict) or not all(fits(values.get(name), kind) for name, kind in kinds.items()):
            raise damaged(path, f"it lacks the epochs of the {stage} network")
    return content
