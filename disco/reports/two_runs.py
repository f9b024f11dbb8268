"""The comparison of two runs' results: graphs, settings, and in what their tables differ."""

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from disco.metrics.consensus import Comparison
from disco.refine import Choice
from disco.reports import all_results
from disco.runs.folder import Run
from disco.table.adjustment import Adjustment

FIRST, SECOND = "first", "second"
_ROLES = {name: name for name in ("covariates", "contexts", "exposure", "interventions")}
_ROLES |= {"group": "groups", "past": "rows before"}


@dataclass(frozen=True)
class TwoRuns:
    """Two results on their tables' common columns.

    Attributes:
        results: both, as `FIRST` and `SECOND`.
        settings: setting, first, second, for settings that differ.
        differences: in what the tables differ, as nouns: rows, counts of the common columns, and what roles are for.
    """

    runs: tuple[Run, Run]
    results: Comparison
    settings: pd.DataFrame
    differences: tuple[str, ...]


def compare(first: tuple[Run, str], second: tuple[Run, str]) -> TwoRuns:
    """Compare two results, each a run and the name of its result in `disco.reports.all_results`.

    An `InputError` if they have no column in common.
    """
    results = Comparison.of({FIRST: all_results.read(*first), SECOND: all_results.read(*second)})
    runs = first[0], second[0]
    return TwoRuns(runs, results, _settings(first, second, results), tuple(_differences(*runs, results.nodes)))


def _differences(first: Run, second: Run, nodes: list[str]) -> Iterator[str]:
    if first.shape[0] != second.shape[0]:
        yield f"rows ({first.shape[0]:,} and {second.shape[0]:,})"
        return
    if first != second and not first.counts()[nodes].equals(second.counts()[nodes]):
        yield "counts"
    empty = Adjustment(first.shape[0])
    for name, words in _ROLES.items():
        both = (replace(empty, **{name: getattr(run.adjustment or empty, name)}) for run in (first, second))
        if len({adjustment.digest() for adjustment in both}) > 1:
            yield words


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
