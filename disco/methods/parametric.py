"""The refinement's search over orders, with a fixed family instead of its semiparametric one.

The local score is the BIC of a generalised linear model (`disco.methods.glm`) of a node on log(1 + x) of its
parents: the maximised log-likelihood less λ log n per coefficient, λ = ½. Screen, stepwise choice of parents and search
are those of `disco.refine`. Additive Bayesian networks (abn) and ZICO's zero-inflated models belong to this class. It
is a control: what does it cost not to assume a family, and what if the family is wrong?
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.linalg import cho_factor, cho_solve

from disco.fields import check, number, one_of, whole
from disco.found import Found
from disco.knowledge import Knowledge, Resolved
from disco.likelihood.design import Design
from disco.linear.near import near
from disco.methods.families import Counts, GLMFamily, assigned, features
from disco.methods.glm import Maximum, information, maximised
from disco.progress import SILENT, Callback, Reporter
from disco.refine.prior import BEFORE
from disco.refine.screen import screen
from disco.refine.search import Optimum, search
from disco.refine.starts import first_orders
from disco.refine.stepwise import Stepwise
from disco.refine.walks import Parents, Walk, Wanted
from disco.table.prepared import Table, prepare
from disco.table.ranks import dense_ranks

_WORDS = {
    "poisson": "Poisson with a log link",
    "nb": "negative binomial with a log link",
    "zinb": "zero-inflated negative binomial with a log link",
    "binomial": "binomial with a logit link",
}
_UNBOUNDED = 30.0  # standard error, per standard deviation of the parent, of an unbounded coefficient
_WIDER = 3  # largest number of times that the screen is widened


@dataclass(frozen=True)
class Options:
    """The family of all nodes, and the extent of the search."""

    family: str = one_of("poisson", _WORDS, help="Poisson, nb, zinb or binomial.")
    trials: int | None = whole(
        None, at_least=1, optional=True, help="M of the binomial; each column's largest count if None."
    )
    penalty: float = number(0.5, at_least=0, help="λ: a coefficient costs λ log n; ½ is the BIC.")
    starts: int = whole(4, at_least=1, help="Number of initial orders: sorted ones, then random ones.")
    restarts: int = whole(4, at_least=0, help="Number of searches from near the best order so far.")
    seed: int = whole(0, at_least=0, help="Seed of the random orders.")

    def __post_init__(self) -> None:
        check(self)


def find(
    table: Table, options: Options, *, knowledge: Knowledge | None = None, callback: Callback | None = None
) -> Found:
    """The order and DAG with the best score; an edge's score is its gain in nats, less its price.

    Raises:
        InputError: the table or the knowledge cannot be used, or a count exceeds `trials`.
    """
    reporter = Reporter(callback, {"screen": 0.1, "search": 0.9}, "The search was stopped.")
    counts = prepare(table).counts
    kinds = assigned(counts, options.family, math.nan, options.trials)
    names = list(counts.columns)
    rules = None if knowledge is None else knowledge.resolve(names)
    design = Design.of(dense_ranks(counts.to_numpy()), prior=BEFORE, names=names)
    reporter.step("screen", 0, len(names))
    candidates = screen(design, rules=rules, reporter=reporter)
    scores = FamilyScores(counts, kinds, candidates, options.penalty, rules, reporter)
    found = _searched(counts, scores, options)
    for _ in range(_WIDER):
        wider = scores.widened(found)
        if wider == scores.candidates:
            break
        scores = FamilyScores(counts, kinds, wider, options.penalty, rules, reporter)
        found = scores.run(search(scores, found.order, found.parents))
    return _result(names, scores, found)


@dataclass(frozen=True)
class FamilyFit:
    """The fit of a node to its parents; see `disco.refine.stepwise.Fit`."""

    parents: Parents
    score: float
    gain: np.ndarray
    loss: np.ndarray
    maximum: Maximum
    errors: np.ndarray  # standard errors of the parents' coefficients, (k,)


class FamilyScores(Stepwise[FamilyFit]):
    """The local scores of a table in a fixed family.

    Args:
        counts: the table.
        kinds: the family of every column.
        candidates, rules: as in `Stepwise`.
        penalty: λ.
        reporter: called before every fit.
    """

    def __init__(
        self,
        counts: pd.DataFrame,
        kinds: Sequence[GLMFamily],
        candidates: Sequence[Sequence[int]],
        penalty: float,
        rules: Resolved | None = None,
        reporter: Reporter = SILENT,
    ) -> None:
        super().__init__(candidates, rules)
        self.kinds, self.reporter = kinds, reporter
        self.price = penalty * np.log(len(counts))
        self.counts = [Counts(values) for values in counts.to_numpy().T]
        self.features = features(counts.to_numpy(dtype=float), "log1p")
        self.made = 0

    def run(self, walk: Walk[Optimum]) -> Optimum:
        """Run a search and make the fits that it requests."""
        while True:
            try:
                wanted = next(walk)
            except StopIteration as stop:
                return stop.value
            self.make(wanted)

    def make(self, wanted: Iterable[Wanted]) -> None:
        """Make the fits that are missing."""
        for node, parents in wanted:
            if parents not in self.fits[node]:
                self.reporter.check()
                self.fits[node][parents] = self._fit(node, parents)
                self.made += 1

    def _fit(self, node: int, parents: Parents) -> FamilyFit:
        design = np.column_stack([np.ones(len(self.features)), self.features[:, list(parents)]])
        found = maximised(self.kinds[node], self.counts[node], design, *self._start(node, parents))
        size = len(parents) + 1
        curvature = information(design, found.slopes)
        inverse = cho_solve(cho_factor(curvature, check_finite=False), np.eye(len(curvature)))
        variance = np.diag(inverse)[1:size]
        loss = found.theta[1:] ** 2 / variance / 2 - self.price
        score = found.slopes.value - self.price * (size + len(found.own))
        gain = self._gain(found, design, inverse, self.candidates[node])
        gain[[self.index[node][parent] for parent in parents if parent in self.index[node]]] = -np.inf
        return FamilyFit(parents, score, gain, loss, found, np.sqrt(variance))

    def _gain(self, found: Maximum, design: np.ndarray, inverse: np.ndarray, others: Sequence[int]) -> np.ndarray:
        """Rao's score statistic of each of some nodes as a further parent, in nats, less its price."""
        slopes, more = found.slopes, self.features[:, list(others)]
        weighted = more * slopes.weight[:, None]
        across = np.vstack([design.T @ weighted, slopes.cross @ more])
        full = (more * weighted).sum(0)
        left = full - (across * (inverse @ across)).sum(0)
        # A copy of a parent has no remaining variance, and far from the maximum a mixture may be convex.
        left = np.where(left > 1e-8 * np.abs(full), left, np.inf)
        return (slopes.first @ more) ** 2 / left / 2 - self.price

    def _start(self, node: int, parents: Parents) -> tuple[np.ndarray, np.ndarray]:
        """θ and ξ of the fit with one parent fewer, if there is one, or without parents."""
        for at in range(len(parents)):
            less = self.fits[node].get(parents[:at] + parents[at + 1 :])
            if less is not None:
                return np.insert(less.maximum.theta, at + 1, 0.0), less.maximum.own
        eta, own = self.kinds[node].begin(self.counts[node])
        return np.r_[eta, np.zeros(len(parents))], own

    def widened(self, found: Optimum) -> list[tuple[int, ...]]:
        """The candidates, plus the screened-out pairs that would raise the score of a graph."""
        sets, before = [set(nodes) for nodes in self.candidates], list[int]()
        for node in found.order:
            never = set() if self.rules is None else set(np.flatnonzero(self.rules.forbidden[:, node]).tolist())
            others = [other for other in before if other not in sets[node] and other not in never]
            parents = found.parents[node]
            self.make([(node, parents)])
            maximum = self.fits[node][parents].maximum
            design = np.column_stack([np.ones(len(self.features)), self.features[:, list(parents)]])
            gain = self._gain(maximum, design, np.linalg.inv(information(design, maximum.slopes)), others)
            for other in np.array(others, dtype=int)[gain > 0].tolist():
                sets[node].add(other)
                sets[other].add(node)
            before.append(node)
        return [tuple(sorted(nodes)) for nodes in sets]


def _searched(counts: pd.DataFrame, scores: FamilyScores, options: Options) -> Optimum:
    """The best of the searches from every start, then from orders near the best so far."""
    index = {name: node for node, name in enumerate(counts.columns)}
    starts = [[index[name] for name in order] for order in first_orders(counts, options.starts, options.seed).values()]
    best: Optimum | None = None
    total = len(starts) + options.restarts
    for done in range(total):
        scores.reporter.step("search", done, total, unit="search")
        order = starts[done] if best is None or done < len(starts) else near(best.order, done, options.seed)
        kept = order if scores.rules is None else scores.rules.sorted(order)
        found = scores.run(search(scores, kept, None if best is None else best.parents))
        best = found if best is None or found.score > best.score else best
    assert best is not None
    return best


def _result(names: list[str], scores: FamilyScores, found: Optimum) -> Found:
    """The result with names instead of numbers; an edge's score is the loss without it."""
    pairs = [(parent, child) for child, parents in enumerate(found.parents) for parent in parents]
    without = [(child, tuple(one for one in found.parents[child] if one != parent)) for parent, child in pairs]
    scores.make(without)
    fits = [scores.fits[child][found.parents[child]] for _, child in pairs]
    less = [scores.fits[child][parents] for child, parents in without]
    named = [(names[parent], names[child]) for parent, child in pairs]
    rows = [(*pair, fit.score - other.score) for pair, fit, other in zip(named, fits, less, strict=True)]
    notes = [f"Assumed: every column is {_WORDS[scores.kinds[0].name]}, additive in log(1 + x) of its parents."]
    for pair, fit in zip(pairs, fits, strict=True):
        if fit.errors[fit.parents.index(pair[0])] > _UNBOUNDED:
            parent, child = (names[node] for node in pair)
            notes.append(f'"{parent}" separates values of "{child}", so its coefficient is unbounded: doubt this edge.')
    frame = pd.DataFrame(rows, columns=["parent", "child", "score"]).astype({"score": float})
    return Found.of(names, named, order=[names[node] for node in found.order], scores=frame, notes=tuple(notes))
