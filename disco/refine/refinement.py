"""The refinement: screen, searches from several starts, evidence, bootstrap."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import torch

from disco.counts import check_order
from disco.errors import InputError
from disco.graph import build
from disco.likelihood.bank import Bank, Prior
from disco.likelihood.evaluate import Problems
from disco.likelihood.newton import fit
from disco.ranks import fold_of_rows, transform_table
from disco.refine.evidence import BOUND, evidence
from disco.refine.memory import Memory, key_of
from disco.refine.moves import moves
from disco.refine.prior import BEFORE, fitted_to, price
from disco.refine.progress import Step, Told
from disco.refine.scores import SEARCHING, Scores, resolve
from disco.refine.screen import screen, widened
from disco.refine.search import Found, search
from disco.refine.starts import first_orders, near
from disco.relations import relations
from disco.settings import Settings

EDGE_COLUMNS = (
    *(
        "parent",
        "child",
        "gain_nats",
        "log_likelihood_nats",
        "bic_nats",
        "direction_nats",
        "reversible",
        "decided",
        "p_value",
    ),
    *("folds", "bootstrap"),
)
_BOOTSTRAP_SWEEPS = 3
_SIDE_BY_SIDE = 4  # searches whose fits share batches
_FINAL = 1e-4  # nats that the last step of a fit promises, where its evidence is reported
_ROUND_GAIN = 0.5  # nats that a round of restarts gains at least for another to follow, or by which ends differ
_WIDER = 3  # times that the screen is widened at most
_WIDER_SCREEN = "wider screen"


@dataclass(frozen=True)
class Choice:
    """What a refinement is asked for.

    Attributes:
        starts: orders to start from: the CCS order where there is one, the sorted ones, then random ones.
        restarts: searches from near the best order so far at most, to leave a local optimum: with a stretch of it
            reversed, some nodes put anywhere, or every node some places away. They go in rounds of four, and end after
            a round that gains nothing, or as soon as half of all searches, and two at least, ended where the best did.
        bootstrap: tables drawn with replacement.
        folds: parts left out in turn.
        bound: nats from which on a direction is decided.
        seed: of the random orders, the bootstrap and the folds.

    Raises:
        InputError: a number is out of range.
    """

    starts: int = 4
    restarts: int = 16
    bootstrap: int = 50
    folds: int = 3
    bound: float = BOUND
    seed: int = 0

    def __post_init__(self) -> None:
        for name, low in (("starts", 1), ("restarts", 0), ("bootstrap", 0), ("folds", 0), ("bound", 0), ("seed", 0)):
            if getattr(self, name) < low:
                raise InputError(f"{name} must be at least {low}; got {getattr(self, name)}.")
        if self.folds == 1:
            raise InputError("folds must be 0, for none, or at least 2.")


@dataclass(frozen=True)
class Refined:
    """A refinement's result.

    Attributes:
        order: all nodes, sources first.
        edges: one row an edge, strongest first, columns `EDGE_COLUMNS`; gains and direction evidence in nats; a
            direction that a search from another start with nearly the same score has the other way round is undecided;
            `folds` and `bootstrap` the share of those fits with the edge in this direction, NaN where none was asked,
            or one of its columns is constant in all; what else is not available is NaN too, and in the notes.
        starts: one row a start and sweep: start, sweep, score.
        best: the start whose end this is.
        score: the graph's log posterior in nats, up to a constant of the table (`disco.refine.scores`).
        candidates: pairs the screen let through.
        fits: node fits made.
        moves: one row a node, columns node, before, after, gain_nats (`disco.refine.moves`); None where no order was
            given to start from.
        orders: where every search ended, columns start, position from 1, node; None where it was not kept.
        notes: sentences on what is not available, and on columns that others determine.
    """

    order: list[str]
    edges: pd.DataFrame
    starts: pd.DataFrame
    best: str
    score: float
    candidates: int
    fits: int
    moves: pd.DataFrame | None = None
    orders: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()

    def graph(self) -> nx.DiGraph:
        """The DAG, nodes in causal order, the evidence on its edges."""
        return build(self.order, self.edges)


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
    place = _places(names, order, edges)
    codes = transform_table(table, settings or Settings()).to_numpy()
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in codes.T])
    bank = Bank.of(ranks, offset=offset, prior=BEFORE, dtype=torch.float32, device=device, names=names)
    told = Told(callback)
    if device == "cpu":
        told.step("screen", 0, 1, message="screen: compiling, some seconds the first time on a machine")
        fit(bank, Problems.of([(0, ())]))
    told.step("screen", 0, 1, message="screen: which pairs may be joined")
    also = np.zeros((len(names),) * 2, dtype=bool)
    for parent, child in () if edges is None else zip(edges["parent"], edges["child"], strict=True):
        also[place[parent], place[child]] = True
    candidates = screen(bank, also=also, goes_on=lambda done: told.goes_on())
    kept = Memory.of(memory, key_of(ranks, choice, order, candidates, offset), names)
    begun = first_orders(table, choice.starts, choice.seed, order)
    known = None if order is None else [place[name] for name in order]
    scores = Scores(bank, candidates, price=price(len(names), 0), order=known, goes_on=told.goes_on)
    scores = _after_a_first_search(scores, begun, place, told, kept)
    _search_all(scores, begun, choice, place, told, kept)
    scores = _with_a_wider_screen(scores, place, told, kept)
    best = max(kept.starts, key=lambda one: one["score"])
    found = Found(
        [place[name] for name in best["order"]], [tuple(nodes) for nodes in best["parents"]], best["score"], []
    )
    told.step("evidence", 0, 1, message="evidence: what every edge is worth")
    final = scores.but(tolerance=_FINAL)  # begins without the fits of the searches, so that nothing hangs on their way
    rows = evidence(final, found.parents, choice.bound)
    kept.made["evidence"] = final.made
    moved = None if known is None else moves(scores.but(), found.order, found.parents, known)
    turned = _turned_elsewhere(kept.starts, found.score - choice.bound)
    rows["decided"] &= np.array([edge not in turned for edge in zip(rows["parent"], rows["child"], strict=True)], bool)
    _draw(final, found, choice, told, kept)
    edges, constant = list(zip(rows["parent"], rows["child"], strict=True)), _constant_columns(bank, choice)
    for kind in ("folds", "bootstrap"):
        rows[kind] = _shares(edges, _of_kind(kept.drawn, kind, choice), _of_kind(constant, kind, choice))
    for column in ("parent", "child"):
        rows[column] = [names[node] for node in rows[column]]
    if moved is not None:
        moved["node"] = [names[node] for node in moved["node"]]
    pairs = sum(map(len, scores.candidates)) // 2
    return Refined(
        [names[node] for node in found.order], rows[list(EDGE_COLUMNS)], _history(kept), best["start"], found.score,
        pairs, sum(kept.made.values()), moved, _ends(kept), _notes(table, rows, constant, choice),
    )  # fmt: skip


def _history(kept: Memory) -> pd.DataFrame:
    """start, sweep, score of every search."""
    rows = [(one["start"], sweep, score) for one in kept.starts for sweep, score in enumerate(one["sweeps"], start=1)]
    return pd.DataFrame(rows, columns=["start", "sweep", "score"])


def _ends(kept: Memory) -> pd.DataFrame:
    """start, position, node: where every search ended."""
    rows = [
        (one["start"], position, node) for one in kept.starts for position, node in enumerate(one["order"], start=1)
    ]
    return pd.DataFrame(rows, columns=["start", "position", "node"])


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


def _draw(scores: Scores, found: Found, choice: Choice, told: Told, kept: Memory) -> None:
    """The edges of short searches on other rows, into what is kept."""
    drawn = dict(_weights(scores.bank.rows, choice))
    missing = [name for name in drawn if name not in kept.drawn]
    for at in range(0, len(missing), _SIDE_BY_SIDE):
        part = missing[at : at + _SIDE_BY_SIDE]
        done = len(drawn) - len(missing) + at
        told.step("bootstrap", done, len(drawn), message=f"bootstrap: table {done + 1} of {len(drawn)}")
        for name, (edges, made) in zip(part, _again(scores, found, [drawn[name] for name in part]), strict=True):
            kept.drawn[name], kept.made[name] = edges, made
        kept.write()


def _of_kind(drawn: dict, kind: str, choice: Choice) -> list:
    """What belongs to the folds, or to the bootstrap tables, that are asked for."""
    return [drawn[f"{kind} {number}"] for number in range(getattr(choice, kind))]


def _constant_columns(bank: Bank, choice: Choice) -> dict[str, list[int]]:
    """The columns without a second value on the rows of a draw, by its name."""
    ranks, found = bank.ranks.T.cpu().numpy(), {}
    for name, weights in _weights(bank.rows, choice):
        seen = ranks[:, weights > 0]
        found[name] = np.flatnonzero(seen.min(1) == seen.max(1)).tolist()
    return found


def _shares(edges: list[tuple[int, int]], drawn: list[list], constant: list[list[int]]) -> list[float]:
    """The share of the draws with an edge, of those in which both its columns vary; NaN where there is none."""
    times = Counter(tuple(edge) for one in drawn for edge in one)
    told = [len(drawn) - sum(parent in one or child in one for one in constant) for parent, child in edges]
    return [times[edge] / count if count else np.nan for edge, count in zip(edges, told, strict=True)]


def _notes(
    table: pd.DataFrame, rows: pd.DataFrame, constant: dict[str, list[int]], choice: Choice
) -> tuple[str, ...]:
    """What is not available, and what columns determine one another, in sentences."""
    notes, names = [relation.sentence for relation in relations(table)], list(table.columns)
    for kind, words in (("folds", "of {count} parts of the rows"), ("bootstrap", "of {count} bootstrap tables")):
        times = Counter(node for one in _of_kind(constant, kind, choice) for node in one)
        for node, count in sorted(times.items()):
            total = words.format(count=getattr(choice, kind))
            notes.append(
                f'"{names[node]}" has one value alone in {count} {total}; these say nothing of its edges, whose shares '
                "are those of the others."
            )
    for row in rows[rows["gain_nats"].isna()].itertuples():
        notes.append(f'The evidence on the edge from "{row.parent}" to "{row.child}" is not available: a fit it needs '
                     "has no finite likelihood.")  # fmt: skip
    return tuple(notes)


def _weights(rows: int, choice: Choice) -> Iterator[tuple[str, np.ndarray]]:
    """The weights of the rows when each fold is left out, then in each bootstrap table."""
    fold = fold_of_rows(rows, choice.folds, choice.seed) if choice.folds else None
    for number in range(choice.folds):
        yield f"folds {number}", (fold != number).astype(float)
    for number in range(choice.bootstrap):
        drawn = np.random.default_rng([choice.seed, 13, number]).integers(0, rows, rows)
        yield f"bootstrap {number}", np.bincount(drawn, minlength=rows).astype(float)


def _again(
    scores: Scores, found: Found, weights: Sequence[np.ndarray]
) -> Iterator[tuple[list[list[int]], int]]:
    """The edges of short searches on weighted rows, from the order found, and how many fits each took."""
    tasks = []
    for one in weights:
        weighted = torch.as_tensor(one).to(scores.bank.value)
        other = scores.but(weights=weighted, warm=scores, tolerance=SEARCHING)
        tasks.append((other, search(other, found.order, found.parents, most_sweeps=_BOOTSTRAP_SWEEPS)))
    for (other, _), again in zip(tasks, resolve(tasks), strict=True):
        yield [[parent, child] for child, nodes in enumerate(again.parents) for parent in nodes], other.made
