"""The refinement: screen, searches from several starts, evidence, bootstrap."""

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from disco.counts import check_order
from disco.errors import InputError
from disco.likelihood.bank import Bank, Prior
from disco.likelihood.evaluate import Problems
from disco.likelihood.misfit import misfits
from disco.likelihood.newton import fit
from disco.likelihood.rows import threads_at_the_rows
from disco.ranks import transform_table
from disco.refine.choice import Choice
from disco.refine.draws import Drawn, draw, near_found
from disco.refine.evidence import decided, evidence, in_classes
from disco.refine.memory import Memory, key_of
from disco.refine.moves import moves
from disco.refine.prior import BEFORE, fitted_to, price
from disco.refine.progress import Step, Told
from disco.refine.result import Refined, refined
from disco.refine.scores import Scores, resolve
from disco.refine.screen import screen, widened
from disco.refine.search import Found, search
from disco.refine.starts import first_orders, near
from disco.settings import Settings

_SIDE_BY_SIDE = 4  # searches whose fits share batches
_FINAL = 1e-4  # nats that the last step of a fit promises, where its evidence is reported
_ROUND_GAIN = 0.5  # nats that a round of restarts gains at least for another to follow, or by which ends differ
_WIDER = 3  # times that the screen is widened at most
_WIDER_SCREEN = "wider screen"


@threads_at_the_rows()
def refine(
    table: pd.DataFrame,
    choice: Choice | None = None,
    *,
    settings: Settings | None = None,
    order: Sequence[str] | None = None,
    edges: pd.DataFrame | None = None,
    offset: np.ndarray | None = None,
    device: str = "cpu",
    callback: Callable[[Step], bool | None] = lambda step: None,
    memory: Path | None = None,
) -> Refined:
    """Search for the order and DAG of highest marginal likelihood among semiparametric GLM DAGs.

    Args:
        table: counts, one column a node.
        choice: how much to search.
        settings: whose transform the levels come from; ranks by default.
        order: a causal order to start from, the CCS order as a rule; an edge against it costs more, so that
            directions that the rows leave open follow it (`prior.trust`).
        edges: parent, child of edges that the screen must let through.
        offset: log exposure of every row, (n,).
        device: cpu or cuda.
        callback: told of every step; False stops.
        memory: a file that keeps finished searches, so that the same call goes on after an interruption.

    Raises:
        InputError: the table cannot be used, or the order or edges name other columns.
        FitStopped: the callback asked to stop.
    """
    choice, names = choice or Choice(), list(table.columns)
    place, told = _places(names, order, edges), Told(callback)
    codes = transform_table(table, settings or Settings()).to_numpy()
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in codes.T])
    bank = Bank.of(ranks, offset=offset, prior=BEFORE, dtype=torch.float32, device=device, names=names)
    if device == "cpu":
        told.step("screen", 0, 1, message="screen: compiling, some seconds the first time on a machine")
        fit(bank, Problems.of([(0, ())]))
    told.step("screen", 0, 1, message="screen: which pairs may be joined")
    also = np.zeros((len(names),) * 2, dtype=bool)
    for parent, child in () if edges is None else zip(edges["parent"], edges["child"], strict=True):
        also[place[parent], place[child]] = True
    candidates = screen(bank, also=also, goes_on=lambda done: told.goes_on())
    kept = Memory.of(memory, key_of(ranks, choice, order, candidates, offset), names)
    scores, found = _best_graph(bank, candidates, table, choice, order, told, kept)
    told.step("evidence", 0, 1, message="evidence: what every edge is worth")
    final = scores.but(tolerance=_FINAL)  # begins without the fits of the searches, so that nothing hangs on their way
    classes = in_classes(final)
    rows = evidence(final, classes, found.order, found.parents)
    kept.made["evidence"] = final.made + sum(one.made for one in classes)
    told.step("evidence", 0, 1, 0.7, message="evidence: how well the class fits every node")
    misfit = misfits(bank, list(enumerate(found.parents)), goes_on=told.goes_on)
    levels, elsewhere = bank.exists.sum(1).cpu().numpy(), _turned_elsewhere(kept.starts, found.score - choice.bound)
    rows["decided"] = decided(rows, misfit, levels, choice.bound, elsewhere)
    moved = None
    if order is not None:
        moved = moves(scores.but(), found.order, found.parents, [place[name] for name in order])

    def again(weights: Sequence[np.ndarray]) -> Iterator[Drawn]:
        if choice.redone:
            return (_redone(bank, one, also, table, choice, order, told) for one in weights)
        return near_found(final, found, weights)

    draw(bank.rows, choice, told, kept, again)
    return refined(table, found, rows, misfit, moved, choice, kept, bank, sum(map(len, scores.candidates)) // 2)


def _best_graph(
    bank: Bank,
    candidates: Sequence[tuple[int, ...]],
    table: pd.DataFrame,
    choice: Choice,
    order: Sequence[str] | None,
    told: Told,
    kept: Memory,
) -> tuple[Scores, Found]:
    """The best graph of all searches, and the scores that they ended with."""
    place = {name: number for number, name in enumerate(table.columns)}
    begun = first_orders(table, choice.starts, choice.seed, order)
    known = None if order is None else [place[name] for name in order]
    scores = Scores(bank, candidates, price=price(bank.nodes, 0), order=known, goes_on=told.goes_on)
    scores = _after_a_first_search(scores, begun, place, told, kept)
    _search_all(scores, begun, choice, place, told, kept)
    scores = _with_a_wider_screen(scores, place, told, kept)
    best = max(kept.starts, key=lambda one: one["score"])
    parents = [tuple(nodes) for nodes in best["parents"]]
    return scores, Found([place[name] for name in best["order"]], parents, best["score"], [])


def _redone(
    bank: Bank,
    weights: np.ndarray,
    also: np.ndarray,
    table: pd.DataFrame,
    choice: Choice,
    order: Sequence[str] | None,
    told: Told,
) -> Drawn:
    """The edges of a refinement of drawn rows that knows nothing of the whole table's; constant columns have none."""
    rows = np.repeat(np.arange(bank.rows), weights.astype(int))
    ranks = bank.ranks.cpu().numpy()[rows]
    varies = np.flatnonzero(ranks.min(0) < ranks.max(0))
    if not len(varies):
        return [], 0
    drawn, names = table.iloc[rows, varies], set(table.columns[varies])
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in ranks[:, varies].T])
    offset = None if bank.offset is None else bank.offset.cpu().numpy()[rows]
    part = Bank.of(ranks, offset=offset, prior=BEFORE, dtype=bank.columns.dtype, device=bank.columns.device)
    candidates = screen(part, also=also[np.ix_(varies, varies)], goes_on=lambda done: told.goes_on())
    kept, known = Memory(None, ""), None if order is None else [name for name in order if name in names]
    _, found = _best_graph(part, candidates, drawn, choice, known, told.quiet(), kept)
    edges = [[int(varies[parent]), int(varies[child])] for child, nodes in enumerate(found.parents) for parent in nodes]
    return edges, sum(kept.made.values())


def _places(names: list[str], order: Sequence[str] | None, edges: pd.DataFrame | None) -> dict[str, int]:
    place = {name: number for number, name in enumerate(names)}
    if order is not None:
        check_order(order, names)
    if edges is not None:
        for name in [*edges["parent"], *edges["child"]]:
            if name not in place:
                raise InputError(f'An edge names "{name}", which is not a column of the table.')
    return place


def _after_a_first_search(
    scores: Scores, begun: dict[str, list[str]], place: dict[str, int], told: Told, kept: Memory
) -> Scores:
    """Scores by the prior fitted to the graph of a search from the first start, and by a screen that this graph widens.

    The first start begins where that search ended from now on.
    """
    names, start = list(place), next(iter(begun))
    if kept.first is None:

        def report(sweep: int, looked: int, score: float) -> None:
            inside = 1 - 0.6 ** (sweep - 1 + looked / len(names))
            told.step("prior", 0, 1, inside, message=f"prior: first search, sweep {sweep}")

        order = [place[name] for name in begun[start]]
        found = resolve([(scores, search(scores, order, only_near=True, report=report))])[0]
        kept.made["first"] = scores.made
        scores = fitted_to(scores, found.order, found.parents)
        kept.first = {
            "order": [names[node] for node in found.order], "parents": [list(nodes) for nodes in found.parents],
            "prior": list(scores.bank.prior), "price": scores.price, "against": scores.against,
            "candidates": [list(nodes) for nodes in scores.candidates],
        }  # fmt: skip
        kept.write()
    begun[start] = kept.first["order"]
    bank = scores.bank.under(Prior(*kept.first["prior"]))
    given = {name: kept.first[name] for name in ("candidates", "price", "against")}
    return scores.but(bank=bank, **given)


def _search_all(
    scores: Scores, starts: dict[str, list[str]], choice: Choice, place: dict[str, int], told: Told, kept: Memory
) -> None:
    """Search from every start, then from near the best, some searches side by side; what is kept is not repeated."""
    names, total = list(place), len(starts) + choice.restarts
    rounds = [list(starts)]
    for first in range(1, choice.restarts + 1, _SIDE_BY_SIDE):
        numbers = range(first, min(first + _SIDE_BY_SIDE, choice.restarts + 1))
        rounds.append([f"restart {number}" for number in numbers])
    earlier: list[str] = []
    best = {"score": -math.inf, "parents": kept.first["parents"]}
    for labels in rounds:
        missing = [start for start in labels if start not in {one["start"] for one in kept.starts}]
        begun = starts
        if earlier:
            begun = {start: near(best["order"], int(start.split()[-1]), choice.seed) for start in missing}
        inside = dict.fromkeys(missing, 0.0)
        walks, fresh = [], scores.but()
        for start in missing:
            report = told.sweeps(start, inside, len(earlier), total, len(names))
            walks.append(search(fresh, [place[name] for name in begun[start]], best["parents"], report=report))
        for start, found in zip(missing, resolve([(fresh, walk) for walk in walks]), strict=True):
            order, parents = [names[node] for node in found.order], [list(nodes) for nodes in found.parents]
            kept.starts.append(
                {"start": start, "order": order, "score": found.score, "parents": parents, "sweeps": found.sweeps}
            )
        if missing:
            kept.made[missing[0]] = fresh.made
            kept.write()
        earlier += labels
        before, best = best, max((one for one in kept.starts if one["start"] in earlier), key=lambda one: one["score"])
        ends = [one["score"] for one in kept.starts if one["start"] in earlier]
        agreed = 2 * sum(score > best["score"] - _ROUND_GAIN for score in ends) >= max(len(ends), 3)
        if agreed or (labels[0] not in starts and best["score"] < before["score"] + _ROUND_GAIN):
            break


def _with_a_wider_screen(scores: Scores, place: dict[str, int], told: Told, kept: Memory) -> Scores:
    """Scores with the pairs that the screen left out and the best graph asks for, searched again until it asks none."""
    names = list(place)
    # One kept from before an interruption is searched again: its pairs are not among these candidates yet.
    kept.starts = [one for one in kept.starts if not one["start"].startswith(_WIDER_SCREEN)]
    for number in range(1, _WIDER + 1):
        best = max(kept.starts, key=lambda one: one["score"])
        order = [place[name] for name in best["order"]]
        candidates = widened(scores, order, best["parents"])
        if candidates == scores.candidates:
            break
        scores = scores.but(candidates=candidates)
        start = f"{_WIDER_SCREEN} {number}"
        report = told.sweeps(start, {start: 0.0}, len(kept.starts), len(kept.starts) + 1, len(names))
        found = resolve([(scores, search(scores, order, best["parents"], report=report))])[0]
        kept.made[start] = scores.made
        order, parents = [names[node] for node in found.order], [list(nodes) for nodes in found.parents]
        kept.starts.append(
            {"start": start, "order": order, "score": found.score, "parents": parents, "sweeps": found.sweeps}
        )
    return scores.but()


def _turned_elsewhere(starts: list[dict], least: float) -> set[tuple[int, int]]:
    """The edges (parent, child) that a search with an end of at least that score has the other way round."""
    ends = [one["parents"] for one in starts if one["score"] >= least]
    return {(child, parent) for parents in ends for child, nodes in enumerate(parents) for parent in nodes}
