"""Penalised maximum likelihood of many nodes given parents at once, by Newton's method with safe steps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from disco.likelihood.batch import BatchDesign, Derivatives, Problems
from disco.likelihood.compiled import CAP, LEAST_SHARE, ROUNDING, Ended, newton
from disco.likelihood.design import WIDTH, Design
from disco.likelihood.evaluate import tabulated
from disco.likelihood.small import solve

_STEPS = 250
_MOMENTS = tuple(Derivatives.__dataclass_fields__)
Evaluate = Callable[[BatchDesign, Tensor], Derivatives]


@dataclass(frozen=True)
class Fits:
    """Fitted problems.

    Attributes:
        theta: intercept, base measure (q), bend, then WIDTH numbers per block of the rows' own columns and per parent,
            (B, 2 + q + WIDTH · (m + k)); padding 0.
        log_likelihood: at θ, to within a fraction of `tolerance`, (B,).
        evidence: the log marginal likelihood by Laplace's approximation, with flat priors on intercept and base
            measure, (B,): log-likelihood − penalty − ½ log det information + ½ Σ log precision of the other
            coefficients.
        moments: at the last evaluation, one step before θ, or at θ if the last step was not taken.
        penalty: precisions of the prior on θ, (B, P); lower bounds on the pivots of the information.
        converged: (B,).
    """

    theta: Tensor
    log_likelihood: Tensor
    evidence: Tensor
    moments: Derivatives
    penalty: Tensor
    converged: Tensor


def fit(
    design: Design,
    problems: Problems,
    start: Tensor | None = None,
    *,
    weights: Tensor | None = None,
    tolerance: float = 1e-3,
    evaluate: Evaluate | None = None,
) -> Fits:
    """Fit every problem of a batch.

    Args:
        design: the table.
        problems: B nodes with parents.
        start: initial θ, (B, P); by default `marginal_start`.
        weights: row weights, (n,), or for each problem, (B, n): bootstrap counts, or 0 for a row left out.
        tolerance: Newton's method stops when the next step predicts a smaller gain, in nats.
        evaluate: `exact` or `tabulated`, for the array form of the steps; by default `tabulated`, compiled on a CPU.
    """
    theta = marginal_start(design, problems) if start is None else start
    return fit_batch(BatchDesign(design, problems, weights), theta, tolerance, evaluate)


def fit_batch(batch: BatchDesign, theta: Tensor, tolerance: float, evaluate: Evaluate | None = None) -> Fits:
    """Fit every problem of a batch from θ; the arguments are those of `fit`."""
    if evaluate is None and theta.device.type == "cpu":
        return _finished(batch, tolerance, newton(batch, theta, tolerance, _STEPS))
    return _finished(batch, tolerance, _newton(batch, theta, tolerance, evaluate or tabulated))


def _newton(design: BatchDesign, theta: Tensor, tolerance: float, evaluate: Evaluate) -> Ended:
    """`compiled.newton` for all problems at once, with the expected information only."""
    current = evaluate(design, theta)
    step, predicted, log_determinant = _step(design, current)
    share, index, ended = torch.ones_like(predicted), torch.arange(len(theta), device=theta.device), []
    for _ in range(_STEPS):
        going = predicted >= tolerance
        if not bool(going.any()):
            break
        if 2 * int(going.sum()) <= len(going):  # drop finished problems once they are half of all
            done, left = (which.nonzero().squeeze(1) for which in (~going, going))
            state = (index, theta, step, predicted, log_determinant, current)
            ended.append(_at(done, *state))
            design, share, going = design.take(left), share[left], going[left]
            index, theta, step, predicted, log_determinant, current = _at(left, *state)
        tried = theta + share[:, None] * step
        ahead = evaluate(design, tried)
        before, after = current.log_likelihood - design.prior(theta), ahead.log_likelihood - design.prior(tried)
        rise, lost = share * (current.gradient * step).sum(1), ROUNDING * (1 + before.abs())
        better = (after >= before + LEAST_SHARE * rise - torch.where(rise > lost, lost, 10 * lost)) | ~going
        theta = torch.where(better[:, None], tried, theta)
        current = _choose(better, ahead, current)
        step, predicted, log_determinant = _step(design, current)
        share = torch.where(better, 1.0, share / 2)
    ended.append((index, theta, step, predicted, log_determinant, current))
    return _joined(ended)


def _at(kept: Tensor, *parts: Any) -> tuple:
    """Tensors and moments of some problems, by number; problems are the first dimension."""
    return tuple(
        Derivatives(*(getattr(part, name).index_select(0, kept) for name in _MOMENTS))
        if isinstance(part, Derivatives)
        else part.index_select(0, kept)
        for part in parts
    )


def _joined(parts: list[tuple]) -> Ended:
    """Combine problems that ended at different steps, in their original order."""
    if len(parts) == 1:
        return Ended(*parts[0][1:])
    order = torch.cat([part[0] for part in parts]).argsort()
    moments = Derivatives(*(torch.cat([getattr(part[-1], name) for part in parts]) for name in _MOMENTS))
    return Ended(*_at(order, *(torch.cat(column) for column in list(zip(*parts, strict=True))[1:-1]), moments))


def _finished(design: BatchDesign, tolerance: float, ended: Ended) -> Fits:
    """The fits at their last step."""
    theta, step, predicted, log_determinant, current = ended
    done = predicted < tolerance
    end = theta + torch.where(done[:, None], step, 0.0)
    reached = current.log_likelihood - design.prior(theta) + torch.where(done, predicted, 0.0)
    own = 1 + design.measure_width
    occam = design.penalty[:, own:].log().sum(1) - log_determinant
    return Fits(end, reached + design.prior(end), reached + occam / 2, current, design.penalty, done)


def _choose(better: Tensor, ahead: Derivatives, current: Derivatives) -> Derivatives:
    """The new moments of improved problems, and the old moments of the others."""
    if bool(better.all()):
        return ahead
    kept = {}
    for name in _MOMENTS:
        new, old = getattr(ahead, name), getattr(current, name)
        kept[name] = torch.where(better.reshape(-1, *[1] * (new.ndim - 1)), new, old)
    return Derivatives(**kept)


def _step(design: BatchDesign, moments: Derivatives) -> tuple[Tensor, Tensor, Tensor]:
    """Newton's capped step, its predicted gain in log-likelihood, and log det of the information."""
    step, log_determinant = solve(moments.information, design.penalty, moments.gradient)
    predicted = (moments.gradient * step).sum(1) / 2
    change = (design.index(step) + design.beside(step) + step[:, :1].to(design.x)).abs().amax(1).double()
    largest = torch.maximum(change, CAP * step[:, design.head - 1].abs())
    return step * (CAP / largest.clamp_min(CAP))[:, None], predicted, log_determinant


def marginal_start(design: Design, problems: Problems) -> Tensor:
    """θ without effects of the parents, and with a base measure close to the marginal distribution's shape, (B, P)."""
    node, exists = problems.node, design.exists[problems.node]
    value, measure = design.value[node], design.measure[node]
    share = (design.counts[node] + 0.5) * exists
    log_share = torch.where(exists, share.log(), 0.0)
    basis = torch.cat([torch.ones_like(value)[..., None], value[..., None], measure], -1)
    weighted = basis * share[..., None]
    gram = weighted.mT @ basis
    gram = gram + torch.diag_embed(1e-6 * gram.diagonal(dim1=1, dim2=2) + 1e-9)
    solved, _ = solve(gram, torch.zeros_like(gram[..., 0]), (weighted.mT @ log_share[..., None]).squeeze(-1))
    if design.offset is not None:
        solved[:, 1] -= design.offset.mean() / value[:, 1]
    effects = solved.new_zeros((len(node), 1 + WIDTH * (design.own + problems.parents.shape[1])))
    return torch.cat([solved[:, 1:], effects], 1)
