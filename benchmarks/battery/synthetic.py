"""Synthetic tables that are hard for a method for counts, each drawn from a seed.

`KINDS` names them: columns determined by others, separation, rare levels, tables with too little information.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.random import Generator

Columns = dict[str, np.ndarray]


def synthetic(kind: str, seed: int, rows: int) -> pd.DataFrame:
    """The table of a kind and a seed; kinds with a fixed size ignore `rows`."""
    return pd.DataFrame(KINDS[kind](np.random.default_rng([seed, rows]), rows)).astype(np.int64)


def _plain(rng: Generator, rows: int) -> Columns:
    """Three Poisson counts: a → b, and c unconnected."""
    a = rng.poisson(2.0, rows)
    return {"a": a, "b": rng.poisson(0.5 + 0.8 * a), "c": rng.poisson(1.5, rows)}


def _with(make: Callable[[Generator, Columns], Columns]) -> Callable[[Generator, int], Columns]:
    """A kind that adds columns to three plain ones, or replaces them."""

    def kind(rng: Generator, rows: int) -> Columns:
        columns = _plain(rng, rows)
        return {**columns, **make(rng, columns)}

    return kind


def _separated(rng: Generator, columns: Columns) -> Columns:
    over = columns["a"] > 3
    return {"b": np.where(over, columns["a"], 0), "c": over * 1, "f": rng.poisson(2.0, len(over))}


def _one_hot(rng: Generator, columns: Columns) -> Columns:
    group = rng.integers(0, 4, len(columns["a"]))
    return {f"group{number}": (group == number) * 1 for number in range(4)}


def _rare_levels(rng: Generator, columns: Columns) -> Columns:
    counts = columns["a"].copy()
    counts[:4] = 50, 90, 200, 1000
    return {"a": counts, "rare": (np.arange(len(counts)) == 5) * 1}


def _zeros(share: float) -> Callable[[Generator, int], Columns]:
    def kind(rng: Generator, rows: int) -> Columns:
        columns = {name: rng.poisson(3.0, rows) * (rng.random(rows) > share) for name in "abcd"}
        for at, column in enumerate(columns.values()):  # none is constant
            column[at], column[at + 4] = 0, 1
        return columns

    return kind


def _huge(rng: Generator, rows: int) -> Columns:
    a = rng.integers(0, 10**9, rows)
    return {"a": a, "b": a // 3 + rng.integers(0, 10**6, rows), "c": rng.poisson(2.0, rows), "d": a % 7}


def _unique(rng: Generator, rows: int) -> Columns:
    """Sums of money, nearly all different, beside two counts."""
    income = rng.integers(0, 10**6, rows)
    return {
        "income": income,
        "tax": income // 5 + rng.integers(0, 1000, rows),
        "children": rng.poisson(1.5, rows),
        "age": rng.integers(18, 90, rows),
    }


def _wide(rng: Generator, rows: int) -> Columns:
    columns = {f"x{number + 1}": rng.poisson(2.0, 15) for number in range(9)}
    columns["x2"] = rng.poisson(0.5 + columns["x1"])
    return columns


def _binary(rng: Generator, rows: int) -> Columns:
    a, b = rng.integers(0, 2, rows), rng.integers(0, 2, rows)
    columns = {"a": a, "b": b, "both": a & b, "either": a | b, "noisy": a ^ (rng.random(rows) < 0.1)}
    for column in columns.values():
        column[:2] = 0, 1
    return columns


def _sorted(rng: Generator, rows: int) -> Columns:
    return {name: np.sort(column) for name, column in _plain(rng, rows).items()}


def _repeated(rng: Generator, rows: int) -> Columns:
    few = _plain(rng, 6)
    few["a"][:2], few["b"][:2], few["c"][:2] = (0, 1), (1, 0), (0, 2)
    return {name: np.tile(column, rows // 6) for name, column in few.items()}


def _random(rng: Generator, rows: int) -> Columns:
    """Independent columns of very different sizes and shapes."""
    return {
        "few": rng.integers(0, 3, rows),
        "geometric": rng.geometric(0.2, rows),
        "heavy": rng.zipf(1.6, rows) % 10**6,
        "binomial": rng.binomial(12, 0.4, rows),
        "far": 10**9 + rng.poisson(3.0, rows),
    }


KINDS: dict[str, Callable[[Generator, int], Columns]] = {
    "collinear": _with(lambda rng, c: {"d": 2 * c["a"] + c["c"], "e": c["a"] + 3 * c["c"]}),
    "copied": _with(lambda rng, c: {"copy": c["a"]}),
    "complementary": _with(lambda rng, c: {"rest": c["a"].max() - c["a"], "odd": c["b"] % 2, "even": 1 - c["b"] % 2}),
    "monotone copies": _with(lambda rng, c: {"cube": c["a"] ** 3, "ladder": c["a"] * 10 + 7, "steps": c["a"] // 2}),
    "double": _with(lambda rng, c: {"y": 2 * c["a"]}),
    "square": _with(lambda rng, c: {"y": c["a"] ** 2}),
    "max and min": _with(lambda rng, c: {"top": np.maximum(c["a"], c["c"]), "low": np.minimum(c["a"], c["c"])}),
    "sum": _with(lambda rng, c: {"total": c["a"] + c["b"] + c["c"]}),
    "product": _with(lambda rng, c: {"area": c["a"] * c["c"]}),
    "parity": _with(lambda rng, c: {"parity": (c["a"] + c["c"]) % 2}),
    "one-hot": _with(_one_hot),
    "separation": _with(_separated),
    "levels that occur once": _with(_rare_levels),
    "constant within a fold": lambda rng, rows: {"k": (np.arange(rows) == 0) * 1, "a": np.arange(rows) % 3},
    "95 % zeros": _zeros(0.95),
    "99 % zeros": _zeros(0.99),
    "counts to 10⁹": _huge,
    "one level per row": _unique,
    "binary": _binary,
    "sorted rows": _sorted,
    "repeated rows": _repeated,
    "twelve rows": lambda rng, rows: _plain(rng, 12),
    "two columns": lambda rng, rows: {name: _plain(rng, rows)[name] for name in "ab"},
    "two copies": lambda rng, rows: {"a": np.arange(rows) % 2, "b": np.arange(rows) % 2},
    "more columns than half the rows": _wide,
    "of every size": _random,
}
