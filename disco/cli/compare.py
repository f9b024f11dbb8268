"""disco compare COUNTS --methods A,B --out RUN, or --run RUN: other methods on the same table, side by side."""

import argparse
import contextlib
import dataclasses
import json
from importlib import import_module
from typing import Any

import pandas as pd

from disco.cli.choices import read_counts
from disco.cli.evaluate import read_truth
from disco.cli.fit import check_knowledge, new_run, resumed
from disco.cli.foreground import work_here
from disco.cli.roles import check_roles, given_roles, listed
from disco.errors import InputError
from disco.figures.words import duration, number
from disco.knowledge.files import read
from disco.rivals import GROUPS, METHODS, method
from disco.runs import COMPARE, Run, compared, open_run
from disco.runs.compared import Asked
from disco.settings import Settings
from disco.work import comparing

_ROWS, _NODES = 2000, 20  # of the table for which --list tells times
_HEADINGS = {"a_top": "A_top", "f1": "F1", "skeleton_f1": "skeleton F1", "shd": "SHD", "class_shd": "class SHD"}


def run(arguments: argparse.Namespace) -> None:
    """Run the methods that have not ended yet, and print what all of those asked for found.

    Raises:
        InputError: there is no such run, method or option, the table or the truth cannot be used.
        FitStopped: it was interrupted; the same command continues.
    """
    if arguments.list:
        _list()
        return
    asked = Asked(_methods(arguments), arguments.timeout)
    truth = None if arguments.truth is None else read_truth(arguments.truth)
    if truth is not None and (why := compared.looped(truth)):
        raise InputError(why)
    target = _target(arguments)
    if truth is not None:
        target.set_truth(truth)
    if comparing.left(target, asked):
        work_here(target, COMPARE, "the same command continues with the methods that are left.", asked, device="cpu")
    ended = {one.method: one for one in compared.read_all(target)}
    found = [ended[name] for name in asked.methods if name in ended]
    known = target.truth()
    _print(compared.table(target, found, known), known is not None)
    print(f"Run: {target.path}")


def _methods(arguments: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The methods that were asked for, each with the options given for it."""
    if arguments.methods is None:
        raise InputError("--methods is missing: name some, as in --methods sort-mean,sort-excess; --list tells them.")
    found: dict[str, dict[str, Any]] = {name: {} for name in listed(arguments.methods) if name}
    for name in found:
        method(name)  # refuses a name that is none
    for text in arguments.set:
        place, equals, value = text.partition("=")
        name, dot, option = place.partition(".")
        if not (equals and dot and option):
            raise InputError(f"--set needs METHOD.OPTION=VALUE; got {text!r}.")
        if name not in found:
            raise InputError(f"--set {place} is for the method {name}, which is not among --methods.")
        if option in found[name]:
            raise InputError(f"{place} is given twice by --set.")
        found[name][option] = _value(name, option, value)
    return found


def _value(name: str, option: str, text: str) -> Any:
    """A text as the value of an option: as JSON or a number, unless the option is a word; else it stays a text."""
    options = import_module(f"disco.rivals.{method(name).module}").Options
    if any(item.name == option and item.type is str for item in dataclasses.fields(options)):
        return text
    for read_as in (json.loads, int, float):
        with contextlib.suppress(ValueError, RecursionError):
            return read_as("null" if text.lower() == "none" else text)
    return {"true": True, "false": False}.get(text.lower(), text)


def _target(arguments: argparse.Namespace) -> Run:
    """The run beside which the methods are kept: an existing one, or a new one for a table."""
    if (arguments.run is None) == (arguments.counts is None):
        raise InputError("give a table COUNTS and --out with a new folder, or --run with a run that exists.")
    known = None if arguments.knowledge is None else read(arguments.knowledge)
    if arguments.run is not None:
        if arguments.out is not None:
            raise InputError("--out goes with COUNTS; with --run the results lie in that run.")
        target = open_run(arguments.run)
        check_knowledge(target, known)
        check_roles(target, given_roles(arguments, list(target.with_roles())))
        return target
    if arguments.out is None:
        raise InputError("COUNTS needs --out, the folder of the run to make.")
    table, left_out, roles = read_counts(arguments.counts, arguments)
    return resumed(arguments.out, table, {}, None, known, roles) or new_run(
        table, Settings(), arguments.out, arguments.counts, "auto", left_out, knowledge=known, roles=roles, fits=False
    )


def _list() -> None:
    """Print every method by its group."""
    for group in GROUPS:
        those = {name: one for name, one in METHODS.items() if one.group == group}
        if those:
            print(f"{group[0].upper()}{group[1:]}")
        for name, one in those.items():
            how = "" if one.installed else f" Not installed: pip install {one.package}."
            print(f"  {name:<18} {one.about} Takes {duration(one.seconds(_ROWS, _NODES))}.{how}")
    print(f"Times are for {_ROWS:,} rows × {_NODES} columns, on one core.")


def _print(rows: pd.DataFrame, is_known: bool) -> None:
    """The table of methods as text, and the notes below it."""
    metrics = [name for name in compared.METRICS if is_known and rows[name].notna().any()]
    names = ["method", "seconds", "edges", "undirected", *metrics]
    shown = rows[names].copy()
    for name in ("seconds", *metrics):
        shown[name] = [number(value) for value in rows[name].astype(float)]
    for name in set(names) & set(compared.WHOLE):
        shown[name] = ["–" if pd.isna(value) else str(value) for value in rows[name]]
    shown["edges"] = shown["edges"].where(rows["state"] == "done", rows["state"])
    print(shown.rename(columns=_HEADINGS).to_string(index=False))
    if is_known and not metrics:
        print("Nothing is measured against the true edges of this run: look at them with disco evaluate.")
    if not is_known:
        print("The true edges are not known (--truth), so no method is ranked above another.")
    for row in rows[rows["note"] != ""].itertuples():
        print(f"{row.method}: {row.note}")
