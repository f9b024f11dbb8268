"""The comparison of two runs' results: graphs, settings, and whether their tables have the same rows."""

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from disco.metrics.consensus import Comparison
from disco.refine import Choice
from disco.reports import all_results
from disco.runs.folder import Run

FIRST, SECOND = "first", "second"


@dataclass(frozen=True)
class TwoRuns:
    """Two results on their tables' common columns.

    Attributes:
        results: both, as `FIRST` and `SECOND`.
        settings: setting, first, second, for settings that differ.
        same_rows: whether the common columns have the same counts, and the rows the same covariates.
    """

    runs: tuple[Run, Run]
    results: Comparison
    settings: pd.DataFrame
    same_rows: bool


def compare(first: tuple[Run, str], second: tuple[Run, str]) -> TwoRuns:
    """Compare two results, each a run and the name of its result in `disco.reports.all_results`.

    An `InputError` if they have no column in common.
    """
    results = Comparison.of({FIRST: all_results.read(*first), SECOND: all_results.read(*second)})
    runs = first[0], second[0]
    same = runs[0] == runs[1] or _same_rows(*runs, results.nodes)
    return TwoRuns(runs, results, _settings(first, second, results), same)


def _same_rows(first: Run, second: Run, nodes: list[str]) -> bool:
    adjustment, compared = first.adjustment, second.adjustment
    same = adjustment is compared if adjustment is None or compared is None else adjustment.equals(compared)
    return same and first.table()[nodes].equals(second.table()[nodes])


def _settings(first: tuple[Run, str], second: tuple[Run, str], results: Comparison) -> pd.DataFrame:
    sides = [run.settings.to_dict() for run, _ in (first, second)]
    runs = first[0], second[0]
    rules = _texts(
        [run.knowledge() for run in runs], lambda knowledge: "; ".join(rule for rule, _ in knowledge.without_each())
    )
    for name, texts in (("roles", _texts([run.roles for run in runs], str)), ("knowledge", rules)):
        for values, text in zip(sides, texts, strict=True):
            values[name] = text
    if first[1] == second[1] == all_results.REFINED:
        usual = dataclasses.asdict(Choice())
        for values, side in zip(sides, (FIRST, SECOND), strict=True):
            chosen = {**usual, **results.found[side].choices}
            values.update({f"refinement: {name}": value for name, value in chosen.items()})
    pairs = {name: (str(value), str(sides[1][name])) for name, value in sides[0].items() if value != sides[1][name]}
    rows = [(name, *values) for name, values in pairs.items()]
    return pd.DataFrame(rows, columns=["setting", "first", "second"], dtype="str")


def _texts(values: Sequence[Any], words: Callable[[Any], str]) -> list[str]:
    """Each value in words; as JSON if two different values have the same words."""
    files = ["none" if value is None else json.dumps(value.to_dict(), ensure_ascii=False) for value in values]
    texts = ["none" if value is None else words(value) for value in values]
    return texts if len(set(texts)) == len(set(files)) else files
