"""disco next RUN: which node to set in the next experiment, to settle the most open directions."""

import argparse
import sys
from typing import Any

import pandas as pd

from disco.cli import options
from disco.cli.progress_bar import Progress
from disco.cli.roles import names_in
from disco.cli.saying import say, say_json, sentence, short, write
from disco.files import plain
from disco.refine.settling import NOTHING_OPEN, Next, rows_in_words
from disco.runs import open_run
from disco.subjects.experiments import next_experiment
from disco.table import spreadsheets
from disco.words import how_many, listed, of_graphs

_SEVERAL = 50  # nodes; of more it takes seconds, with progress
_MOST_NODES, _MOST_PAIRS = 20, 8  # in the text


def add(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("run", metavar="RUN", help="folder or id of a run with a refinement")
    command.add_argument("--nodes", metavar="A,B", help="the nodes that can be set (all); quote a name with a comma")
    options.formats(command)


def run(arguments: argparse.Namespace) -> None:
    """Print which directions setting each node would settle, best first, as text, JSON or CSV.

    Raises:
        InputError: there is no such run, it has no refinement, or a node is unknown.
    """
    run, nodes = open_run(arguments.run), names_in(arguments.nodes) or None
    with Progress() as progress:
        result = next_experiment.of(run, nodes, callback=progress if len(run.nodes) > _SEVERAL else None)
    if arguments.format == "json":
        say_json(plain(_as_json(result)))
    elif arguments.format == "csv":
        write(spreadsheets.to_csv(_as_rows(result)))
    else:
        _print(result)


def _as_json(result: Next) -> dict[str, object]:
    pairs = {node: rows.drop(columns="node").to_dict("records") for node, rows in result.pairs.groupby("node")}
    nodes = [{**row, "pairs": pairs[row["node"]]} for row in result.nodes.to_dict("records")]
    return {"open": result.open, "graphs": result.graphs, "are_all_graphs": result.is_exact, "nodes": nodes}


def _as_rows(result: Next) -> pd.DataFrame:
    pairs = result.pairs.rename(columns={name: f"pair_{name}" for name in ("settled", "settled_if_hidden", "rows")})
    return result.nodes.drop(columns="pairs").merge(pairs, on="node", sort=False)


def _print(result: Next) -> None:
    if not result.open:
        say(NOTHING_OPEN)
        return
    graphs = f"{how_many(result.graphs, 'compatible graph')}{'' if result.is_exact else ' drawn'}"
    say(f"{how_many(result.open, 'open direction')}, {graphs}.")
    by_node = dict(list(result.pairs.groupby("node")))
    for row in result.nodes.head(_MOST_NODES).itertuples():
        numbers = f"settles {row.settled:.1f} ({row.settled_if_hidden:.1f} whatever is hidden)"
        rows = rows_in_words(row)
        say(f"  {short(row.node)}  {numbers}{f', rows per arm {rows}' if rows else ''}")
        pairs = [_pair(pair) for pair in by_node[row.node].itertuples()]
        say(sentence(f"    {listed(pairs, _MOST_PAIRS)}"))
    if result.nodes.empty:
        say("Setting these nodes would settle none of them.")
    if len(result.nodes) > _MOST_NODES:
        say(f"  {len(result.nodes) - _MOST_NODES:,} more nodes: --format json lists them all.")
    say(
        "Settled on average over the graphs that the rows leave, if there are no hidden common causes; and of these, "
        "whatever is hidden. Rows per arm: for a power of .8 to see the predicted change of an open neighbour.",
        to=sys.stderr,
    )


def _pair(pair: Any) -> str:
    """An edge, and in which share of the graphs it is settled unless in all of them."""
    suffix = "" if pair.settled == 1 else f" (in {of_graphs(pair.settled)} of the graphs)"
    return f"{short(pair.parent)} -- {short(pair.child)}{suffix}"
