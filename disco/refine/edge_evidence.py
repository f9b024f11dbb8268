"""How sure every edge is, and how sure its direction.

The *evidence for a link* is the loss of the child's score without the edge, its log posterior odds. The other columns
are the gain in log-likelihood, the gain in BIC, and the p-value of the likelihood ratio against χ² with one degree of
freedom per column of the parent. The p-value ignores the search for the graph: the best of several null candidates has
a small p-value more often than its size says.

The *direction evidence* is the loss of the score if the child precedes the parent (`disco.refine.reversal`), under the
initial prior of the searches. The fitted prior would also infer directions from spreads alone, because it knows how the
spreads of parents and children differ in the table (`Prior.power`). Its addition is the *spread evidence*, which does
not count. The prior odds of a given order do not count either.

Directions are identified by the class of models, to which real tables seldom belong: among pairs whose order in time is
certain, half of the directions with 5 nats of evidence are wrong (`benchmarks/directed.py`). So a direction is
*decided* only if

- the direction evidence reaches the required bound, and the evidence for the link twice the bound: a direction is not
  surer than its edge;
- with linear effects, no more than a nat and a tenth of the direction evidence is against it (`linear_nats`); in that
  class a pair alone has no direction, and only the other edges can determine one;
- it exceeds three times the misfit of the two nodes (`disco.likelihood.misfit`) by the bound;
- both nodes have more than three levels: with two or three, the class fits a node whatever its parents do;
- less than a tenth of all nodes are poorly fitted: their misfit is 3 nats or more, and at least a tenth of the evidence
  for the directions of their edges, so that the same misfit per row counts the same with any number of rows;
- no search that ended near the best score has the edge reversed;
- if all this holds, the *worst case* of the direction evidence reaches 80% of the bound and 1% of the evidence for
  the link, or 3% for each nat of it per row: the lead over all rivals in which the edge is reversed and nodes may have
  other classes of distribution (`disco.refine.rivals`). Less rests on details of distributions that no class has right,
  with any number of rows.

With interventions, the direction evidence is that of the rows without one, and without the rules of experiments. Where
setting X leaves Y alone, Y → X and a hidden cause of both remain, and only setting Y can distinguish them.

A direction fixed by knowledge, or shown by an experiment (`disco.experiments`), is decided whatever the direction
evidence, which then shows how far the rows agree. There is no direction without an edge: the gain must reach the bound,
unless knowledge requires the edge. Every decided direction has its *source*: knowledge, experiment, or this class.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import chdtrc

from disco.columns import CLASS, ENDS, EVIDENCE, NO_SOURCE, P_VALUE
from disco.knowledge import Resolved
from disco.likelihood.misfit import misfits
from disco.likelihood.rank_design import STRAIGHT, Prior, RankDesign
from disco.paper.support import is_part
from disco.progress import Inside, Reporter, Sketch
from disco.refine.alike import design_effects, shared_out, strongest_first
from disco.refine.bounds import (
    AGAINST,
    AGAINST_SHARE,
    COARSE,
    FEW,
    MISFIT,
    MISFIT_SHARE,
    MOST_MISFIT,
    MOST_ROWS,
    SURER,
    TIMES,
    least_lead,
)
from disco.refine.node_scores import SEARCHING, Scores, fit_alone, make_fits
from disco.refine.prior import BEFORE
from disco.refine.reversal import Reversal, reversals
from disco.refine.rivals import SeveralClasses, leads
from disco.refine.searches import SearchResults
from disco.refine.stepwise import NodeFit, Parents, Wanted, predicted_losses
from disco.refine.task import Task

CLASSES = (BEFORE, Prior(BEFORE.linear, 1e7, STRAIGHT))  # with a bent link, with linear effects
_FIRST = 60  # edges judged first: as many as a page draws at first
_FEW_EDGES = 6  # edges judged together after a search that was ended early, since their reader waits
_OF_FITS, _OF_MISFITS, _OF_EDGES = 0.05, 0.15, 0.85  # shares of the evidence done after these; the rivals follow
_FINAL = 1e-4  # largest predicted gain, in nats, of the last step of a fit with reported evidence

Alone = dict[Wanted, tuple[float, float]]  # score and log-likelihood by fit
Predicted = tuple[int, int, float]  # parent, child, and the predicted loss of score without the edge, nats


class Judged(NamedTuple):
    """The evidence for a graph.

    Attributes:
        edges: `evidence`'s rows, `decided`, `source` and `class_decides`; with knowledge also `rule`, an edge's rule.
        misfit: every node's misfit, nats, (d,).
        fits: the fits of the graph, by node and parents.
        made: number of node fits.
        left_out: number of edges that are supported only by similarity within groups.
        missing: number of edges without evidence because it was ended at once; None if it was not.
    """

    edges: pd.DataFrame
    misfit: np.ndarray
    is_poor: np.ndarray
    fits: list[dict[Parents, NodeFit]]
    made: int
    left_out: int = 0
    missing: int | None = None


def judge(
    searched: SearchResults,
    task: Task,
    reporter: Reporter,
    all_rows: RankDesign | None = None,
    tells_decided: bool = True,
) -> Judged:
    """The evidence for every edge of the best graph, every node's misfit, and which directions are decided.

    The strongest edges are judged first. The graph with the evidence so far is reported before and after them, and
    after the rest; `tells_decided` if these reports call directions decided. If the evidence is ended at once
    (`disco.progress.AT_ONCE`), the rest is NaN, and directions that need it are undecided. With groups, the misfit does
    not split them, whose rows may be similar (`disco.refine.alike`). `all_rows` as in `evidence`.
    """
    parents = searched.best.found.parents
    inside = Inside(reporter, "evidence", sum(map(len, parents)))
    # Without earlier fits, which must not affect the result.
    scores = searched.scores(task, inside.reporter).replace(tolerance=_FINAL)
    inside.step(0, _OF_FITS, words := "evidence: fit of every node")
    make_fits((scores, key) for key in enumerate(parents))
    edges = predicted_losses(scores.fits[child][nodes] for child, nodes in enumerate(parents))
    edges = sorted(edges, key=lambda edge: (-edge[2], *edge[:2]))
    judging, judged = _Judging(searched, scores, task, all_rows, inside), _unjudged(edges)

    def step(count: int, until: float, words: str) -> None:
        rows = judged if "decided" in judged else judged.assign(decided=False)
        graph = _sketch(searched, edges, rows, tells_decided).named(task.names, task.leading)
        inside.step(count, until, words, graph=graph)

    inside.may_end = True
    step(count := 0, _OF_MISFITS, words)
    size = _FEW_EDGES if reporter.has_enough else _FIRST
    bounds = [0, *range(size, len(edges), size)[: None if reporter.has_enough else 1], len(edges)]
    words, pieces = "evidence: direction of every edge", list[pd.DataFrame]()
    with inside.until_at_once():
        judging.judge_nodes()
        for first, last in itertools.pairwise(bounds):
            step(first, _OF_MISFITS + (_OF_EDGES - _OF_MISFITS) * last / max(len(edges), 1), words)
            pieces.append(judging.rows(edges[first:last]))
            remaining = [_unjudged(edges[last:])] if last < len(edges) else []
            judged, count = strongest_first(pd.concat([*pieces, *remaining])), last
    step(count, 1.0, words)
    judged, is_poor = judging.decided(judged)
    step(count, 1.0, words)
    left_out = 0
    if task.group is not None:
        judged, left_out = _likely(judged, scores)
    fit_count = scores.made + sum(class_scores.made for class_scores in judging.classes) + judging.made
    missing = len(edges) - count if reporter.ends_at_once else None
    return Judged(judged, judging.misfit, is_poor, scores.fits, fit_count, left_out, missing)


def _unjudged(edges: Sequence[Predicted]) -> pd.DataFrame:
    """The rows of edges whose evidence is not computed, as of `evidence`."""
    ends = pd.DataFrame([edge[:2] for edge in edges], columns=["parent", "child"], dtype=int)
    return ends.assign(**{column.name: math.nan for column in (*EVIDENCE, P_VALUE)})


class _Judging:
    """The evidence for parts of the best graph's edges."""

    def __init__(
        self, searched: SearchResults, scores: Scores, task: Task, all_rows: RankDesign | None, inside: Inside
    ) -> None:
        self.found, self.scores, self.task, self.whole = searched.best.found, scores, task, all_rows
        self.classes = in_classes(scores, task.known)
        self.inside, self.misfit, self.has_misfit = inside, np.full(scores.design.nodes, np.nan), False
        self.effects, self.made = dict[tuple[int, int], float](), 0
        near = [end.found.parents for end in searched.ends if end.found.score >= self.found.score - task.choice.bound]
        self.elsewhere = {
            (child, parent) for parents in near for child, nodes in enumerate(parents) for parent in nodes
        }

    def judge_nodes(self) -> None:
        design, pairs = self.scores.design, list(enumerate(self.found.parents))[self.task.leading :]
        self.misfit[: self.task.leading] = 0.0  # what leads is not explained
        self.misfit[self.task.leading :] = misfits(design, pairs, group=self.task.group, reporter=self.inside.reporter)
        self.has_misfit = True

    def rows(self, edges: Sequence[Predicted]) -> pd.DataFrame:
        best, design = self.found, self.scores.design
        rows = evidence(self.scores, self.classes, best.order, best.parents, self.whole, [edge[:2] for edge in edges])
        if self.task.group is None or not len(rows):
            return rows
        effects = design_effects(design, best.parents, rows, self.task.group)
        self.effects |= dict(zip(_pairs(rows), effects.tolist(), strict=True))
        return shared_out(rows, effects, design)

    def decided(self, rows: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
        """The rows of all edges with the criteria of their directions, and rules; and which nodes are poorly fitted."""
        task, pairs = self.task, _pairs(rows)
        levels = self.scores.design.exists.sum(1)
        row_count = (self.whole or self.scores.design).rows
        rules = self.misfit, levels, task.choice.bound, self.elsewhere, task.leading, row_count
        needed = {
            pair: least_lead(task.choice.bound, gain, row_count) * self.effects.get(pair, 1.0)
            for pair, gain, is_sure in zip(pairs, rows["gain_nats"], decided(rows, *rules), strict=True)
            if is_sure
        }
        smallest = [math.nan if pair in needed else math.inf for pair in pairs]
        with self.inside.until_at_once():
            smallest = self._leads(pairs, needed)
        rows = rows.assign(robust_nats=np.minimum(rows["robust_nats"], smallest))
        if (knowledge := task.known) is not None:
            rows["rule"] = [knowledge.of_edge(*pair) for pair in pairs]
        sure, joined = decided(rows, *rules), rows["gain_nats"] >= task.choice.bound
        rows["source"] = [
            task.source_of(*pair, is_sure) if is_joined or task.is_required(*pair) else NO_SOURCE
            for pair, is_sure, is_joined in zip(pairs, sure, joined, strict=True)
        ]
        sources = {"decided": rows["source"] != NO_SOURCE, "class_decides": rows["source"] == CLASS}
        return rows.assign(**sources), poorly_fitted(self.misfit, rows) & self.has_misfit

    def _leads(self, pairs: Sequence[tuple[int, int]], needed: dict[tuple[int, int], float]) -> list[float]:
        """The smallest lead of each edge over its rivals, ∞ where another rule leaves the direction undecided (not
        `needed`).
        """
        fixed = [pair for pair in pairs if self.task.source_of(*pair, False) != NO_SOURCE]
        counts = self.task.table.to_numpy()
        edges = needed.keys() - {*fixed}
        contained = {pair: 0.0 for pair in edges if is_part(*(counts[:, node] for node in pair))}  # a rival is as good
        edges -= contained.keys()
        if not edges:
            return [contained.get(pair, math.inf) for pair in pairs]
        neutral = self.classes[0]
        several = SeveralClasses(neutral, self.found.parents, self.classes[-1].design.prior)
        required = {pair: needed[pair] for pair in sorted(edges)}
        allowance = COARSE * self.task.choice.bound
        smallest = contained | leads(several, self.found.order, self.found.parents, required, fixed, allowance)
        self.made += several.made
        return [smallest.get(pair, math.inf) / self.effects.get(pair, 1.0) for pair in pairs]


def _pairs(rows: pd.DataFrame) -> list[tuple[int, int]]:
    return list(zip(rows["parent"], rows["child"], strict=True))


def _sketch(searched: SearchResults, edges: list[Predicted], judged: pd.DataFrame, tells_decided: bool) -> Sketch:
    """The best graph with the gains and decided directions of the edges judged so far; other gains are predicted."""
    by_pair = judged.set_index(["parent", "child"])
    gain = by_pair["gain_nats"].dropna().to_dict()
    sure = [pair for pair, is_sure in by_pair["decided"].items() if is_sure and tells_decided]
    gains = [(parent, child, float(gain.get((parent, child), nats))) for parent, child, nats in edges]
    return Sketch(searched.best.found.order, gains, sure)


def _likely(edges: pd.DataFrame, scores: Scores) -> tuple[pd.DataFrame, int]:
    """The edges with nonnegative gain or required by knowledge, and the number of others."""
    rules = scores.rules
    pairs = zip(edges["parent"], edges["child"], strict=True)
    required = np.array([rules is not None and bool(rules.required[pair]) for pair in pairs], dtype=bool)
    likely = required | ~(edges["gain_nats"] < 0)
    return edges[likely].reset_index(drop=True), int((~likely).sum())


def in_classes(scores: Scores, knowledge: Resolved | None = None) -> list[Scores]:
    """Scores under each prior of `CLASSES`, without a given order, and without experiments: their rows and their rules.

    Their fits start from those of other scores.
    """
    design = scores.design
    controls = None if design.own_rows is None else design.own_rows.min(0)
    designs = [replace(design, prior=prior._replace(beside=design.prior.beside)) for prior in CLASSES]
    neutral = scores.replace(
        design=designs[0], order=None, rules=knowledge, weights=controls, tolerance=SEARCHING, warm=scores
    )
    return [neutral, *(neutral.replace(design=class_design, warm=neutral) for class_design in designs[1:])]


def evidence(
    scores: Scores,
    classes: Sequence[Scores],
    order: Sequence[int],
    parents: Sequence[Parents],
    all_rows: RankDesign | None = None,
    only: Sequence[tuple[int, int]] | None = None,
) -> pd.DataFrame:
    """One row per edge, strongest first.

    Args:
        scores: for the links.
        classes: their `in_classes`, for the direction evidence.
        parents: every node's, all before it in the order.
        all_rows: if the scores have a part of them: for the links and their p-values, never for the directions.
        only: the edges (parent, child) requested; None for all.

    Returns:
        Columns parent, child, `disco.columns.EVIDENCE` and p_value, nodes as numbers; NaN if a fit has no finite score.
    """
    make_fits((scores, key) for key in enumerate(parents))
    each = reversals(classes[0], order, parents, only)
    graphs = [pair for reversal in each for graph in (reversal.now, reversal.after) for pair in graph.items()]
    edges = [(reversal.child, parents[reversal.child]) for reversal in each]
    edges += [(reversal.child, _without(parents[reversal.child], reversal.parent)) for reversal in each]
    every = (scores, *classes)
    link_scores, *class_scores = [model.replace(tolerance=_FINAL, warm=classes[0]) for model in every]
    fits = [fit_alone(link_scores, [*edges, *graphs]), *(fit_alone(model, graphs) for model in class_scores)]
    gains, link_fits = link_scores, fits[0]
    if all_rows is not None:
        gains = link_scores.replace(design=replace(all_rows, prior=link_scores.design.prior), warm=None)
        link_fits = fit_alone(gains, edges)
        scores.alone += gains.alone
    for original, refitted in zip(every, (link_scores, *class_scores), strict=True):
        original.alone += refitted.alone
    rows = [_row(gains, parents, reversal, link_fits, fits) for reversal in each]
    return strongest_first(pd.DataFrame(rows, columns=[*(column.name for column in (*ENDS, *EVIDENCE, P_VALUE))]))


def decided(
    rows: pd.DataFrame,
    misfit: np.ndarray,
    levels: np.ndarray,
    bound: float,
    elsewhere: set[tuple[int, int]],
    contexts: int = 0,
    rows_of_gains: int = MOST_ROWS,
) -> np.ndarray:
    """Whether each direction is decided, (edges,).

    Args:
        rows: of `evidence`, for all edges.
        misfit: every node's, nats, (d,).
        bound: nats of evidence required.
        elsewhere: edges (parent, child) that are reversed in a search ending near the best.
        contexts: number of nodes that are effects of contexts, which come first and always fit.
        rows_of_gains: number of rows that the gains are of.
    """
    missed = np.nan_to_num(misfit, nan=np.inf)
    parent, child = rows["parent"].to_numpy(int), rows["child"].to_numpy(int)
    sure = rows["direction_nats"] >= bound + TIMES * (missed[parent] + missed[child])
    sure &= rows["gain_nats"] >= SURER * bound
    sure &= rows["robust_nats"] >= [least_lead(bound, gain, rows_of_gains) for gain in rows["gain_nats"]]
    sure &= np.minimum(levels[parent], levels[child]) > FEW
    sure &= rows["linear_nats"] >= -AGAINST - AGAINST_SHARE * rows["direction_nats"]
    pairs = zip(rows["parent"], rows["child"], strict=True)
    sure &= np.array([pair not in elsewhere for pair in pairs], dtype=bool)
    return sure.to_numpy() & bool(poorly_fitted(misfit, rows)[contexts:].mean() < MOST_MISFIT)


def poorly_fitted(misfit: np.ndarray, rows: pd.DataFrame) -> np.ndarray:
    """Whether nodes are poorly fitted, (d,), from the `evidence` of all edges; a misfit of NaN counts as poor."""
    supported, nats = np.zeros(len(misfit)), rows["direction_nats"].fillna(0.0).clip(lower=0.0)
    for end in ("parent", "child"):
        np.add.at(supported, rows[end].to_numpy(int), nats)
    missed = np.nan_to_num(misfit, nan=np.inf)
    return (missed >= MISFIT) & (missed >= MISFIT_SHARE * supported)


def _row(
    scores: Scores, parents: Sequence[Parents], reversal: Reversal, link_fits: Alone, fits: Sequence[Alone]
) -> dict[str, float]:
    """The numbers of one edge, by column: its gain from `link_fits`, its direction from the others."""
    parent, child, (fitted, bent, linear) = reversal.parent, reversal.child, fits
    full, less = link_fits[child, parents[child]], link_fits[child, _without(parents[child], parent)]
    against = scores.cost_of(parent, child) - scores.odds  # the cost of an edge against a given order
    gain, ratio = full[0] - less[0] - against, full[1] - less[1]
    columns = int(scores.design.width[parent])
    bic = ratio - columns * np.log(scores.design.rows) / 2
    p_value = chdtrc(columns, 2 * np.maximum(ratio, 0.0))
    direction = _lost(bent, reversal)
    spread = _lost(fitted, reversal) - direction
    return {
        **{"parent": parent, "child": child, "gain_nats": gain, "log_likelihood_nats": ratio, "bic_nats": bic},
        **{"direction_nats": direction, "robust_nats": direction, "linear_nats": _lost(linear, reversal)},
        **{"spread_nats": spread, "p_value": p_value},
    }


def _lost(fits: Alone, reversal: Reversal) -> float:
    """The loss of score in the graph with an edge reversed; NaN if a fit is not available."""
    return sum(fits[pair][0] for pair in reversal.now.items()) - sum(fits[pair][0] for pair in reversal.after.items())


def _without(parents: Parents, parent: int) -> Parents:
    return tuple(node for node in parents if node != parent)
