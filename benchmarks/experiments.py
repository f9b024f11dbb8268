"""Directions from experiments: arms, hidden causes, arms without effect, contexts, and rivals.

    python -m benchmarks.experiments --processes 2            # what results/experiments.jsonl lacks
    python -m benchmarks.experiments --only "tree.*refined, seed [01]$" --results /tmp/trial.jsonl
    python -m benchmarks.experiments --summary                # of the existing lines

One line per table and method: the case, and counts of its edges (`counted`). No bootstrap, no folds. *refined* is ours,
*controls* the same without the arms; the lines of *gies*, *gnies* and *boss* are from commit 327893a2. The cases of
contexts are in `benchmarks.contexts`.
"""

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks import contexts
from benchmarks.directed import HALVES
from benchmarks.study import COUNTS, Line, Study, grouped, markdown, share, timed, total
from disco.experiments import contrasts, learnt
from disco.metrics import f1
from disco.refine import Choice, refine
from disco.simulate import Design, simulate
from disco.table.prepared import prepare
from disco.table.roles import Roles

METHODS = ("refined", "controls")
ORDER = (*METHODS, "gies", "gnies", "boss")
KINDS = ("set", "shift")
SEEDS = 10
_NO_EFFECT = "arms without effect"
COUNTED = ("edges", "joined", "decided", "true", "wrong", "at", "settled")


class ArmTable(NamedTuple):
    """A table with its truth: columns parent, child and direction; the roles; the nodes that an arm sets."""

    table: pd.DataFrame
    truth: pd.DataFrame
    roles: Roles
    targets: list[str]


@dataclass(frozen=True)
class Case:
    """Tables of one kind, by seed, and how many."""

    draw: Callable[[int], ArmTable]
    seeds: int = SEEDS
    methods: tuple[str, ...] = METHODS


def of_design(design: Design) -> Callable[[int], ArmTable]:
    """The tables of a design."""

    def draw(seed: int) -> ArmTable:
        drawn = simulate(design.replace(seed=seed))
        targets = [design.names[node] for node in drawn.arms.nodes]
        return ArmTable(drawn.whole, drawn.truth, drawn.design.roles() or Roles(), targets)

    return draw


def of_tree(design: Design) -> Callable[[int], ArmTable]:
    """The tables of a design on random trees."""
    return lambda seed: of_design(contexts.on_tree(design, seed))(seed)


def hidden(is_cause: bool) -> Callable[[int], ArmTable]:
    """h → x, h → y, y → z, and perhaps x → y; h is left out, and an arm sets x."""
    edges = (("h", "x"), ("h", "y"), ("y", "z"), *([("x", "y")] if is_cause else []))
    design = Design(graph="own", edges=edges, names=("h", "x", "y", "z"), family="poisson-softplus", rows=3000)

    def draw(seed: int) -> ArmTable:
        drawn = of_design(design.replace(interventions=["x"]))(seed)
        truth = drawn.truth[(drawn.truth[["parent", "child"]] != "h").all(axis=1)]
        return drawn._replace(table=drawn.table.drop(columns="h"), truth=truth)

    return draw


def without_effect(seed: int) -> ArmTable:
    """A real table with three random tenths of its rows as arms of three columns."""
    tables = [table for half in HALVES.values() for table in half]
    counts = tables[seed % len(tables)].table()
    rng = np.random.default_rng(seed)
    chosen = [str(column) for column in rng.permutation(counts.columns)[:3]]
    tenth = max(len(counts) // 10, 10)
    labels = np.repeat(["", *chosen], [len(counts) - tenth * len(chosen), *[tenth] * len(chosen)])
    table = counts.assign(arm=rng.permutation(labels))
    nothing = pd.DataFrame(columns=["parent", "child", "direction"])
    return ArmTable(table, nothing, Roles({"arm": "intervention"}), chosen)


def _cases() -> dict[str, Case]:
    cases = {}
    for kind in KINDS:
        for family in ("discrete-normal", "binomial-logit"):
            for k in (5, 10, 20):
                tree = Design(rows=5000, family=family, interventions=k, intervention_kind=kind)
                cases[f"{family} tree, {k} {kind}"] = Case(of_tree(tree))
        for k in (1, 3, 5):
            # A shift of 3 moves the share of a binary node from .5 to .95, about as far as the quantiles of counts.
            binary = Design(
                graph="complete", nodes=5, rows=5000, family="ising", interventions=k, intervention_kind=kind
            )
            cases[f"ising, {k} {kind}"] = Case(of_design(binary.replace(intervention_effect=3)))
    for name, family in COUNTS.items():
        wide = Design(k=3, nodes=50, rows=5000, family=family, interventions=10)
        cases[f"ER3 {name}, 10 set"] = Case(of_design(wide))
    cases["hidden cause, x → y"] = Case(hidden(True), 50)
    cases["hidden cause, no x → y"] = Case(hidden(False), 50)
    cases[_NO_EFFECT] = Case(without_effect, 100, ("refined",))
    return cases


CASES = _cases()

SECTION = """
# Experiments

Not in the paper: which directions the refinement decides with arms in which one node each is set, or its mean shifted,
beside 5,000 rows without an intervention (250 rows per arm). In the trees and the binary models no direction can be
known without an experiment. *Controls*: ours without the arms' rows. GIES knows what an arm sets, GnIES looks for it,
both on log(1 + x); BOSS has the controls. `python -m benchmarks.experiments`
"""


def measure(case: str, method: str, seed: int) -> Line:
    """One method on one table."""
    line = {"case": case, "method": method, "seed": seed}
    if case in contexts.CASES:
        counts, seconds = timed(contexts.measure, case, method, seed)
        return {**line, "seconds": seconds, **counts}
    drawn = CASES[case].draw(seed)
    edges, seconds = timed(_edges, drawn, method)
    counts = counted(drawn, edges[["parent", "child", "source"]].to_numpy().tolist())
    counts = _contrasted(drawn) if case == _NO_EFFECT else {"f1": round(f1(drawn.truth, edges), 4), **counts}
    return {**line, "seconds": seconds, **counts}


def _edges(drawn: ArmTable, method: str) -> pd.DataFrame:
    """The refined edges in their likelier direction."""
    table, roles = drawn.table, drawn.roles
    if method == "controls":
        arm = table[roles.named("intervention")[0]]
        table, roles = table[arm.isin(["", "control"])].drop(columns=arm.name), None
    return refine(table, Choice(bootstrap=0, folds=0), roles=roles).edges


def _contrasted(drawn: ArmTable) -> Line:
    """The contrasts of arms without effect: how many, how many false, and the rules that follow."""
    prepared = prepare(drawn.table, drawn.roles)
    frame = contrasts(prepared)
    rules = learnt(frame, list(prepared.counts.columns)).rules
    return {
        "contrasts": int(frame["p_value"].notna().sum()),
        "false": int(frame["changed"].sum()),
        "rules": 0 if rules is None else int(rules.before.sum() + rules.forbidden.sum()),
    }


def counted(drawn: ArmTable, edges: Iterable[Sequence[str]]) -> dict[str, int]:
    """The counts of a table's edges by the joined pairs of columns.

    Args:
        drawn: the table.
        edges: parent, child, and what gives the direction, or nothing.

    Returns:
        edges: true edges. joined: those whose pair is joined. decided: pairs with a direction. true, wrong: those of
        them that are true edges in this direction, or in the other. at, settled: joined true edges with an end that an
        arm sets, and those of them with a direction.
    """
    truth = set(drawn.truth[["parent", "child"]].itertuples(index=False, name=None))
    results = [((parent, child), source != "") for parent, child, source in edges]
    joined = [(pair, is_sure) for pair, is_sure in results if {pair, pair[::-1]} & truth]
    at = [is_sure for pair, is_sure in joined if {*pair} & {*drawn.targets}]
    sure = [pair for pair, is_sure in results if is_sure]
    true, wrong = sum(pair in truth for pair in sure), sum(pair[::-1] in truth for pair in sure)
    return dict(zip(COUNTED, (len(truth), len(joined), len(sure), true, wrong, len(at), sum(at)), strict=True))


HEAD = ("case", "method", "tables", "true edges", "joined", "decided", "true", "reversed", "true of decided")
HEAD += ("at a target", "decided there", "share", "F1", "seconds")


def table(measured: list[Line]) -> str:
    """Markdown: what was decided, one row per case and method; then the arms without effect, then the contexts."""
    of_contexts = [line for line in measured if line["case"] in contexts.CASES]
    lines = [line for line in measured if line["case"] not in contexts.CASES]
    groups = grouped((line for line in lines if "failed" not in line), ("case", "method"), (*CASES, *ORDER))
    no_effect = [line for line in lines if line["case"] == _NO_EFFECT]
    rows = [(*key, len(group), *_cells(group)) for key, group in groups.items() if key[0] != _NO_EFFECT]
    sections = [markdown(HEAD, rows), *([_contrast_sentence(no_effect)] if no_effect else [])]
    sections += contexts.failures(lines, (*CASES, *ORDER))
    return "\n\n".join(sections + ([contexts.table(of_contexts)] if of_contexts else []))


def _cells(group: list[Line]) -> Iterator[object]:
    sums = {name: total(group, name) for name in COUNTED}
    yield from (sums[name] for name in ("edges", "joined", "decided", "true", "wrong"))
    yield share(sums["true"], sums["decided"])
    yield from (sums["at"], sums["settled"], share(sums["settled"], sums["at"]))
    yield f"{statistics.fmean(line['f1'] for line in group):.3f}"
    yield f"{statistics.fmean(line['seconds'] for line in group):.1f}"


def _contrast_sentence(group: list[Line]) -> str:
    false, every, rules = (total(group, name) for name in ("false", "contrasts", "rules"))
    return (
        f"Arms without any effect, random rows of {len(group)} real tables: {false} false contrasts of {every:,} "
        f"({false / every:.2%}), {rules} rules."
    )


def jobs() -> Iterator[tuple[str, str, int]]:
    """Every line: case, method, seed; the methods of a table are consecutive."""
    cases = {**CASES, **dict.fromkeys(contexts.CASES, Case(without_effect, SEEDS, contexts.METHODS))}
    for name, case in cases.items():
        yield from ((name, method, seed) for seed in range(case.seeds) for method in case.methods)


STUDY = Study("experiments", ("case", "method", "seed"), jobs, measure, table, SECTION)

if __name__ == "__main__":
    raise SystemExit(STUDY.main(__doc__))
