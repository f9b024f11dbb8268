"""python -m benchmarks.many_columns: time, memory and accuracy of a refinement by the number of columns.

Each in a process of its own: ER1, Poisson, 2,000 rows, with 50 bootstrap tables. One line per number of columns goes to
`results/many-columns.jsonl`. `--summary` prints all lines and the exponents of growth, `--plot` draws them
(`many-columns.svg`, with Chromium and playwright as `benchmarks.screenshot`).
"""

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pandas as pd
import plotly.graph_objects as go
from playwright.sync_api import sync_playwright
from plotly.subplots import make_subplots

from benchmarks.machine import describe
from benchmarks.screenshot import browser_path
from disco.fields import whole
from disco.figures.theme import BLUE, layout
from disco.metrics import f1
from disco.refine import Choice, refine
from disco.simulate import Design, simulate

RESULTS = Path(__file__).parent / "results" / "many-columns.jsonl"
PICTURE = Path(__file__).parent / "many-columns.svg"
_DRAWN = {"seconds": "seconds", "own_mb": "peak memory beyond that of a small refinement, MB"}
_WIDTH, _HEIGHT, _TICKS = 900, 360, [10, 30, 100, 300, 1000, 3000, 10000]
_ROWS, _FROM, _TO = 2000, 200, 2000  # growth is told between these numbers of columns


@dataclass(frozen=True)
class Many(Design):
    """A design of more nodes than a laboratory needs."""

    nodes: int = whole(1000, within=(2, 100_000))


def main() -> None:
    """Run what is asked for, or print what is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", default="200,500,1000,2000,5000,10000")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("--plot", action="store_true")
    arguments = parser.parse_args()
    if arguments.alone:
        print(json.dumps(measured(int(arguments.nodes), arguments.seed)))
        return
    if not (arguments.summary or arguments.plot):
        for nodes in arguments.nodes.split(","):
            command = [sys.executable, "-m", "benchmarks.many_columns", "--alone", "--nodes", nodes]
            done = subprocess.run([*command, "--seed", str(arguments.seed)], stdout=subprocess.PIPE, check=True)
            with open(RESULTS, "ab") as file:
                file.write(done.stdout)
            print(done.stdout.decode(), end="", flush=True)
    lines = map(json.loads, RESULTS.read_text().splitlines())
    known = {line["nodes"]: {**line, "own_mb": line["peak_mb"] - line["before_mb"]} for line in lines}
    _summarise(known)
    if arguments.plot:
        PICTURE.write_text(_drawn(_plot(known)) + "\n")


def measured(nodes: int, seed: int) -> dict[str, Any]:
    """One result line."""
    with ProcessPoolExecutor(1, get_context("spawn")) as apart:  # drawing needs more memory than the refinement
        table, truth = apart.submit(_table, nodes, seed).result()
    refine(table.iloc[:, :10], Choice(folds=0))  # compiles
    before, began = _peak(), time.monotonic()
    result = refine(table, Choice(folds=0))
    seconds = time.monotonic() - began
    true, found = (list(frame[["parent", "child"]].itertuples(index=False)) for frame in (truth, result.edges))
    pairs, skeleton = ({frozenset(edge) for edge in edges} for edges in (true, found))
    both = len(pairs & skeleton)
    return {
        "nodes": nodes,
        "seed": seed,
        "seconds": round(seconds, 1),
        "peak_mb": round(_peak()),
        "before_mb": round(before),
        "edges": len(found),
        "f1": f1(true, found),
        "skeleton_precision": both / max(len(skeleton), 1),
        "skeleton_recall": both / max(len(pairs), 1),
        "machine": describe(),
    }


def _table(nodes: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A table, and its true edges."""
    made = simulate(Many(nodes=nodes, k=1, rows=_ROWS, family="poisson-softplus", seed=seed))
    return made.table, made.truth


def _peak() -> float:
    """The largest memory of this process so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _summarise(known: dict[int, dict[str, Any]]) -> None:
    names = ("nodes", "seconds", "peak_mb", "own_mb", "f1", "skeleton_precision", "skeleton_recall")
    print("| " + " | ".join(names) + " |")
    for _, line in sorted(known.items()):
        print(
            "| " + " | ".join(f"{line[name]:,.3g}" if name[0] in "fs" else f"{line[name]:,}" for name in names) + " |"
        )
    if {_FROM, _TO} <= set(known):
        for name in _DRAWN:
            print(f"{name} grow with the exponent {_exponent(known, name):.2f}")


def _exponent(known: dict[int, dict[str, Any]], name: str) -> float:
    """Of the growth between two numbers of columns."""
    return math.log(known[_TO][name] / known[_FROM][name]) / math.log(_TO / _FROM)


def _plot(known: dict[int, dict[str, Any]]) -> go.Figure:
    """Time and memory by the number of columns, on logarithmic axes."""
    nodes = sorted(known)
    figure = make_subplots(1, 2, subplot_titles=list(_DRAWN.values()), horizontal_spacing=0.1)
    for at, name in enumerate(_DRAWN, 1):
        values = [known[one][name] for one in nodes]
        marks = {
            "marker": {"color": BLUE, "size": 8},
            "line": {"color": BLUE},
            "text": [f"{one:,.0f}" for one in values],
        }
        figure.add_scatter(
            x=nodes, y=values, mode="lines+markers+text", textposition="top left", row=1, col=at, **marks
        )
        slope = f"exponent {_exponent(known, name):.2f} from {_FROM:,} to {_TO:,}"
        place = {"xref": "x domain", "yref": "y domain", "x": 0.98, "y": 0.05, "xanchor": "right"}
        figure.add_annotation(text=slope, showarrow=False, row=1, col=at, **place)
        span = [math.log10(values[0] / 2), math.log10(values[-1] * 2)]
        figure.update_yaxes(type="log", range=span, tickvals=_TICKS, tickformat=",", row=1, col=at)
    layout(figure, height=_HEIGHT, legend=False, x=None, y=None)
    span = [math.log10(nodes[0] / 1.6), math.log10(nodes[-1] * 1.3)]
    figure.update_xaxes(type="log", title="columns", tickvals=nodes, tickformat=",", range=span)
    return figure.update_layout(showlegend=False, width=_WIDTH, margin={"l": 60, "r": 10, "t": 40, "b": 50})


def _drawn(figure: go.Figure) -> str:
    """A figure as SVG, by a browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        page = browser.new_page()
        page.set_content(figure.to_html(include_plotlyjs=True))
        options = {"format": "svg", "width": _WIDTH, "height": _HEIGHT}
        address = page.evaluate("o => Plotly.toImage(document.querySelector('.js-plotly-plot'), o)", options)
        browser.close()
    return unquote(address.partition(",")[2])


if __name__ == "__main__":
    main()
