"""The comparison of two runs' results: graphs, settings, and whether their tables have the same rows."""

import dataclasses
import json
from dataclasses import dataclass

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
    sides = [
        {**run.settings.to_dict(), "roles": _roles(run), "knowledge": _knowledge(run)} for run, _ in (first, second)
    ]
    if first[1] == second[1] == found.REFINED:
        usual = dataclasses.asdict(Choice())
        for values, side in zip(sides, (FIRST, SECOND), strict=True):
            chosen = {**usual, **results.found[side].choices}
            values.update({f"refinement: {name}": value for name, value in chosen.items()})
    one, other = sides
    rows = [(name, str(one[name]), str(other[name])) for name in one if one[name] != other[name]]
    return pd.DataFrame(rows, columns=["setting", "first", "second"], dtype="str")


def _roles(run: Run) -> str:
    """The roles of a run's columns, as JSON; "none" if all are counts."""
    return "none" if run.roles is None else json.dumps(run.roles.to_dict(), ensure_ascii=False)


def _knowledge(run: Run) -> str:
    """The rules that a run obeys, as JSON; "none" without any."""
    known = run.knowledge()
    return "none" if known is None else json.dumps(known.to_dict(), ensure_ascii=False)
