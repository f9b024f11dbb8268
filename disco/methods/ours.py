"""This project's own methods in the common form: the paper's fit with its variants, and the refinement."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from disco.devices import DEVICES
from disco.errors import InputError
from disco.estimator import DISCO
from disco.fields import anything, check, one_of, whole
from disco.graph.result import GraphResult
from disco.knowledge import Knowledge
from disco.paper import ocs
from disco.paper.settings import CHOICES, PRESETS
from disco.paper.stagewise import KINDS, stagewise
from disco.progress import Callback, Reporter
from disco.refine import Choice, refine
from disco.table.artefacts import ARTEFACTS
from disco.table.prepared import Prepared, Table, prepare

_OF_FIT = ("seed", "transform", "criterion")  # fields that are settings of the fit
_FURTHER = 3.0  # about the time of the further stages relative to the fit, at 50 nodes


@dataclass(frozen=True)
class Options:
    """The options of a fit or a refinement."""

    by: str = one_of(
        "networks",
        ("networks", "likelihood"),
        help="networks, the paper's fit, or likelihood, the refinement without networks.",
    )
    preset: str = one_of("tuned", PRESETS, help="Preset of the fit.")
    transform: str = one_of(
        "rank", CHOICES["transform"], help="Transform of the fit; none is the paper's DISCO-NoRank."
    )
    criterion: str = one_of("ccs", CHOICES["criterion"], help="Criterion of the fit's order.")
    projection: str = one_of(
        "amortised",
        ("amortised", *KINDS),
        help="amortised, as the settings say; or direct or recursive, a projection network trained further after "
        "every removal of a node (`disco.paper.stagewise`).",
    )
    settings: Mapping[str, Any] = anything(dict, help="Other settings of the fit that differ from the preset.")
    device: str = one_of("auto", DEVICES, help="Of the fit: auto, cpu or cuda.")
    starts: int = whole(Choice.starts, at_least=1, help="Orders from which the refinement searches.")
    restarts: int = whole(Choice.restarts, at_least=0, help="Most restarts of the refinement.")
    seed: int = whole(0, at_least=0, help="Seed of either.")

    def __post_init__(self) -> None:
        check(self)
        if not isinstance(self.settings, Mapping):
            raise InputError(f"settings must map settings to values; got {self.settings!r}.")
        for name in self.settings:
            if not isinstance(name, str) or name in ("preset", "device", *_OF_FIT):
                raise InputError(f"settings must not contain {name!r}: it is unknown, or has its own option here.")


def find(
    table: Table, options: Options, *, knowledge: Knowledge | None = None, callback: Callback | None = None
) -> GraphResult:
    """Order, edges and their scores: Z of the OCS by networks, gain in nats by likelihood.

    Raises:
        InputError: the table, a setting or the knowledge cannot be used.
        ScoreUnavailable: a node or edge has no admissible observation.
    """
    method = _fitted if options.by == "networks" else _refined
    return method(prepare(table), options, knowledge, callback)


def _fitted(
    prepared: Prepared, options: Options, knowledge: Knowledge | None, callback: Callback | None
) -> GraphResult:
    chosen = {name: getattr(options, name) for name in _OF_FIT}
    if options.projection != "amortised":
        chosen["projection"] = "network"
    model = DISCO(options.preset, options.device, **{**chosen, **options.settings})
    if options.projection == "amortised":
        model.fit(prepared, knowledge=knowledge, callback=callback, dismissed=ARTEFACTS)
        order, candidates, edges = model.order_, model.ocs_, model.edges_
    else:
        reporter = Reporter(callback, {"fit": 1.0, "ordering": _FURTHER, "parents": 0.1})
        model.fit(prepared, knowledge=knowledge, callback=reporter.part("fit", "epoch"), dismissed=ARTEFACTS)
        fitted = model.fitted_
        order = stagewise(fitted, options.projection, callback=reporter.part("ordering", "epoch")).order
        candidates = fitted.candidates(order, fitted.settings.boundary, reporter.part("parents", "node"))
        edges = ocs.select(candidates, *ocs.own_thresholds(candidates, fitted.settings))
    scores = candidates.groupby(["parent", "child"], sort=False)["z"].mean().rename("score").reset_index()
    names = list(prepared.counts.columns)
    pairs = zip(edges["parent"], edges["child"], strict=True)
    return GraphResult.of(names, pairs, order=order, scores=scores, notes=model.notes_)


def _refined(
    prepared: Prepared, options: Options, knowledge: Knowledge | None, callback: Callback | None
) -> GraphResult:
    choice = Choice(starts=options.starts, restarts=options.restarts, seed=options.seed, folds=0, bootstrap=0)
    refined = refine(prepared, choice, knowledge=knowledge, callback=callback, dismissed=ARTEFACTS)
    scores = refined.edges[["parent", "child"]].assign(score=refined.edges["gain_nats"])
    names, edges = list(prepared.counts.columns), (refined.found.directed, refined.found.undirected)
    return GraphResult.of(names, edges[0], undirected=edges[1], order=refined.order, scores=scores, notes=refined.notes)
