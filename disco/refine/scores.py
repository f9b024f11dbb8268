"""Scores of a node given the nodes it may have as parents, each fit made once.

score(S) = log marginal likelihood − |S| log d: Laplace's approximation (`Fits.evidence`) under a normal prior that
expects a parent's effect to be nearly linear in its level, and prior odds of 1 to d on every possible parent. BIC,
which prices every column of a parent at ½ log n, lets a wrong direction with fewer parents win where effects are weak
(benchmarks/LOG.md).

The parents of a node among allowed candidates are found from those it had: the candidate whose Rao statistic promises
most comes in, the parent whose Wald statistic says that it is not worth its price goes out, each confirmed by a fit,
until nothing changes. Fits are kept by (node, parents), results by (node, allowed candidates).
"""

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from disco.errors import FitStopped
from disco.likelihood.bank import WIDTH, Bank
from disco.likelihood.newton import Fits, Problems, fit, marginal_start
from disco.likelihood.steps import Additions, Removals, additions, removals

PRECISION = (1.0, 300.0)  # of the prior on a parent's linear column and on the others, in nats
_TOLERANCE = 0.005  # nats that the last Newton step, which is still taken, promises at most
_DOUBT = 3.0  # nats: a parent is tried without where its Wald statistic promises to lose no more
_BATCH_CELLS = 4_000_000  # columns × rows of a batch of fits
_MOST = 24  # parents at most: beyond it a node's fit costs more than it can tell

Parents = tuple[int, ...]
Allowed = int  # a set of candidates as bits, by their place in the node's list


@dataclass(frozen=True)
class Fitted:
    """One fit, and what one parent more or less promises.

    Attributes:
        parents: ascending node numbers.
        log_likelihood, score: nats.
        theta: coefficients, (1 + q + WIDTH · k,).
        gain: score promised by each candidate of the node's list, (c,); −∞ where it is a parent already.
        loss: score promised to be lost with each parent, (k,); negative where it is better without.
        add: the step to start from with a candidate, its own coefficients first, (c, WIDTH + P).
        drop: the step to start from without a parent, (k, P).
    """

    parents: Parents
    log_likelihood: float
    score: float
    theta: np.ndarray
    gain: np.ndarray
    loss: np.ndarray
    add: np.ndarray
    drop: np.ndarray


Wanted = tuple[int, Parents]
Walk = Generator[Wanted, Fitted, "Fitted"]


class Scores:
    """The scores of a table.

    Args:
        bank: the table.
        candidates: of every node, ascending node numbers; symmetric, so that an edge may be turned.
        weights: of the rows, (n,), or None.
        warm: scores of the same table and candidates with other weights, whose fits are good starts.
        goes_on: asked before every batch of fits; False raises FitStopped.
    """

    def __init__(
        self,
        bank: Bank,
        candidates: Sequence[Sequence[int]],
        *,
        weights: torch.Tensor | None = None,
        warm: "Scores | None" = None,
        goes_on: Callable[[], bool] = lambda: True,
    ) -> None:
        self.bank, self.weights, self.warm, self.goes_on = bank, weights, warm, goes_on
        self.candidates = [tuple(nodes) for nodes in candidates]
        self.place = [{node: place for place, node in enumerate(nodes)} for nodes in self.candidates]
        self.price = math.log(bank.nodes)
        self.fits: list[dict[Parents, Fitted]] = [{} for _ in self.candidates]
        self.found: list[dict[Allowed, Fitted]] = [{} for _ in self.candidates]

    def allowed(self, node: int, before: Iterable[int]) -> Allowed:
        """The node's candidates among some nodes."""
        place = self.place[node]
        return sum(1 << place[other] for other in before if other in place)

    def walk(self, node: int, allowed: Allowed, parents: Parents) -> Walk:
        """Find a node's parents among the allowed ones, from some parents on; yields the fits it needs."""
        found = self.found[node].get(allowed)
        if found is not None:
            return found
        place = self.place[node]
        start = tuple(parent for parent in parents if allowed >> place[parent] & 1)
        now = yield from self._get(node, start)
        open_ = np.array([allowed >> number & 1 for number in range(len(self.candidates[node]))], dtype=bool)
        while True:
            better = yield from self._one_more(node, now, open_)
            if better is None:
                better = yield from self._one_less(node, now)
            if better is None:
                break
            now = better
        self.found[node][allowed] = now
        return now

    def _get(self, node: int, parents: Parents) -> Walk:
        return self.fits[node].get(parents) or (yield node, parents)

    def _one_more(self, node: int, now: Fitted, open_: np.ndarray) -> Generator[Wanted, Fitted, Fitted | None]:
        if len(now.parents) >= _MOST:
            return None
        promised = np.where(open_, now.gain, -np.inf)
        while len(promised) and promised.max() > 0:
            best = int(promised.argmax())
            with_it = tuple(sorted((*now.parents, self.candidates[node][best])))
            better = yield from self._get(node, with_it)
            if better.score > now.score:
                return better
            promised[best] = -np.inf
        return None

    def _one_less(self, node: int, now: Fitted) -> Generator[Wanted, Fitted, Fitted | None]:
        for number in np.argsort(now.loss, kind="stable"):
            parent = now.parents[number]
            if now.loss[number] > _DOUBT:
                return None
            without = yield from self._get(node, tuple(other for other in now.parents if other != parent))
            if without.score > now.score:
                return without
        return None

    @property
    def made(self) -> int:
        """How many fits have been made."""
        return sum(map(len, self.fits))

    def start_of(self, node: int, parents: Parents) -> np.ndarray | None:
        """Where a fit begins: a step from a fit with one parent less or more, if there is one."""
        if self.warm is not None and parents in self.warm.fits[node]:
            return self.warm.fits[node][parents].theta
        size = 1 + self.bank.carrier.shape[-1]
        for number, parent in enumerate(parents):
            less = self.fits[node].get(parents[:number] + parents[number + 1 :])
            if less is None or parent not in self.place[node]:
                continue
            step = less.add[self.place[node][parent]]
            theta = less.theta + step[WIDTH:]
            at = size + WIDTH * number
            return np.concatenate([theta[:at], step[:WIDTH], theta[at:]])
        known = set(parents)
        for more in reversed(self.fits[node].values()):
            if len(more.parents) == len(parents) + 1 and known.issubset(more.parents):
                number = next(i for i, parent in enumerate(more.parents) if parent not in known)
                theta = more.theta + more.drop[number]
                at = size + WIDTH * number
                return np.concatenate([theta[:at], theta[at + WIDTH :]])
        return None

    def resolve(self, walks: Sequence[Walk]) -> list[Fitted]:
        """Run walks side by side, their fits in batches."""
        results: list[Fitted | None] = [None] * len(walks)
        waiting: dict[int, Wanted] = {}
        for number, walk in enumerate(walks):
            self._advance(walk, None, number, results, waiting)
        while waiting:
            self.fit(dict.fromkeys(waiting.values()))
            for number, (node, parents) in list(waiting.items()):
                del waiting[number]
                self._advance(walks[number], self.fits[node][parents], number, results, waiting)
        return results

    @staticmethod
    def _advance(
        walk: Walk, answer: Fitted | None, number: int, results: list[Fitted | None], waiting: dict[int, Wanted]
    ) -> None:
        try:
            waiting[number] = walk.send(answer)
        except StopIteration as stop:
            results[number] = stop.value

    def fit(self, wanted: Iterable[Wanted]) -> None:
        """Make the fits that are missing, in batches of like size."""
        missing = sorted((key for key in wanted if key[1] not in self.fits[key[0]]), key=lambda key: (len(key[1]), key))
        at = 0
        while at < len(missing):
            if not self.goes_on():
                raise FitStopped("the refinement was stopped.")
            width = len(missing[at][1]) + 2
            size = max(1, _BATCH_CELLS // (WIDTH * width * self.bank.rows))
            part = [key for key in missing[at : at + size] if len(key[1]) <= width - 1]
            self._fit_batch(part)
            at += len(part)

    def _fit_batch(self, keys: Sequence[Wanted]) -> None:
        bank = self.bank
        problems = Problems.of(keys, bank.columns.device)
        begun = [self.start_of(*key) for key in keys]
        fresh = [number for number, start in enumerate(begun) if start is None]
        size = 1 + bank.carrier.shape[-1] + WIDTH * problems.parents.shape[1]
        theta = torch.zeros((len(keys), size), dtype=torch.float64)
        for number, start in enumerate(begun):
            if start is not None:
                theta[number, : len(start)] = torch.as_tensor(start)
        if fresh:
            part = Problems(problems.node[fresh], problems.parents[fresh])
            theta[fresh] = marginal_start(bank, part).cpu()
        fits = fit(bank, problems, theta.to(bank.value), weights=self.weights, tolerance=_TOLERANCE)
        lists = Problems.of([(node, self.candidates[node]) for node, _ in keys], bank.columns.device).parents
        more = additions(bank, problems, fits, lists)
        less = removals(bank, problems, fits)
        self._keep(keys, fits, more, less)

    def _keep(self, keys: Sequence[Wanted], fits: Fits, more: Additions, less: Removals) -> None:
        bank = self.bank
        theta, ll = fits.theta.cpu().numpy(), fits.log_likelihood.cpu().numpy()
        evidence = fits.evidence.cpu().numpy()
        gain, loss = more.evidence.cpu().numpy(), less.evidence.cpu().numpy()
        add = torch.cat([more.own, more.others], -1).float().cpu().numpy()
        drop = less.others.float().cpu().numpy()
        for number, (node, parents) in enumerate(keys):
            nodes, size = self.candidates[node], 1 + bank.carrier.shape[-1] + WIDTH * len(parents)
            worth = gain[number, : len(nodes)] - self.price
            worth[[self.place[node][parent] for parent in parents if parent in self.place[node]]] = -np.inf
            self.fits[node][parents] = Fitted(
                parents,
                float(ll[number]),
                float(evidence[number]) - self.price * len(parents),
                theta[number, :size].astype(np.float32),
                worth,
                loss[number, : len(parents)] - self.price,
                add[number, : len(nodes), : WIDTH + size],
                drop[number, : len(parents), :size],
            )
