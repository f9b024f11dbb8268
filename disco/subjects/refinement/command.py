"""disco refine RUN, or --counts COUNTS --out RUN: the order and edges of highest likelihood."""

import argparse
import sys
from pathlib import Path

from disco.cli import options
from disco.cli.foreground import work_here
from disco.cli.saying import say, sentence, short
from disco.columns import EDGE_LINE, EXPERIMENT, FIXED, FREE, GAIN, REQUIRED, STABILITY
from disco.paper.settings import WITHOUT_FIT, Settings
from disco.refine import Choice, Refined
from disco.refine.bounds import ASSUMED, decided_means
from disco.runs import Run
from disco.subjects import REFINE
from disco.subjects.fit.chosen_run import chosen_run
from disco.subjects.table import dismissal
from disco.table.dispersion import few_rows
from disco.verdicts import ANY_ORDER, of_refinement
from disco.words import how_many

_BY_RULE = {REQUIRED: "required", FIXED: "direction by knowledge"}


def add(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("run", nargs="?", metavar="RUN", help="folder or id of a run")
    command.add_argument("--counts", type=Path, metavar="COUNTS", help=f"instead of RUN: {options.COUNTS}")
    command.add_argument("--out", type=Path, metavar="RUN", help="with --counts: folder of the run, new or empty")
    options.table(command, "with --counts: ")
    options.roles(command, "with --counts: ")
    options.add(command, Settings, *WITHOUT_FIT, when="with --counts: ")
    options.add(command, Choice)
    options.add_set(command, Choice)
    options.knowledge(command)
    options.at_once(command)
    options.cluster(command)


def run(arguments: argparse.Namespace) -> None:
    """Refine a run, or a table as a new run, and print the result.

    Raises:
        InputError: there is no such run, the table cannot be used, or a number is out of range.
        FitStopped: it was interrupted; the same command continues.
    """
    choice = Choice(**options.specified(arguments, Choice))
    target = chosen_run(arguments, "RUN", "--counts")
    go_on = "the same command continues after the finished searches."
    result = work_here(target, REFINE, go_on, choice, at_once=arguments.now)
    _print(target, result, choice)


def _print(target: Run, result: Refined, choice: Choice) -> None:
    edges = result.edges
    dismissal.tell(target)
    say(f"Refined causal order, source first: {', '.join(map(short, result.order))}")
    if result.is_open:
        say(sentence(f"In this order, {ANY_ORDER}."))
    undecided = int((~edges["decided"].astype(bool)).sum())
    say(f"{how_many(len(edges), 'edge')}, {undecided} of undecided direction; log posterior {result.score:,.1f} nats:")
    if edges.empty:
        say(f"{of_refinement(result, choice.bound).text} {few_rows(*target.shape)}".strip())
    stability = f"{'' if choice.redone else 'local '}{STABILITY.label.lower()}"
    for edge in edges.itertuples():
        share = "" if edge.bootstrap != edge.bootstrap else f", {stability} {edge.bootstrap:.2f}"
        words = _BY_RULE.get(getattr(edge, "rule", FREE)) or (
            "by experiment" if edge.source == EXPERIMENT else "decided"
        )
        is_sure = words if edge.decided else "undecided"
        numbers = ", ".join(f"{item.short.lower()} {item.text(getattr(edge, item.name))}" for item in EDGE_LINE)
        arrow = "--" if is_sure == "undecided" else "->"
        say(f"  {short(edge.parent)} {arrow} {short(edge.child)}  {numbers}, {is_sure}{share}")
    for row in () if result.contexts is None else result.contexts.itertuples():
        level = f" = {short(row.level)}" if row.level else ""
        gain = f"{GAIN.short.lower()} {GAIN.text(row.gain_nats)}"
        say(f"  {short(row.context)}{level} -> {short(row.node)}  {gain}, context")
    for row in () if result.lagged is None else result.lagged.itertuples():
        gain = f"{GAIN.short.lower()} {GAIN.text(row.gain_nats)}"
        is_directed = "directed by time" if result.directs_by_time else "undecided"
        what = "own past" if row.parent == row.child else is_directed
        when = f"{how_many(row.lag, 'row')} later" if row.lag else "by all rows before"
        say(f"  {short(row.parent)} -> {short(row.child)}, {when}  {gain}, {what}")
    if target.roles is not None:
        say(sentence(f"Roles: {target.roles}."))
    if (knowledge := target.knowledge()) is not None:
        say(sentence(f"Knowledge: {knowledge}."))
    for note in result.notes:
        say(sentence(f"Note: {note}"))
    adjacent = "A link shows that two columns are adjacent, not which one is the cause."
    say(f"{decided_means(choice.bound)} {adjacent}", to=sys.stderr)
    say(ASSUMED, to=sys.stderr)
    say(f"Run: {target.path}")
