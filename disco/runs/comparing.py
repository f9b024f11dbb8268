"""The comparison of two runs' results: graphs, settings, and whether their tables have the same rows."""

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from disco.metrics.several import Comparison
from disco.refine import Choice
from disco.runs import found
from disco.runs.folder import Run

FIRST, SECOND = "first", "second"


@dataclass(frozen=True)
class TwoRuns:
    """Two results on their tables' common columns.

    Attributes:
        runs: the two.
        results: both, as `FIRST` and `SECOND`.
        settings: setting, first, second, for settings that differ.
        same_rows: whether the common columns have the same counts, and the rows the same covariates.
    """

    runs: tuple[Run, Run]
    results: Comparison
    settings: pd.DataFrame
    same_rows: bool


def compare(first: tuple[Run, str], second: tuple[Run, str]) -> TwoRuns:
    """Compare two results.

    Args:
        first, second: a run and the name of its result in `disco.runs.found`.

    Raises:
        InputError: they have no column in common, or a file cannot be read.
    """
    results = Comparison.of({FIRST: found.read(*first), SECOND: found.read(*second)})
    runs = first[0], second[0]
    same = runs[0] == runs[1] or _same_rows(*runs, results.nodes)
    return TwoRuns(runs, results, _settings(first, second, results), same)


def _same_rows(first: Run, second: Run, nodes: list[str]) -> bool:
    """Whether both have the same counts in some columns, and the same covariates, exposure and groups."""
    one, other = first.adjustment, second.adjustment
    same = one is other if one is None or other is None else one.equals(other)
    return same and first.table()[nodes].equals(second.table()[nodes])


def _settings(first: tuple[Run, str], second: tuple[Run, str], results: Comparison) -> pd.DataFrame:
    """Differing settings of the fits, roles, knowledge, and choices of two refinements."""
    sides = [run.settings.to_dict() for run, _ in (first, second)]
    for name, words in (("roles", _roles), ("knowledge", _knowledge)):
        for values, told in zip(sides, words(first[0], second[0]), strict=True):
            values[name] = told
    if first[1] == second[1] == found.REFINED:
        usual = dataclasses.asdict(Choice())
        for values, side in zip(sides, (FIRST, SECOND), strict=True):
            chosen = {**usual, **results.found[side].choices}
            values.update({f"refinement: {name}": value for name, value in chosen.items()})
    one, other = sides
    rows = [(name, str(one[name]), str(other[name])) for name in one if one[name] != other[name]]
    return pd.DataFrame(rows, columns=["setting", "first", "second"], dtype="str")


def _roles(*runs: Run) -> list[str]:
    """What each run is adjusted for; "none" if all columns are counts."""
    return _told([run.roles for run in runs], str)


def _knowledge(*runs: Run) -> list[str]:
    """The rules that each run obeys; "none" without any."""
    return _told([run.knowledge() for run in runs], lambda known: "; ".join(rule for rule, _ in known.without_each()))


def _told(values: Sequence[Any], words: Callable[[Any], str]) -> list[str]:
    """Each value in words; as JSON where the words do not tell different ones apart."""
    files = ["none" if one is None else json.dumps(one.to_dict(), ensure_ascii=False) for one in values]
    told = ["none" if one is None else words(one) for one in values]
    return told if len(set(told)) == len(set(files)) else files
