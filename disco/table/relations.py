"""Find columns that others determine exactly (copies, complements, multiples, sums), near copies, and codes.

An edge between such columns is arithmetic rather than causal, and its direction cannot be known. There are four steps:

1. Columns with the same ranks, or with reversed ranks, are the same column to the method.
2. A column that is the sum of all others is half of the row total, however few the rows are.
3. Among the others, a QR decomposition of some rows shows which column lies in the span of earlier ones. The
   coefficients are rounded to small whole numbers.
4. The relation must then hold exactly in every row of the table.

0/1 columns that exclude each other are codes of one question. Two independent columns with a and b ones in n rows are
never 1 in one row with probability (n − a)! (n − b)! / (n! (n − a − b)!).
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy.linalg import solve_triangular
from scipy.special import chdtr, gammaln

from disco.progress import SILENT, Reporter
from disco.table.cells import dense_ranks
from disco.table.finding import Finding
from disco.table.prepared import Table, prepare
from disco.words import how_many, series

_NOTHING = 1e-8  # a residual below this share of a column's spread counts as zero
_LARGEST = 100  # largest coefficient of a relation
_DIVISORS = range(1, 13)  # possible denominators of coefficients
_ROWS_A_COLUMN = 4  # rows per column in the decomposition
_NAMED = 6  # largest number of columns named in a sentence
_SPARE = 12  # rows beyond the columns of a plain sum; other weights need twice as many rows as columns
_LEAST_TOTALS = 8  # rows with a total above 0


def relations(table: Table) -> list[Finding]:
    """The exact relations among columns of counts: in each, the others of `columns` determine the first of them."""
    counts = prepare(table, folds=None).counts
    names, values = list(counts.columns), counts.to_numpy()
    pairs, distinct = [], []
    twins = _twins(values)
    for column in range(len(names)):
        if column in twins:
            pairs.append(_pair(names, values, twins[column], column))
        else:
            distinct.append(column)
    sums = [] if (of_all := sum_of_others(values)) is None else [(of_all, 0)]
    distinct = [column for column in distinct if not sums or column != next(iter(sums[0][0]))]
    return [*pairs, *(_linear(names, *relation) for relation in (*sums, *_dependent(values, distinct)))]


def sum_of_others(values: np.ndarray) -> dict[int, int] | None:
    """The first column that is the sum of all others but its copies, and these others, as column → weight; or None."""
    totals, sums = values.sum(axis=1), values.sum(axis=0)
    if (totals > 0).sum() < _LEAST_TOTALS:
        return None
    times = sums.sum() // np.maximum(sums, 1)
    for column in np.flatnonzero((sums > 0) & (times > 1) & (times * sums == sums.sum())).tolist():
        if (values[:, column] * times[column] == totals).all():
            copies = (values == values[:, [column]]).all(axis=0)
            summands = np.flatnonzero(~copies & (sums > 0)).tolist()
            if times[column] == copies.sum() + 1 and len(summands) > 1:
                return {column: 1} | dict.fromkeys(summands, -1)
    return None


def _relation(columns: tuple[str, ...], message: str) -> Finding:
    return Finding("relation", message, columns=columns)


def _twins(values: np.ndarray) -> dict[int, int]:
    """The columns with the same or reversed ranks as an earlier column: column → earlier column."""
    seen: dict[bytes, int] = {}
    twins = {}
    for column, ranks in enumerate(dense_ranks(values).T):
        keys = ranks.astype("<i4").tobytes(), (ranks.max() - ranks).astype("<i4").tobytes()
        earlier = [seen[key] for key in keys if key in seen]
        if earlier:
            twins[column] = earlier[0]
        else:
            seen[keys[0]] = column
    return twins


def _pair(names: Sequence[str], values: np.ndarray, first: int, second: int) -> Finding:
    x, y = values[:, first], values[:, second]
    a, b = f'"{names[first]}"', f'"{names[second]}"'
    for big, small, of, from_ in ((y, x, b, a), (x, y, a, b)):
        times = int(big.max()) // max(int(small.max()), 1)
        if times and np.array_equal(big, small * times):
            words = f"{of} is a copy of {from_}." if times == 1 else f"{of} is {times} times {from_}."
            return _relation((names[second], names[first]), words)
    total = x + y
    if (total == total[0]).all():
        return _relation((names[second], names[first]), f"{a} and {b} add up to {total[0]} in every row.")
    words = "rises" if (np.argsort(x, kind="stable") == np.argsort(y, kind="stable")).all() else "falls"
    return _relation((names[second], names[first]), f"{b} {words} with {a} one to one: their ranks are equivalent.")


def _dependent(values: np.ndarray, candidates: Sequence[int]) -> Iterator[tuple[dict[int, int], int]]:
    """The relations Σ weight · column = constant, as (column → weight, constant)."""
    rows = np.random.default_rng(0).permutation(len(values))[: _ROWS_A_COLUMN * len(candidates) + 64]
    sample = values[np.ix_(rows, np.asarray(candidates))].astype(float)
    sample -= sample.mean(axis=0)
    scale = np.sqrt((sample**2).sum(axis=0))
    within = [index for index in range(len(candidates)) if scale[index] > 0]
    # The types of NumPy do not know that this mode gives one array.
    triangle: np.ndarray = np.linalg.qr(sample[:, within] / scale[within], mode="r")  # type: ignore[assignment]
    free: list[int] = []  # what the others are combinations of, in the rows of the sample
    for at, index in enumerate(within[: len(triangle)]):  # n rows span at most n columns
        if abs(triangle[at, at]) > _NOTHING:
            free.append(at)
            continue
        square = triangle[np.ix_(free, free)] if free else np.empty((0, 0))
        slopes = solve_triangular(square, triangle[free, at]) if free else np.empty(0)
        columns = [candidates[within[earlier]] for earlier in free]
        slopes = slopes * scale[index] / scale[[within[earlier] for earlier in free]]
        weights = _integer_weights(dict(zip(columns, slopes, strict=True)), candidates[index])
        if weights is None:
            continue
        is_plain = {*map(abs, weights.values())} == {1}
        if len(values) >= min(2 * len(weights) + 2, len(weights) + _SPARE if is_plain else np.inf):
            sums = values[:, list(weights)].astype(np.int64) @ np.array(list(weights.values()))
            if (sums == sums[0]).all():
                yield weights, int(sums[0])


def _integer_weights(slopes: dict[int, float], column: int) -> dict[int, int] | None:
    """The relation of a column to others, with its slopes on them, in whole weights; None if these are not small."""
    for divisor in _DIVISORS:
        scaled = {predictor: -slope * divisor for predictor, slope in slopes.items()}
        rounded = {predictor: round(value) for predictor, value in scaled.items()}
        if all(abs(scaled[predictor] - rounded[predictor]) < 1e-5 for predictor in scaled):
            weights = {column: divisor} | {predictor: value for predictor, value in rounded.items() if value}
            return weights if len(weights) > 1 and max(map(abs, weights.values())) <= _LARGEST else None
    return None


def _linear(names: Sequence[str], weights: dict[int, int], constant: int) -> Finding:
    """A relation in words; if one side of the equation is a single column, it comes first."""
    if sum(weight > 0 for weight in weights.values()) > len(weights) / 2:
        weights, constant = {column: -weight for column, weight in weights.items()}, -constant
    positive = {column: weight for column, weight in sorted(weights.items()) if weight > 0}
    negative = {column: -weight for column, weight in sorted(weights.items()) if weight < 0}
    columns = tuple(names[column] for column in (*positive, *negative))
    are_one = {*positive.values(), *negative.values()} == {1}
    if not positive and are_one:
        return _relation(columns, f"{_listed(columns)} add up to {-constant} in every row.")
    if len(positive) == 1 and are_one and not constant:
        summands = _listed(columns[1:]) if len(columns) <= _NAMED + 1 else how_many(len(columns) - 1, "column")
        return _relation(columns, f'"{columns[0]}" is the sum of {summands}.')
    sides = [_terms(names, positive), _terms(names, negative)]
    if constant:
        sides[constant > 0].append(str(abs(constant)))
    return _relation(columns, f"{' + '.join(sides[0]) or '0'} = {' + '.join(sides[1]) or '0'} in every row.")


def _terms(names: Sequence[str], weights: dict[int, int]) -> list[str]:
    return [f'{weight} × "{names[column]}"'.removeprefix("1 × ") for column, weight in weights.items()]


def _listed(names: Sequence[str]) -> str:
    words = [f'"{name}"' for name in names]
    if len(words) > _NAMED:
        words = [*words[: _NAMED - 1], f"{len(words) - _NAMED + 1} more"]
    return series(words)


_LEVEL, _MOST_COMPARED = 0.001, 500  # of the tests of all pairs together; columns


def portions(values: np.ndarray) -> list[tuple[int, int]]:
    """The pairs (part, total) of columns of counts, (rows, columns), of which one looks like a part of the other.

    It is never larger, and varies around its share p of the total less than any Poisson count would, as a part of
    that size does (its variance is p (1 − p) · total): Σ (part − p · total)² / (p · total) is far below χ² of n − 1.
    """
    pairs = list[tuple[int, int]]()
    rows, columns = values.shape
    for total in range(columns if 1 < columns <= _MOST_COMPARED and rows > _LEAST_ROWS else 0):
        sizes = values[values[:, total] > 0, total]
        smaller = np.flatnonzero((values <= values[:, [total]]).all(axis=0) & values.any(axis=0))
        inside = values[np.ix_(values[:, total] > 0, smaller[smaller != total])]
        share = inside.sum(axis=0) / max(sizes.sum(), 1)
        expected = np.outer(sizes, share)
        squares = ((inside - expected) ** 2 / expected).sum(axis=0)
        chance, of_part = chdtr(len(sizes) - 1, [squares, squares / np.maximum(1 - share, _NOTHING)])
        is_part = (chance * columns**2 < _LEVEL) & (of_part >= _LEVEL)  # a near copy varies less than a part
        pairs += [(int(at), total) for at in smaller[smaller != total][is_part]]
    return pairs


NEAR = 0.98  # least rank correlation, of either sign
_LEAST_ROWS = 20  # fewer agree by chance
_BLOCK = 512  # columns compared with all others at a time


def near_copies(values: np.ndarray, reporter: Reporter = SILENT, stage: str = "") -> pd.DataFrame:
    """Pairs of columns with a Spearman correlation of 0.98 or more in size: one, other (positions), correlation.

    It must also be as large without most rows of their commonest pair of values: columns that are 0 in the same rows
    and unrelated in all others are not copies.
    """
    rows, columns = values.shape
    pairs: list[tuple[int, int, float]] = []
    if rows >= _LEAST_ROWS:
        ranks = np.empty((rows, columns), order="F")  # the only copy of the table
        for column in range(columns):
            centred = pd.Series(values[:, column]).rank().to_numpy() - (rows + 1) / 2
            ranks[:, column] = centred / (np.sqrt(centred @ centred) or 1.0)
        for start in range(0, columns, _BLOCK):
            reporter.step(stage, start, columns)
            correlations = np.triu(ranks[:, start : start + _BLOCK].T @ ranks[:, start:], k=1)
            for first, second in np.argwhere(np.abs(correlations) >= NEAR):
                pair = start + int(first), start + int(second), float(correlations[first, second])
                if np.sign(pair[2]) * _untied(ranks[:, pair[:2]]) >= NEAR:
                    pairs.append(pair)
    return pd.DataFrame(pairs, columns=["one", "other", "correlation"])


def _untied(ranks: np.ndarray) -> float:
    """The rank correlation of two columns, (rows, 2), whose commonest pair of values is as rare as the second; or 0.

    Thus it also agrees for 0/1 columns, which have hardly any rows but those with both 0 and those with both 1.
    """
    _, pair, times = np.unique(ranks[:, 0] + 1j * ranks[:, 1], return_inverse=True, return_counts=True)
    tied = np.flatnonzero(pair == times.argmax())
    compared = pd.DataFrame(np.delete(ranks, tied[np.sort(times)[-2:][0] :], axis=0))
    return float(compared.corr("spearman").fillna(0).iloc[0, 1]) if len(compared) >= _LEAST_ROWS else 0.0


_CHANCE = 1e-6  # largest probability, of any pair of a table, that columns exclude each other by chance


def exclusive(values: np.ndarray, candidates: Sequence[int]) -> list[list[int]]:
    """The sets of 0/1 columns of counts, (rows, columns), no two of which are ever 1 in one row, far beyond chance.

    The `candidates`, and the columns of a set, the most frequent first, are by position.
    """
    two_valued = [at for at in candidates if values[:, at].min() == 0 and values[:, at].max() == 1]
    rows, binary = len(values), np.array(two_valued, dtype=int)
    ones = values[:, binary].astype(np.float32)
    times = ones.sum(axis=0, dtype=float)
    bound, absent = np.log(_CHANCE / max(len(binary) * (len(binary) - 1) / 2, 1)), gammaln(rows - times + 1)
    apart: dict[int, set[int]] = {}
    for start in range(0, len(binary), _BLOCK):
        block = slice(start, start + _BLOCK)
        neither = np.maximum(rows - times[block, None] - times, 0)
        chance = absent[block, None] + absent - gammaln(rows + 1) - gammaln(neither + 1)
        for first, second in np.argwhere((ones[:, block].T @ ones == 0) & (chance < bound)).tolist():
            apart.setdefault(start + first, set()).add(second)
    sets, rest = list[list[int]](), sorted(apart, key=lambda column: -times[column])
    while rest:
        members, taken = [rest[0]], ones[:, rest[0]].copy()
        for column in rest[1:]:
            if apart[column].intersection(members) and not taken @ ones[:, column]:
                members.append(column)
                taken += ones[:, column]
        rest = [column for column in rest if column not in members]
        sets.append(binary[members].tolist())
    return [members for members in sets if len(members) > 1]
