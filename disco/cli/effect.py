"""disco effect RUN: what happens to a node if others are set, and what drives it most; signs of hidden causes."""

import argparse
import sys

import pandas as pd

from disco.cli.choices import as_numbers, assigned
from disco.cli.saying import say, say_json, sentence, short, write
from disco.effects.answers import NO_SIGNS, Effect
from disco.effects.asking import among
from disco.effects.curve import curve
from disco.effects.distribution import distribution
from disco.effects.drivers import drivers
from disco.effects.effect import effect
from disco.effects.fitted import FittedGraphs
from disco.effects.hidden import Signs, signs
from disco.effects.sentences import in_words
from disco.effects.written import as_json, as_rows
from disco.errors import InputError
from disco.files import plain
from disco.runs import effects, open_run
from disco.table import spreadsheets
from disco.words import number

_MOST = 20  # nodes in the text
_CURVES = "total", "direct"


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
    if arguments.hidden_causes and (arguments.where or arguments.curve):
        raise InputError("--hidden-causes looks at all rows and nodes: leave --where and --curve out.")
    if (arguments.on is None) != arguments.hidden_causes:
        raise InputError("Give --on with the node asked about, or --hidden-causes.")
    fitted = among(effects.fitted(open_run(arguments.run)), assigned("--where", arguments.where))
    if arguments.hidden_causes:
        _print_signs(signs(fitted), arguments.format)
    elif arguments.curve is not None:
        _print_curve(fitted, arguments.on, arguments.curve, arguments.format)
    elif arguments.distribution:
        _print_distribution(distribution(fitted, arguments.on, do, against or None), arguments)
    elif do:
        found = effect(fitted, arguments.on, do, against or None)
        _print_effect(found, arguments.format)
    else:
        _print_drivers(drivers(fitted, arguments.on), arguments.on, arguments.format)


def _print_curve(fitted: FittedGraphs, on: str, node: str, form: str) -> None:
    found = pd.concat(
        [
            curve(fitted, on, node, is_direct=is_direct).assign(of=of)
            for of, is_direct in (("total", False), ("direct", True))
        ]
    )
    found = found[["of", *(name for name in found if name != "of")]]
    if form == "json":
        say_json(plain({"on": on, "node": node, "curve": found.to_dict("records")}))
    elif form == "csv":
        write(spreadsheets.to_csv(found))
    else:
        for row in found.itertuples():
            low, high, case = number(row.low), number(row.high), row.when and f", {row.when}"
            say(f"  {row.of}, {short(node)} = {row.value:g}: mean {number(row.mean)} ({low} to {high}){case}")


def _print_distribution(found: pd.DataFrame, arguments: argparse.Namespace) -> None:
    if arguments.format == "json":
        say_json(plain({"on": arguments.on, "distribution": found.to_dict("records")}))
    elif arguments.format == "csv":
        write(spreadsheets.to_csv(found))
    else:
        for row in found.itertuples():
            case = row.when and f", {row.when}"
            ends = f"{row.at_least_low:.1%} to {row.at_least_high:.1%}"
            say(f"  at least {row.count:g}: {row.at_least:.1%} ({ends}), against {row.against:.1%}{case}")


def _print_effect(found: Effect, form: str) -> None:
    if form == "json":
        say_json(plain(as_json(found)))
    elif form == "csv":
        write(spreadsheets.to_csv(as_rows(found)))
    else:
        say(sentence(in_words(found)))
        for name, answer in (("Direct", found.direct), ("By adjustment", found.by_adjustment)):
            if answer is not None:
                say(f"  {name}: ratio {' to '.join(map(number, answer.rate_ratio[1:]))}")
        say(*map(sentence, found.notes), to=sys.stderr)


def _print_drivers(found: pd.DataFrame, on: str, form: str) -> None:
    if form == "json":
        say_json(plain({"on": on, "drivers": found.to_dict("records")}))
    elif form == "csv":
        write(spreadsheets.to_csv(found))
    elif found.empty:
        say(f'No path leads to "{short(on)}" in any graph left.')
    else:
        for row in found.head(_MOST).itertuples():
            change = f"{row.low_value:g} to {row.high_value:g}"
            ratio = f"ratio {number(row.rate_ratio)} ({number(row.low)} to {number(row.high)})"
            say(f"  {short(row.node)}  {change}: mean {number(row.mean_low)} to {number(row.mean_high)}, {ratio}")
        if len(found) > _MOST:
            say(f"  {len(found) - _MOST:,} more nodes: --format json lists them all.")


def _print_signs(found: Signs, form: str) -> None:
    ties = found.ties.rename(columns={"one": "node", "other": "with"})
    if form == "json":
        say_json(plain({"ties": ties.to_dict("records"), "factor": found.factor._asdict(), "signs": found.sentences}))
    elif form == "csv":
        write(spreadsheets.to_csv(ties))
    else:
        say(*map(sentence, found.sentences or [NO_SIGNS]))
