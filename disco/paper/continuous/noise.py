"""Gaussian noise in steps, as in DiffAN (Sanchez et al., 2023; Ho, Jain and Abbeel, 2020).

    x_t = √ᾱ_t x + √(1 − ᾱ_t) ε,   ᾱ_t = Π_{i ≤ 100 t} (1 − β_i),   t = 0, 0.01, …, 0.99,

with β increasing linearly from 10⁻⁴ to 0.02. Between two steps log ᾱ is interpolated, so that t may be any number in
this range. The standard deviation √(1 − ᾱ_t) of the noise increases from 0.01 to 0.80.
"""

from collections.abc import Callable

import torch
from torch import Tensor

STEPS = 100
LAST = (STEPS - 1) / STEPS  # the largest t
Times = Callable[[int, torch.Generator], Tensor]  # draws t for some rows, (rows,)

_LOG_KEPT = torch.linspace(1e-4, 0.02, STEPS, dtype=torch.float64).neg().log1p().cumsum(0)
_LEAST, _MOST = 0.05, 0.8  # standard deviations of the noise in a mixture


def log_kept(t: Tensor) -> Tensor:
    """log ᾱ_t, in the shape and type of t."""
    step = (t.double() * STEPS).clamp(0, STEPS - 1)
    below = step.floor().long().clamp(max=STEPS - 2)
    table = _LOG_KEPT.to(t.device)
    return torch.lerp(table[below], table[below + 1], step - below).to(t.dtype)


def deviation(t: Tensor) -> Tensor:
    """The standard deviation of the noise, √(1 − ᾱ_t), in the shape and type of t."""
    return (-torch.expm1(log_kept(t))).sqrt()


def time_of(deviations: Tensor) -> Tensor:
    """t at which the noise has these standard deviations; beyond the range, the nearest t."""
    log_signal = torch.log1p(-deviations.double().square())
    table = _LOG_KEPT.to(log_signal.device).flip(0)  # rising
    above = torch.searchsorted(table, log_signal).clamp(1, STEPS - 1)
    share = (log_signal - table[above - 1]) / (table[above] - table[above - 1])
    return ((STEPS - above - share.clamp(0, 1)) / STEPS).to(deviations.dtype)


def corrupted(values: Tensor, noise: Tensor, t: Tensor) -> Tensor:
    """x_t of rows x, noise ε and times t: (rows, nodes), (rows, nodes), (rows,) → (rows, nodes)."""
    log_signal = log_kept(t)[:, None]
    return (log_signal / 2).exp() * values + (-torch.expm1(log_signal)).sqrt() * noise


def uniform(low: float, high: float) -> Times:
    """Uniform t on a range."""
    return lambda rows, generator: low + (high - low) * torch.rand(rows, generator=generator)


def mixture(rows: int, generator: torch.Generator) -> Tensor:
    """Half of t uniform on (0, 0.5), half with log-uniform standard deviations of the noise on [0.05, 0.8].

    The paper's noise levels for Gamma data (*Continuous-Data Ordering Recovery*).
    """
    drawn = torch.rand(rows, generator=generator)
    half = torch.rand(rows, generator=generator) < 0.5
    return torch.where(half, drawn / 2, time_of(_LEAST * (_MOST / _LEAST) ** drawn))
