"""disco compare COUNTS --methods A,B --out RUN, or --run RUN: other methods on the same table, side by side."""

import argparse
import sys
from pathlib import Path

import pandas as pd

from disco.cli import options
from disco.cli.foreground import work_here
from disco.cli.roles import names_in
from disco.cli.saying import say, sentence
from disco.errors import InputError
from disco.methods import GROUPS, INSTALL, METHODS, options_of
from disco.methods.option_text import asked_for
from disco.runs import Run
from disco.subjects import COMPARE
from disco.subjects.comparison import compared, comparing
from disco.subjects.comparison.compared import MethodsRequest
from disco.subjects.evaluation.command import read_truth
from disco.subjects.fit.chosen_run import chosen_run
from disco.subjects.table import dismissal
from disco.words import duration, how_many, number

_ROWS, _NODES = 2000, 20  # of the table for the times in --list
_HEADINGS = {"a_top": "A_top", "f1": "F1", "skeleton_f1": "skeleton F1", "shd": "SHD", "class_shd": "class SHD"}


def add(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("counts", type=Path, nargs="?", metavar="COUNTS", help=options.COUNTS)
    command.add_argument("--run", metavar="RUN", help="instead of COUNTS: folder or id of a run")
    command.add_argument("--out", type=Path, metavar="RUN", help="with COUNTS: folder of the run, new or empty")
    command.add_argument("--methods", metavar="A,B", help="methods to run; see --list")
    command.add_argument("--list", action="store_true", help="list all methods with their assumptions and times")
    command.add_argument("--options", metavar="METHOD", help="list the options of a method")
    options.add(command, MethodsRequest)
    command.add_argument("--truth", type=Path, metavar="FILE", help="CSV with parent, child and, optionally, direction")
    command.add_argument(
        "--set", action="append", default=[], metavar="METHOD.OPTION=VALUE", help="an option of a method; repeatable"
    )
    options.table(command, "with COUNTS: ")
    options.roles(command, "with COUNTS: ")
    options.knowledge(command)
    options.at_once(command)
    options.cluster(command)


def run(arguments: argparse.Namespace) -> None:
    """Run the remaining methods, and print the results of all requested ones.

    Raises:
        InputError: there is no such run, method or option, the table or the truth cannot be used.
        FitStopped: it was interrupted; the same command continues.
    """
    if arguments.list:
        _list()
        return
    if arguments.options is not None:
        say(*options.listing(type(options_of(arguments.options))))
        return
    if arguments.methods is None:
        raise InputError("--methods is missing: name some, as in --methods sort-mean,sort-excess; see --list.")
    methods = asked_for(filter(None, names_in(arguments.methods)), arguments.set)
    request = MethodsRequest(methods, **options.specified(arguments, MethodsRequest, "limit"))
    truth = None if arguments.truth is None else read_truth(arguments.truth)
    if truth is not None and (why := compared.looped(truth)):
        raise InputError(why)
    target = chosen_run(arguments, "--run", "COUNTS")
    if truth is not None:
        _set_truth(target, truth)
    if comparing.left(target, request):
        go_on = "the same command continues with the remaining methods."
        work_here(target, COMPARE, go_on, request, at_once=arguments.now)
    ended = {result.method: result for result in compared.read_all(target)}
    results = [ended[name] for name in request.methods if name in ended]
    true_edges = target.truth()
    dismissal.tell(target)
    _print(compared.table(target, results, true_edges), true_edges is not None)
    say(f"Run: {target.path}")


def _set_truth(target: Run, truth: pd.DataFrame) -> None:
    previous = target.truth()
    compared.set_truth(target, truth)
    if previous is not None and not previous.equals(target.truth()):
        say(f"The run's {how_many(len(previous), 'true edge')} were replaced by {len(truth):,}.", to=sys.stderr)


def _list() -> None:
    for group in GROUPS:
        methods = {name: method for name, method in METHODS.items() if method.group == group}
        if methods:
            say(f"{group[0].upper()}{group[1:]}")
        for name, method in methods.items():
            how = "" if method.installed else f" Not installed: {INSTALL}."
            say(f"  {name:<18} {method.about} Time: {duration(method.seconds(_ROWS, _NODES))}.{how}")
    say(f"Times are for {_ROWS:,} rows × {_NODES} columns on one core.")


def _print(rows: pd.DataFrame, is_known: bool) -> None:
    metrics = [name for name in compared.METRICS if is_known and rows[name].notna().any()]
    names = ["method", "seconds", "edges", "undirected", *metrics]
    formatted = rows[names].copy()
    for name in ("seconds", *metrics):
        formatted[name] = [number(value) for value in rows[name].astype(float)]
    for name in set(names) & set(compared.WHOLE):
        formatted[name] = ["–" if pd.isna(value) else str(value) for value in rows[name]]
    formatted["edges"] = formatted["edges"].where(rows["state"] == "done", rows["state"])
    say(*formatted.rename(columns=_HEADINGS).to_string(index=False).split("\n"))
    if is_known and not metrics:
        say("No result was compared with this run's true edges: check them with disco evaluate.")
    if not is_known:
        say("The true edges are not known (--truth), so the methods are not ranked.")
    for row in rows[rows["note"] != ""].itertuples():
        say(sentence(f"{row.method}: {row.note}"))
