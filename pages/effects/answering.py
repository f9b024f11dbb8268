"""The answers of Effects: each computed once on the server, in the background if it takes long.

The slow imports are left to the first question.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from disco.progress import Callback, Event, Reporter
from disco.runs import Run
from pages.shared.compute.background import Slow
from pages.shared.compute.cache import cached
from pages.shared.evidence import questions

if TYPE_CHECKING:
    from disco.effects.effect_question import Usual
    from disco.effects.effect_records import Effect

_DRAWS = 820  # about as many as an answer takes, with its figures


class Answered(NamedTuple):
    """The answer to a question.

    Attributes:
        curve: the outcome's mean over the range of the cause; None if several nodes are set.
        distribution: how often it has at least a count (`disco.effects.curve.distribution`).
        routes: the paths to the outcome from the set nodes whose values differ, with the share of the graphs that have
            each.
        strengths: by each of these nodes, how strong a hidden cause of it and the outcome would have to be to make the
            edge between them; NaN without one.
        where: the level of a covariate or context that the rows in question have, by its name; empty: all rows.
    """

    effect: "Effect"
    curve: pd.DataFrame | None
    distribution: pd.DataFrame
    routes: list[tuple[tuple[str, ...], float]]
    strengths: dict[str, float]
    where: dict[str, str]


@cached(questions.key)
def usual(run: Run, node: str) -> "Usual":
    """The range of a node, and two values to compare."""
    from disco.effects.effect_question import usual

    return usual(questions.graphs(run).value()[0], node)


@cached(questions.key)
def levels(run: Run) -> dict[str, dict[str, str]]:
    """The levels of a run's covariates and contexts: the level by the covariate's name, by how both are written."""
    adjustment = run.adjustment
    every = () if adjustment is None else adjustment.as_covariates().covariates
    return {f"{variable.name}:{level}": {variable.name: level} for variable in every for level in variable.levels}


def effect(run: Run, on: str, do: Mapping[str, float], against: Mapping[str, float], where: str = "") -> Slow[Answered]:
    """The answer to a question: the outcome `on` with set nodes at the values `do` against the values `against`, over
    the rows of one of `levels`, or over all rows if `where` is empty.
    """
    rows = levels(run).get(where, {})

    def work(graphs: "questions.Graphs", callback: Callback) -> Answered:
        from disco.effects import curve
        from disco.effects.curve import distribution
        from disco.effects.effect import effect
        from disco.effects.effect_question import among
        from disco.effects.strength import strength

        calls = count()

        def counted(event: Event) -> bool | str | None:
            return callback(replace(event, progress=min(next(calls) / _DRAWS, 1.0)))

        reporter = Reporter(counted, {"effect": 1.0}, questions.STOPPED)
        every, lock = graphs
        with lock:
            fitted = among(every, rows)
            answer, line = effect(fitted, on, do, against, reporter=reporter), None
            if len(do) == 1:
                line = curve.curve(fitted, on, *do, reporter, (*against.values(), *do.values()))
            counts = distribution(fitted, on, do, against, reporter)
            moved = [node for node in do if do[node] != against[node]]
            paths = [path for node in moved for path in curve.routes(fitted, on, node)]
            # Where a node is set, no path goes through it.
            routes = [(path, share) for path, share in paths if not {*path[1:]} & {*do}]
            strengths = {node: strength(fitted, node, on) for node in moved}
            return Answered(
                answer, line, counts, sorted(routes, key=lambda route: -round(route[1], 12)), strengths, rows
            )

    question = on, *do.items(), *against.items(), where
    return questions.question("effects_answer", run, "Computing the effect", work, *question)


def drivers(run: Run, on: str, where: str = "") -> Slow[pd.DataFrame]:
    """The ranking of what drives a node, as a table."""
    rows = levels(run).get(where, {})

    def work(graphs: "questions.Graphs", callback: Callback) -> pd.DataFrame:
        from disco.effects.drivers import drivers
        from disco.effects.effect_question import among

        # Fits of its own: a question need not wait for it.
        return drivers(among(graphs[0].afresh(), rows), on, callback)

    return questions.question("effects_drivers", run, "Computing every effect on it", work, on, where)
