"""disco effect RUN: what happens to a node if others are set, and what drives it most; signs of hidden causes."""

import argparse
import sys
from collections.abc import Iterable
from typing import Any

import pandas as pd

from disco.cli import options
from disco.cli.saying import say, say_json, sentence, short, write
from disco.cli.table_options import as_numbers, assigned
from disco.effects.curve import curve, distribution
from disco.effects.drivers import drivers
from disco.effects.effect import effect
from disco.effects.effect_question import among
from disco.effects.effect_records import NO_SIGNS, Effect
from disco.effects.graph_fits import FittedGraphs
from disco.effects.hidden import Signs, signs
from disco.effects.sentences import as_json, as_rows, in_words
from disco.errors import InputError
from disco.files import plain
from disco.refine.response import Response
from disco.runs import open_run
from disco.subjects.effects import run_graphs
from disco.table import spreadsheets
from disco.words import number

_MOST = 20  # nodes in the text


def add(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("run", metavar="RUN", help="folder or id of a run with a refinement")
    command.add_argument("--on", metavar="NAME", help="the node asked about")
    command.add_argument("--hidden-causes", action="store_true", help="instead of --on: signs of hidden causes")
    do, where = "set a node; without it, all effects on the node", "over rows with this level of a covariate or context"
    for option, about in (("--do", do), ("--against", "compare with"), ("--where", where)):
        command.add_argument(option, action="append", default=[], metavar="NAME=3", help=f"{about}; repeatable")
    command.add_argument("--curve", metavar="NAME", help="instead of --do: the mean over the range of a node")
    command.add_argument(
        "--steps", type=int, metavar="12", help="with --do, in a series: the response in each of so many steps"
    )
    command.add_argument("--steady", action="store_true", help="with --steps: the nodes stay set, instead of once")
    command.add_argument("--distribution", action="store_true", help="with --do: how often it has at least each count")
    options.formats(command)


def run(arguments: argparse.Namespace) -> None:
    """Print an effect, all effects on a node, or the signs of hidden causes, as text, JSON or CSV.

    Raises:
        InputError: there is no such run, it has no refinement, or the question cannot be answered.
    """
    do, against = as_numbers("--do", arguments.do), as_numbers("--against", arguments.against)
    if against and not do:
        raise InputError("--against needs --do: the values that are compared with these.")
    if arguments.distribution and not do:
        raise InputError("--distribution needs --do: the values in question.")
    if do and arguments.curve is not None:
        raise InputError("--curve takes the whole range of a node: leave --do out.")
    if arguments.hidden_causes and (do or arguments.where or arguments.curve):
        raise InputError("--hidden-causes looks at all rows and nodes: leave --do, --where and --curve out.")
    if (arguments.on is None) != arguments.hidden_causes:
        raise InputError("Give --on with the node asked about, or --hidden-causes.")
    if (arguments.steps is not None or arguments.steady) and (not do or arguments.steps is None):
        raise InputError("--steps needs --do, and --steady needs --steps: what is set, and how far to look.")
    chosen = open_run(arguments.run)
    if arguments.steps is not None:
        response = run_graphs.over_time(chosen, arguments.on, do, arguments.steps, arguments.steady)
        _print_response(response, arguments.format)
        return
    where = assigned("--where", arguments.where, () if chosen.roles is None else chosen.roles.columns)
    fitted = among(run_graphs.fitted(chosen), where)
    if arguments.hidden_causes:
        _print_signs(signs(fitted), arguments.format)
    elif arguments.curve is not None:
        _print_curve(fitted, arguments.on, arguments.curve, arguments.format)
    elif arguments.distribution:
        _print_distribution(distribution(fitted, arguments.on, do, against or None), arguments.on, arguments.format)
    elif do:
        result = effect(fitted, arguments.on, do, against or None)
        _print_effect(result, arguments.format)
    else:
        _print_drivers(drivers(fitted, arguments.on), arguments.on, arguments.format)


def _print_curve(fitted: FittedGraphs, on: str, node: str, form: str) -> None:
    both = {of: curve(fitted, on, node, is_direct=of == "direct") for of in ("total", "direct")}
    points = pd.concat(both, names=["of"]).reset_index(level="of")
    lines = (
        f"  {row.of}, {short(node)} = {row.value:g}: mean {_interval(row.mean, row.low, row.high)}{_case(row.when)}"
        for row in points.itertuples()
    )
    _print_rows(points, {"on": on, "node": node}, "curve", form, lines)


def _print_response(response: Response, form: str) -> None:
    lines = [
        f"  {row.step:.0f}: mean {number(row.mean)}, against {number(row.against)}, ratio "
        f"{_interval(row.ratio, row.low, row.high)}"
        for row in response.points.itertuples()
    ]
    about = {"on": response.on, "do": response.do, "steady": response.is_steady, "unit": response.unit}
    _print_rows(response.points, about, "response", form, [sentence(str(response)), *lines])


def _print_distribution(probabilities: pd.DataFrame, on: str, form: str) -> None:
    lines = (
        f"  at least {row.count:g}: {row.at_least:.1%} ({row.at_least_low:.1%} to {row.at_least_high:.1%}), "
        f"against {row.against:.1%}{_case(row.when)}"
        for row in probabilities.itertuples()
    )
    _print_rows(probabilities, {"on": on}, "distribution", form, lines)


def _print_effect(result: Effect, form: str) -> None:
    if form == "json":
        say_json(plain(as_json(result)))
    elif form == "csv":
        write(spreadsheets.to_csv(as_rows(result)))
    else:
        say(sentence(in_words(result)))
        for name, answer in (("Direct", result.direct), ("By adjustment", result.by_adjustment)):
            if answer is not None:
                say(f"  {name}: ratio {' to '.join(map(number, answer.rate_ratio[1:]))}")
        say(*map(sentence, result.notes), to=sys.stderr)


def _print_drivers(ranking: pd.DataFrame, on: str, form: str) -> None:
    lines = [
        f"  {short(row.node)}  {row.low_value:g} to {row.high_value:g}: mean {number(row.mean_low)} to "
        f"{number(row.mean_high)}, ratio {_interval(row.rate_ratio, row.low, row.high)}"
        for row in ranking.head(_MOST).itertuples()
    ]
    if ranking.empty:
        lines.append(f'No path leads to "{short(on)}" in any compatible graph.')
    if len(ranking) > _MOST:
        lines.append(f"  {len(ranking) - _MOST:,} more nodes: --format json lists them all.")
    _print_rows(ranking, {"on": on}, "drivers", form, lines)


def _print_signs(evidence: Signs, form: str) -> None:
    ties = evidence.ties.rename(columns={"one": "node", "other": "with"})
    about = {"factor": evidence.factor._asdict(), "signs": evidence.sentences}
    _print_rows(ties, about, "ties", form, map(sentence, evidence.sentences or [NO_SIGNS]))


def _print_rows(rows: pd.DataFrame, about: dict[str, Any], name: str, form: str, lines: Iterable[str]) -> None:
    """Print rows as JSON (under `name`, next to the fields of `about`), as CSV, or as lines of text."""
    if form == "json":
        say_json(plain({**about, name: rows.to_dict("records")}))
    elif form == "csv":
        write(spreadsheets.to_csv(rows))
    else:
        say(*lines)


def _interval(middle: float, low: float, high: float) -> str:
    return f"{number(middle)} ({number(low)} to {number(high)})"


def _case(when: str) -> str:
    return f", {when}" if when else ""
