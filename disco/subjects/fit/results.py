"""The result of a fit or a variant: frames as CSV files in one folder, which must agree with the order when read."""

import errno
import math
import os
import shutil
import tempfile
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from disco import columns
from disco.errors import InputError
from disco.files import inside, read_json, unwritten, write_bytes, write_frame, write_json
from disco.graph.result import GraphResult
from disco.graph.result import read as read_result
from disco.graph.result import write as write_result
from disco.paper.removals import positions_of, with_decided
from disco.paper.settings import CHOICES
from disco.runs import digests
from disco.runs.folder import Run
from disco.schema import check_edges, check_order, damaged, fits, read
from disco.subjects.refinement.refined import searched_edges

if TYPE_CHECKING:
    import networkx as nx

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


class StoredFit:
    """The result of a run's fit, or of one of its variants, checked when read.

    Every attribute and method raises an InputError if there is no result, or one of its files is damaged.

    Attributes:
        variant: criterion and boundary, by default those of the fit; others are recovered from its networks.
    """

    def __init__(self, run: Run, variant: str | None = None) -> None:
        self.run, self.is_own = run, variant in (None, own_variant(run))
        self.variant = variant or own_variant(run)

    @cached_property
    def folder(self) -> Path:
        """The folder of its frames."""
        folder = self.run.path if self.is_own else _variant_path(self.run, self.variant)
        if not (folder / "edges.csv").exists():
            what = "no result yet" if self.is_own else f"no result for {self.variant} yet"
            raise InputError(f"The run {self.run.name} has {what}.")
        digests.check_table(folder / digests.FILE, digests.read(folder), self.run.digests)
        return folder

    def _path(self, name: str) -> Path:
        return digests.checked(self.folder / name, digests.read(self.folder))

    @cached_property
    def order(self) -> list[str]:
        """The causal order, source first."""
        path, nodes = self._path("order.csv"), self.run.nodes
        return check_order(path, read(path, columns.ORDER, nodes, len(nodes)), nodes)

    @cached_property
    def ccs(self) -> pd.DataFrame:
        """step, remaining, node, fold, score, chosen."""
        return self._removals("ccs.csv", columns.CCS)

    @cached_property
    def criteria(self) -> pd.DataFrame:
        """step, node, fold and each criterion's score (NaN: unavailable) along the removals of this order."""
        return self._removals("criteria.csv", columns.CRITERIA)

    def _removals(self, name: str, schema: columns.Schema) -> pd.DataFrame:
        """One row per step, remaining node and fold."""
        path, nodes = self._path(name), len(self.order)
        frame = read(path, schema, self.order, _MOST_FOLDS * nodes * nodes)
        position = positions_of(frame["node"], self.order) + 1
        last = nodes + 1 - frame["step"]  # position of the node removed at the step
        is_right = (position <= last) & (frame["step"] >= 1) & (last >= 2)
        if "chosen" in frame:
            is_right &= (frame["chosen"] == (position == last)) & (frame["remaining"] == last)
        if not is_right.all():
            raise damaged(path, f"row {int((~is_right).argmax()) + 1} does not agree with order.csv")
        return _full(path, frame, nodes * (nodes + 1) // 2 - 1)

    @cached_property
    def ocs(self) -> pd.DataFrame:
        """fold, parent, child, ocs, curvature, z: every pair along the order."""
        path, order, nodes = self._path("ocs.csv"), self.order, len(self.order)
        frame = read(path, columns.CANDIDATE_OCS, order, _MOST_FOLDS * nodes * nodes)
        if (positions_of(frame["parent"], order) >= positions_of(frame["child"], order)).any():  # faster than which
            check_edges(path, frame, order)
        return _full(path, frame, nodes * (nodes - 1) // 2)

    def read_all(self) -> None:
        """Read every frame, to check it."""
        for name in ("ccs", "criteria", "ocs", "_stored"):
            getattr(self, name)

    @cached_property
    def thresholds(self) -> tuple[float, float]:
        """Its own (τ_Z, π_min): from the settings, or from its local false discovery rate."""
        from disco.paper.ocs import own_thresholds

        return own_thresholds(self.ocs, self.run.settings)

    def edges(self, tau_z: float | None = None, pi_min: float | None = None) -> pd.DataFrame:
        """parent, child, ocs, z, frequency: the fit's edges, with score and p_value if its selector is not ocs; or the
        OCS's edges at given thresholds (paper, Parent Selection). A variant recovered later has the OCS's edges.
        """
        if tau_z is None and pi_min is None:
            return self._stored.edges
        own_tau_z, own_pi_min = self.thresholds
        return self._selected(own_tau_z if tau_z is None else tau_z, own_pi_min if pi_min is None else pi_min)

    def _selected(self, tau_z: float, pi_min: float) -> pd.DataFrame:
        from disco.paper.ocs import select

        return select(self.ocs, tau_z, pi_min)

    @property
    def graph_result(self) -> GraphResult:
        """The order and the edges, with `decided`: whether the direction of each is known."""
        return replace(self._stored, edges=with_decided(self._stored.edges, self.ccs, searched_edges(self.run)))

    @cached_property
    def _stored(self) -> GraphResult:
        """The order and the edges: also score and p_value if the selector is not ocs, rule with knowledge or
        experiments, source with experiments.
        """
        self._path("order.csv"), self._path("edges.csv")
        result = read_result(self.folder, self.run.nodes, columns.ORDER, columns.EDGES)
        if result.edges.empty and self._has_candidates():
            raise damaged(self.folder / "edges.csv", "it has no edges, but candidates that pass")
        return replace(result, method="DISCO", choices=self.run.settings.to_dict())

    def _has_candidates(self) -> bool:
        if self.run.settings.selector == "ocs" or not self.is_own:
            return not self._selected(*self.thresholds).empty
        candidates = self.candidates(self.run.settings.selector)
        return candidates is not None and bool(candidates["selected"].any())

    def candidates(self, selector: str) -> pd.DataFrame | None:
        """parents_NAME.csv, every candidate along the order, by `cam`, `pcm` or `evidence`: parent, child, score,
        p_value (cam and pcm), selected, rule with knowledge or experiments, source with experiments.

        None if the file is missing, damaged, or for another order.
        """
        names = ["parent", "child", "score", *(["p_value"] if selector != "evidence" else []), "selected"]
        roles = self.run.roles
        if roles is not None and roles.named("intervention"):
            names += ["rule", "source"]
        elif self.run.knowledge() is not None:
            names += ["rule"]
        try:
            path, order = self._path(f"parents_{selector}.csv"), self.order
            frame = read(path, columns.CANDIDATES, order, len(order) ** 2)
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

    def graph(self, tau_z: float | None = None, pi_min: float | None = None) -> "nx.DiGraph":
        """The DAG of `edges`, all nodes in causal order; its edges have `decided`."""
        return self.graph_of(self.edges(tau_z, pi_min))

    def graph_of(self, edges: pd.DataFrame) -> "nx.DiGraph":
        """The DAG of edges along the order, all nodes in causal order; its edges have `decided`."""
        from disco.graph.dag import build

        return build(self.order, with_decided(edges, self.ccs, searched_edges(self.run)))


def _full(path: Path, frame: pd.DataFrame, each: int) -> pd.DataFrame:
    """A frame, checked to have `each` rows per fold."""
    folds = frame["fold"].max() if len(frame) else 0
    if not 1 <= folds <= _MOST_FOLDS or len(frame) != folds * each or frame["fold"].min() < 1:
        raise damaged(path, f"it should have {each} rows per fold")
    return frame


def own_variant(run: Run) -> str:
    """The criterion and boundary of the fit, as a variant's name."""
    return f"{run.settings.criterion}-{run.settings.boundary}"


def variants(run: Run) -> list[str]:
    """The variants of a run: its own first, then those recovered later."""
    recovered = (name for name in sorted(VARIANTS) if (_variant_path(run, name) / "edges.csv").exists())
    return [own_variant(run), *(name for name in recovered if name != own_variant(run))]


def _variant_path(run: Run, variant: str) -> Path:
    if variant not in VARIANTS:
        raise InputError(f"A variant must be one of {', '.join(VARIANTS)}; got {variant!r}.")
    return inside(run.path, "variants", variant)


def save_variant(run: Run, result: "Variant", variant: str) -> None:
    """Save an order, scores and edges recovered from a run's networks, as CRITERION-BOUNDARY, completely or not at all.

    The fit's own variant is saved already.
    """
    from disco.paper.ocs import own_thresholds, select

    run.check_own()
    if variant == own_variant(run):
        return
    folder, edges = _variant_path(run, variant), select(result.ocs, *own_thresholds(result.ocs, run.settings))
    try:
        folder.parent.mkdir(exist_ok=True)
        hidden = Path(tempfile.mkdtemp(prefix=".", suffix=".tmp", dir=folder.parent))
    except OSError as error:
        raise unwritten(folder, error) from error
    try:
        _frames(hidden, list(result.order), result.ccs, result.criteria, result.ocs, edges, run.path)
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
    write_result(folder, GraphResult(nodes, edges[names]))
    table = digests.of_table(folder if run is None else run)
    digests.write(folder, {**digests.of_files(folder, FILES), digests.TABLE: table})


def training(run: Run) -> dict[str, Any]:
    """training.json, for each stage: epochs, and each fold's best epoch and loss."""
    path = digests.checked(run.path / "training.json", digests.read(run.path))
    try:
        content = read_json(path, _TRAINING_BYTES)
    except (OSError, ValueError) as error:
        raise damaged(path, error) from None
    kinds = {"epochs": int, "best_epoch": list[int], "best_loss": list[float | None]}
    for stage in run.settings.networks:
        values = content.get(stage)
        if not isinstance(values, dict) or not all(fits(values.get(name), kind) for name, kind in kinds.items()):
            raise damaged(path, f"it lacks the epochs of the {stage} network")
    return content
