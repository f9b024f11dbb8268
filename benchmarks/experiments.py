"""Directions from experiments: arms, hidden causes, arms without effect, contexts, and other methods beside ours.

    python -m benchmarks.experiments                          # what results/experiments.jsonl lacks
    python -m benchmarks.experiments --only "tree" --methods refined --seeds 2 --results /tmp/trial.jsonl
    python -m benchmarks.experiments --summary                # of the existing lines

One line per table and method: the case, and counts of its edges (`Tally`). No bootstrap, no folds. *refined* is ours,
*controls* the same without the arms.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, fields
from multiprocessing import Pool
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch

from benchmarks import contexts
from benchmarks.directed_choose import CHOOSE
from benchmarks.directed_report import REPORT
from benchmarks.paper_results import append_line, lines
from disco.errors import InputError
from disco.experiments import contrasts, learnt
from disco.graph import CLASS
from disco.methods import find
from disco.metrics import f1
from disco.refine import Choice, refine
from disco.simulate import Design, simulate
from disco.table.prepared import prepare
from disco.table.roles import Roles

RESULTS = Path(__file__).parent / "results" / "experiments.jsonl"
OURS = ("refined", "controls")
OTHERS = ("gies", "gnies", "boss")
KINDS = ("set", "shift")
LIMIT = 300  # seconds for a method of others
SEEDS = 10

_EVEN = "arms without effect"

Line = dict[str, Any]


class Drawn(NamedTuple):
    """A table with its truth: columns parent, child and direction; the roles; the nodes that an arm sets."""

    table: pd.DataFrame
    truth: pd.DataFrame
    roles: Roles
    targets: list[str]


@dataclass(frozen=True)
class Case:
    """Tables of one kind, by seed, and how many."""

    draw: Callable[[int], Drawn]
    seeds: int = SEEDS
    methods: tuple[str, ...] = (*OURS, *OTHERS)


def of_design(design: Design) -> Callable[[int], Drawn]:
    """The tables of a design."""

    def draw(seed: int) -> Drawn:
        drawn = simulate(design.replace(seed=seed))
        targets = [design.names[node] for node in drawn.arms.nodes]
        return Drawn(drawn.whole, drawn.truth, drawn.design.roles() or Roles(), targets)

    return draw


def of_tree(design: Design) -> Callable[[int], Drawn]:
    """The tables of a design on random trees without colliders, in which each node's parent is a random earlier one."""

    def draw(seed: int) -> Drawn:
        rng, names = np.random.default_rng(seed), design.names
        edges = [(names[rng.integers(child)], names[child]) for child in range(1, design.nodes)]
        return of_design(design.replace(graph="own", edges=edges))(seed)

    return draw


def hidden(is_cause: bool) -> Callable[[int], Drawn]:
    """h → x, h → y, y → z, and perhaps x → y; h is left out, and an arm sets x."""
    edges = (("h", "x"), ("h", "y"), ("y", "z"), *([("x", "y")] if is_cause else []))
    design = Design(graph="own", edges=edges, names=("h", "x", "y", "z"), family="poisson-softplus", rows=3000)

    def draw(seed: int) -> Drawn:
        drawn = of_design(design.replace(interventions=["x"]))(seed)
        kept = drawn.truth[(drawn.truth[["parent", "child"]] != "h").all(axis=1)]
        return drawn._replace(table=drawn.table.drop(columns="h"), truth=kept)

    return draw


def without_effect(seed: int) -> Drawn:
    """A real table with three random tenths of its rows as arms of three columns."""
    tables = (*CHOOSE, *REPORT)
    counts = tables[seed % len(tables)].table()
    rng = np.random.default_rng(seed)
    chosen = [str(column) for column in rng.permutation(counts.columns)[:3]]
    tenth = max(len(counts) // 10, 10)
    labels = np.repeat(["", *chosen], [len(counts) - tenth * len(chosen), *[tenth] * len(chosen)])
    table = counts.assign(arm=rng.permutation(labels))
    nothing = pd.DataFrame(columns=["parent", "child", "direction"])
    return Drawn(table, nothing, Roles({"arm": "intervention"}), chosen)


def _cases() -> dict[str, Case]:
    """Every case by its name."""
    found = {}
    for kind in KINDS:
        for family in ("discrete-normal", "binomial-logit"):
            for k in (5, 10, 20):
                tree = Design(rows=5000, family=family, interventions=k, intervention_kind=kind)
                found[f"{family} tree, {k} {kind}"] = Case(of_tree(tree))
        for k in (1, 3, 5):
            # A shift of 3 moves the share of a binary node from .5 to .95, about as far as the quantiles of the others.
            binary = Design(
                graph="complete", nodes=5, rows=5000, family="ising", interventions=k, intervention_kind=kind
            )
            found[f"ising, {k} {kind}"] = Case(of_design(binary.replace(intervention_effect=3)))
    for name, family in {"Poisson": "poisson-softplus", "NB": "nb-softplus", "binomial": "binomial-sigmoid"}.items():
        wide = Design(k=3, nodes=50, rows=5000, family=family, interventions=10)
        found[f"ER3 {name}, 10 set"] = Case(of_design(wide))
    found["hidden cause, x → y"] = Case(hidden(True), 50)
    found["hidden cause, no x → y"] = Case(hidden(False), 50)
    found[_EVEN] = Case(without_effect, 100, ("refined",))
    return found


CASES = _cases()

SECTION = """
# Experiments

Not in the paper: which directions the refinement decides with arms in which one node each is set, or its mean shifted,
beside 5,000 rows without an intervention (250 rows per arm). In the trees and the binary models no direction can be
known without an experiment. *Controls*: ours without the arms' rows. GIES knows what an arm sets, GnIES looks for it,
both on log(1 + x); BOSS has the controls. `python -m benchmarks.experiments`
"""


def key(line: Line) -> tuple[str, str, int]:
    """The key of a line; of lines with the same key, the last one counts."""
    return line["case"], line["method"], line["seed"]


def kept(path: Path) -> dict[tuple[str, str, int], Line]:
    """The lines of a file by key."""
    return {key(line): line for line in lines(path.read_bytes())} if path.exists() else {}


def measure(case: str, method: str, seed: int) -> Line:
    """One method on one table."""
    began = time.perf_counter()
    if case in contexts.CASES:
        told = contexts.measure(case, method, seed)
        return {"case": case, "method": method, "seed": seed, "seconds": round(time.perf_counter() - began, 2)} | told
    drawn = CASES[case].draw(seed)
    began = time.perf_counter()
    found = _ours(drawn, method) if method in OURS else _others(drawn, method)
    line = {"case": case, "method": method, "seed": seed, "seconds": round(time.perf_counter() - began, 2)}
    if "failed" in found:
        return line | found
    told = {"f1": round(f1(drawn.truth, found["pairs"]), 4), **asdict(counted(drawn, found["edges"]))}
    return line | (_contrasted(drawn) if case == _EVEN else told)


def _ours(drawn: Drawn, method: str) -> Line:
    """Our edges: parent, child, the source of the direction; and the pairs in their likelier direction."""
    table, roles = drawn.table, drawn.roles
    if method == "controls":
        arm = table[roles.named("intervention")[0]]
        table, roles = table[arm.isin(["", "control"])].drop(columns=arm.name), None
    edges = refine(table, Choice(bootstrap=0, folds=0), roles=roles).edges
    return {"edges": edges[["parent", "child", "source"]].to_numpy().tolist(), "pairs": edges[["parent", "child"]]}


def _others(drawn: Drawn, method: str) -> Line:
    """Another method's edges: parent, child, "class" if it gives a direction, "" if not; and all pairs, both ways."""
    try:
        with contexts.limited(LIMIT):
            outcome = find(method, drawn.table, roles=drawn.roles)
    except (InputError, TimeoutError) as error:
        return {"failed": str(error)}
    edges = [[*pair, CLASS] for pair in outcome.directed] + [[*pair, ""] for pair in outcome.undirected]
    return {"edges": edges, "pairs": pd.DataFrame(outcome.pairs, columns=["parent", "child"])}


def _contrasted(drawn: Drawn) -> Line:
    """The contrasts of arms without effect: how many, how many false, and the rules that follow."""
    given = prepare(drawn.table, drawn.roles)
    shown = contrasts(given)
    rules = learnt(shown, list(given.counts.columns)).rules
    return {
        "contrasts": int(shown["p_value"].notna().sum()),
        "false": int(shown["changed"].sum()),
        "rules": 0 if rules is None else int(rules.before.sum() + rules.forbidden.sum()),
    }


@dataclass(frozen=True)
class Tally:
    """Counts of the edges of a table, by the joined pairs of columns.

    Attributes:
        edges: true edges.
        joined: true edges whose pair is joined.
        decided, true: pairs with a direction, and those of them that are true edges in this direction.
        wrong: pairs with a direction that are true edges in the other direction.
        at, settled: joined true edges with an end that an arm sets, and those of them with a direction.
    """

    edges: int
    joined: int
    decided: int
    true: int
    wrong: int
    at: int
    settled: int


def counted(drawn: Drawn, edges: Iterable[Sequence[str]]) -> Tally:
    """The counts of a table's edges: parent, child, and what gives the direction, or nothing."""
    truth = set(drawn.truth[["parent", "child"]].itertuples(index=False, name=None))
    found = [(parent, child, source != "") for parent, child, source in edges]
    joined = [(*pair, is_sure) for *pair, is_sure in found if {tuple(pair), tuple(pair[::-1])} & truth]
    at = [is_sure for *pair, is_sure in joined if {*pair} & {*drawn.targets}]
    sure = [tuple(pair) for *pair, is_sure in found if is_sure]
    true, wrong = (sum(pair in truth for pair in pairs) for pairs in (sure, [pair[::-1] for pair in sure]))
    return Tally(len(truth), len(joined), len(sure), true, wrong, len(at), sum(at))


HEAD = ("case", "method", "tables", "true edges", "joined", "decided", "true", "reversed", "true of decided")
HEAD += ("at a target", "decided there", "share", "F1", "seconds")


def table(found: Iterable[Line]) -> str:
    """Markdown: what was decided, one row per case and method; then the arms without effect, then the contexts."""
    found = list(found)
    of_contexts = [line for line in found if line["case"] in contexts.CASES]
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in (line for line in found if line["case"] not in contexts.CASES):
        groups.setdefault((line["case"], line["method"]), []).append(line)
    places = {name: place for place, name in enumerate((*CASES, *OURS, *OTHERS))}
    grid, failed, even = [HEAD, ("---",) * len(HEAD)], [], []
    for (case, method), group in sorted(groups.items(), key=lambda item: [places.get(name, 999) for name in item[0]]):
        ended = [line for line in group if "failed" not in line]
        failed += [f"- {case}, {method}, seed {line['seed']}: {line['failed']}." for line in group if "failed" in line]
        if case == _EVEN:
            even = ended
        elif ended:
            grid.append((case, method, str(len(ended)), *_cells(ended)))
    rows = ["| " + " | ".join(cells) + " |" for cells in grid]
    more = [*([_even(even)] if even else []), *(["", "Not ended:", "", *failed] if failed else [])]
    return "\n".join([*rows, *more, *(["", contexts.table(of_contexts)] if of_contexts else [])])


def _cells(ended: list[Line]) -> tuple[str, ...]:
    """The cells of a case and a method after their number of tables."""
    sums = {item.name: sum(line[item.name] for line in ended) for item in fields(Tally)}
    shares = [
        f"{sums[part] / sums[whole]:.1%}" if sums[whole] else ""
        for part, whole in (("true", "decided"), ("settled", "at"))
    ]
    quality, seconds = (statistics.fmean(line[name] for line in ended) for name in ("f1", "seconds"))
    counts = [str(sums[name]) for name in ("edges", "joined", "decided", "true", "wrong")]
    at = (str(sums["at"]), str(sums["settled"]), shares[1])
    return (*counts, shares[0], *at, f"{quality:.3f}", f"{seconds:.1f}")


def _even(ended: list[Line]) -> str:
    """The sentence on arms without effect."""
    false, every, rules = (sum(line[name] for line in ended) for name in ("false", "contrasts", "rules"))
    return (
        f"\nArms without any effect, random rows of {len(ended)} real tables: {false} false contrasts of {every:,} "
        f"({false / every:.2%}), {rules} rules."
    )


def section(path: Path = RESULTS) -> str:
    """The tables of a file's lines, as a file of benchmarks/paper/."""
    found = list(kept(path).values())
    return "\n\n".join([SECTION.strip(), table(found) if found else "Not run yet."])


def main(arguments: list[str] | None = None) -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], help="only cases whose names have one of these in them")
    parser.add_argument("--methods", nargs="+", default=[*OURS, *OTHERS, *contexts.METHODS], help="only these methods")
    parser.add_argument("--seeds", type=int, nargs="+", help="only these seeds")
    parser.add_argument("--again", action="store_true", help="also what has a line")
    parser.add_argument("--processes", type=int, default=1, help="tables at a time, one thread each")
    parser.add_argument("--summary", action="store_true", help="run nothing")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    names = [
        name for name in (*CASES, *contexts.CASES) if not options.only or any(part in name for part in options.only)
    ]
    done = {} if options.again else kept(options.results)
    wanted = [
        job
        for job in (() if options.summary else jobs(names))
        if job[1] in options.methods and (options.seeds is None or job[2] in options.seeds) and job not in done
    ]
    with Pool(options.processes, torch.set_num_threads, (1,)) if options.processes > 1 else nullcontext() as pool:
        for line in map(_measured, wanted) if pool is None else pool.imap_unordered(_measured, wanted):
            append_line(options.results, line)
            print(f"{', '.join(map(str, key(line)))}: {line['seconds']} s", flush=True)
    print(table(line for line in kept(options.results).values() if line["case"] in names))


def _measured(job: tuple[str, str, int]) -> Line:
    return measure(*job)


def jobs(names: Iterable[str] = (*CASES, *contexts.CASES)) -> Iterator[tuple[str, str, int]]:
    """Every requested line: case, method, seed."""
    for name in names:
        seeds, methods = (
            (SEEDS, contexts.METHODS) if name in contexts.CASES else (CASES[name].seeds, CASES[name].methods)
        )
        for seed in range(seeds):
            yield from ((name, method, seed) for method in methods)


if __name__ == "__main__":
    main()
