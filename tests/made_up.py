"""Results written by hand: run folders as after a finished fit, but without networks."""

import json
from dataclasses import asdict

import numpy as np
import pandas as pd

from disco import runs
from disco.columns import CLASS, NO_SOURCE
from disco.graph.result import GraphResult
from disco.paper.ocs import select, tidy
from disco.paper.settings import Settings
from disco.refine import Choice, Refined
from disco.refine.bounds import BOUND, MISFIT
from disco.refine.edge_evidence import decided
from disco.refine.refinement_result import EDGE_COLUMNS
from disco.runs import digests
from disco.subjects import FIT
from disco.subjects.fit import results
from disco.subjects.refinement import refined

HOSTILE = ["A", "<script>alert(1)</script>", "**bold** $x$", '"q" & co', "B_2", "a_name_longer_than_an_axis_has_room"]


def of_an_older_version(run: runs.Run) -> runs.Run:
    """The same run without digests, whose files can be exchanged."""
    for path in [*run.path.rglob("*.json")]:
        if path.name == digests.FILE:
            path.unlink()
        elif path.name in ("settings.json", "refined.json", "result.json", "artefacts.json", "refined_check.json"):
            values = json.loads(path.read_text())
            path.write_text(
                json.dumps({name: value for name, value in values.items() if not name.startswith("digest")})
            )
    return runs.Run(run.path)


def ordering(order: list[str], folds: int = 3, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """CCS and criteria in which the last remaining node of the order always has the smallest mean."""
    rng = np.random.default_rng(seed)
    scores, criteria = [], []
    for step in range(1, len(order)):
        left = order[: len(order) - step + 1]
        values = np.exp(rng.normal(0.0, 0.3, (len(left), folds))) * 0.1
        values[-1] *= 0.6 * values.mean(axis=1).min() / values[-1].mean()
        for place, node in enumerate(left):
            for fold in range(folds):
                value = values[place, fold]
                scores.append((step, len(left), node, fold + 1, value, place == len(left) - 1))
                criteria.append((step, node, fold + 1, value, value * 1.1, value * 3, value * 4))
    names = ["step", "node", "fold", "ccs_clipped", "ccs_admissible", "constant_clipped", "constant_admissible"]
    ccs = pd.DataFrame(scores, columns=["step", "remaining", "node", "fold", "score", "chosen"])
    return ccs, pd.DataFrame(criteria, columns=names)


def candidates(order: list[str], folds: int = 3, seed: int = 0) -> pd.DataFrame:
    """OCS in which each node's first candidate is clearly the largest."""
    rng = np.random.default_rng(seed)
    found = {}
    for place in range(1, len(order)):
        values = rng.gamma(3.0, 0.01, (folds, place))
        values[:, 0] += 0.3
        found[order[place]] = values
    return tidy(found, found, order)


def curvature(levels: int, within: float, rows: int = 600, seed: int = 0) -> pd.DataFrame:
    """Curvature that falls with the rank and spreads by `within` around it."""
    rng = np.random.default_rng(seed)
    rank = rng.integers(0, levels, rows)
    columns = {"fold": rng.integers(1, 4, rows), "row": np.arange(1, rows + 1), "rank": rank}
    values = -np.log1p(rank) + rng.normal(0.0, within, rows)
    return pd.DataFrame({**columns, "curvature": values, "admissible": rank + 2 < levels})


CHAIN = "chain"
COLUMNS = (
    "parent child gain_nats log_likelihood_nats bic_nats direction_nats robust_nats linear_nats spread_nats "
    "decided source class_decides p_value folds bootstrap"
)


def finished_run(
    nodes: int | list[str],
    name: str = "made up",
    settings: Settings | None = None,
    truth: str | None | list[tuple[str, ...]] = CHAIN,
    teaching: bool = False,
    table: pd.DataFrame | None = None,
) -> runs.Run:
    """A run that reads as done.

    Args:
        table: its counts; by default 60 rows.
        truth: its true edges, with or without direction; None if they are not known; by default the chain along the
            order.
    """
    order = [f"x{k}" for k in range(1, nodes + 1)] if isinstance(nodes, int) else list(nodes)
    chosen = settings or Settings.of("paper", joint_epochs=1, projection_epochs=1, width=8)
    if table is None:
        table = pd.DataFrame(np.random.default_rng(0).poisson(3.0, (60, len(order))), columns=order)
    pairs = list(zip(order[:-1], order[1:], strict=True)) if truth == CHAIN else truth
    names = ["parent", "child", "direction"][: len(pairs[0]) if pairs else 2]
    edges = None if pairs is None else pd.DataFrame(pairs, columns=names, dtype="str")
    run = runs.create_run(table, chosen, name=name, truth=edges, teaching=teaching)
    ccs, criteria = ordering(order)
    ocs = candidates(order)
    results._frames(run.path, order, ccs, criteria, ocs, select(ocs, chosen.tau_z, chosen.pi_min))
    run.update(FIT, state="done", progress=1.0)
    return run


def edges_of(rows: list[tuple]) -> pd.DataFrame:
    """A refinement's edges from the values of `COLUMNS`, with .5 in columns that were declared since."""
    frame = pd.DataFrame(rows, columns=COLUMNS.split())
    return frame.assign(**{name: 0.5 for name in EDGE_COLUMNS if name not in frame})[list(EDGE_COLUMNS)]


def evidence(edges: list[tuple[str, str]], bound: float = BOUND) -> pd.DataFrame:
    """Edges with evidence falling from 200 nats; every third direction is undecided."""
    many = len(edges)
    gain = 200.0 * 0.8 ** np.arange(many)
    direction = np.where(np.arange(many) % 3 == 2, 1.5, gain / 3 + bound)
    robust = np.minimum(direction, gain / 4 + bound)
    parent, child = zip(*edges, strict=True) if edges else ((), ())
    ends = {"parent": pd.Series(parent, dtype="str"), "child": pd.Series(child, dtype="str"), "gain_nats": gain}
    nats = {"log_likelihood_nats": gain + 4, "bic_nats": gain - 3, "direction_nats": direction, "robust_nats": robust}
    rest = {"linear_nats": 0.5, "spread_nats": 0.5, "decided": direction >= bound, "p_value": np.exp(-gain)}
    rest |= {"source": np.where(rest["decided"], CLASS, NO_SOURCE), "class_decides": rest["decided"]}
    shares = {"folds": np.ones(many), "bootstrap": 1.0 - 0.5 * np.arange(many) / max(many, 1)}
    frame = pd.DataFrame({**ends, **nats, **rest, **shares})
    return frame.assign(**{name: 0.5 for name in EDGE_COLUMNS if name not in frame})


def refine_by_hand(
    run: runs.Run,
    order: list[str] | None = None,
    edges: list[tuple[str, str]] | None = None,
    misfit: dict[str, float] | None = None,
    choice: Choice | None = None,
) -> runs.Run:
    """Give a run a refinement without a search.

    Args:
        order: the refined order; by default that of the columns.
        edges: edges along it, strongest first; by default the chain.
        misfit: node → nats, for the nodes that have any.
    """
    before, order = list(run.table().columns), order or list(run.table().columns)
    pairs = list(zip(order[:-1], order[1:], strict=True)) if edges is None else edges
    ends = {"CCS order": (-300.0, -120.0, -103.0), "by mean": (-260.0, -101.5), "restart 1": (-104.0, -100.0)}
    starts = [(start, k, score) for start, scores in ends.items() for k, score in enumerate(scores, start=1)]
    place = {node: k for k, node in enumerate(before, start=1)}
    rows = [
        (node, place[node], k, np.nan if place[node] == k else 3.0 * k + 1.0) for k, node in enumerate(order, start=1)
    ]
    choice = choice or Choice()
    nats = np.array([(misfit or {}).get(node, 0.0) for node in before])
    nodes = pd.DataFrame({"node": before, "levels": 9, "misfit_nats": nats, "misfit_per_row": nats / len(run.table())})
    told = evidence(pairs, choice.bound)
    nodes["is_poor"] = ~(nats < MISFIT)
    numbered = told.assign(**{end: told[end].map(before.index) for end in ("parent", "child")})
    told["decided"] = decided(numbered, nats, np.full(len(before), 9), choice.bound, set())
    told = told.assign(source=np.where(told["decided"], CLASS, NO_SOURCE), class_decides=told["decided"])
    found = Refined(
        GraphResult(order, told, choices=asdict(choice), misfit=nodes),
        pd.DataFrame(starts, columns=["start", "sweep", "score"]), "restart 1", -100.0, 3 * len(order), 50,
        pd.DataFrame(rows, columns=["node", "before", "after", "gain_nats"]),
    )  # fmt: skip # a table
    refined.save(run.path, found, choice)
    return run
