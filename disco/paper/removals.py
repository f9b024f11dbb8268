"""The decision at each step of the ordering, from its scores.

Step t has the remaining nodes R, their scores in every held-out fold, and the minimiser of the mean over folds, which
is removed as a sink (paper, *DAG Recovery*). With knowledge it is the minimiser among those that may be last; if that
is another node, the runner-up is the minimiser among all, the margin is negative and the ratio below 1.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from disco.columns import FREE, NO_SOURCE, PAIR
from disco.words import number

CLOSE = 1.1  # a rival below this multiple of the smallest score could equally have been removed


@dataclass(frozen=True)
class Decision:
    """One removal.

    Attributes:
        step: from 1.
        remaining: number of remaining nodes, including the removed one.
        sink, score: the removed node and its score, the mean over folds.
        runner_up: the node with the next smallest score.
        margin: the runner-up's score minus the sink's.
        ratio: the runner-up's score divided by the sink's, at least 1 unless the rules chose the sink.
        folds_agreeing: number of folds in which the sink has the smallest score.
    """

    step: int
    remaining: int
    sink: str
    score: float
    runner_up: str
    margin: float
    ratio: float
    folds_agreeing: int
    folds: int

    def sentence(self, score: str = "CCS", write: Callable[[str], str] = str) -> str:
        """What rules decided against the scores, in words; `write` makes a name safe for their destination."""
        return (
            f"The rules make {write(self.sink)} the sink, with a {score} of {number(self.score)}; "
            f"{write(self.runner_up)} has the smallest, {number(self.score + self.margin)}, but cannot be last."
        )


def positions_of(column: pd.Series, names: Sequence[str]) -> np.ndarray:
    """The position of each cell among some names, −1 if it is none of them; each name is looked up once."""
    which, cells = pd.factorize(column)
    index = {name: number for number, name in enumerate(names)}
    return np.array([*(index.get(name, -1) for name in cells), -1])[which]


def all_steps(ccs: pd.DataFrame) -> pd.DataFrame:
    """One row per removal, in order of the steps, with the fields of `Decision` as columns.

    `ccs` has the columns step, remaining, node, fold, score, chosen.
    """
    means = ccs.groupby(["step", "node"], sort=False)["score"].mean().reset_index()
    means = means.sort_values(["step", "score"], kind="stable")
    best = means.groupby("step", sort=True).nth(0).set_index("step")
    second = means.groupby("step", sort=True).nth(1).set_index("step")
    sinks = ccs[ccs["chosen"].astype(bool)].drop_duplicates("step").set_index("step")
    table = pd.DataFrame({"remaining": sinks["remaining"], "sink": sinks["node"]}).sort_index()
    table["score"] = means.set_index(["step", "node"])["score"].reindex(list(table["sink"].items())).to_numpy()
    # With tied smallest means, the removed node may be the second row of the sorted means.
    is_best = best["node"].reindex(table.index) == table["sink"]
    table["runner_up"] = np.where(is_best, second["node"].reindex(table.index), best["node"].reindex(table.index))
    next_score = np.where(is_best, second["score"].reindex(table.index), best["score"].reindex(table.index))
    table["margin"] = next_score - table["score"]
    with np.errstate(divide="ignore", invalid="ignore"):
        table["ratio"] = np.where(next_score == table["score"], 1.0, next_score / table["score"])
    lowest = ccs.loc[ccs.groupby(["step", "fold"])["score"].idxmin()]
    agreeing = lowest["chosen"].astype(bool).groupby(lowest["step"]).sum()
    table["folds_agreeing"] = agreeing.reindex(table.index).fillna(0).astype(int)
    table["folds"] = ccs["fold"].nunique()
    return table.reset_index()


def step_of(steps: pd.DataFrame, step: int) -> Decision:
    """One row of `all_steps`."""
    row = steps[steps["step"] == step].iloc[0]
    return Decision(**{name: row[name].item() if hasattr(row[name], "item") else row[name] for name in row.index})


def directions(ccs: pd.DataFrame, edges: pd.DataFrame) -> pd.DataFrame:
    """Whether the direction of each edge along an order is known, by the step that removed the child.

    `ccs` has the columns step, remaining, node, fold, score, chosen. The parents of `edges` stand before their children
    in the order.

    Returns:
        `edges` with ratio (the parent's mean score over the child's at that step), folds_agreeing (folds in which the
        parent's score is larger), folds, and decided: all folds agree and the ratio is at least 1.1, or knowledge or an
        experiment fixes the direction.
    """
    chosen = ccs.loc[ccs["chosen"].astype(bool), ["step", "node"]].drop_duplicates("step")
    removed = chosen.set_index("node")["step"]
    step, names = edges["child"].map(removed).to_numpy(int), ccs["node"].unique().tolist()
    requested = {end: step * len(names) + positions_of(edges[end], names) for end in ("parent", "child")}
    row = ccs["step"].to_numpy() * len(names) + positions_of(ccs["node"], names)  # of step and node
    is_needed = np.zeros(row.max(initial=0) + 1, dtype=bool)
    is_needed[[*requested["parent"], *requested["child"]]] = True
    few = ccs[["fold", "score"]].assign(row=row)[is_needed[row]]
    scores = few.set_index(["row", "fold"])["score"].unstack("fold")
    folds = np.sort(ccs["fold"].unique())
    of_parent, of_child = (scores.reindex(requested[end], columns=folds).to_numpy() for end in ("parent", "child"))
    agreeing, ratio = (of_parent > of_child).sum(axis=1), of_parent.mean(axis=1) / of_child.mean(axis=1)
    is_known = (agreeing == len(folds)) & (ratio >= CLOSE) | _is_fixed(edges)
    return edges.assign(ratio=ratio, folds_agreeing=agreeing, folds=len(folds), decided=is_known)


def _is_fixed(edges: pd.DataFrame) -> np.ndarray:
    """Whether knowledge or an experiment fixes the direction, by the edge's rule and source, if any, (edges,)."""
    free = pd.Series({"rule": FREE, "source": NO_SOURCE})
    marks = edges.reindex(columns=free.index)
    return (marks.notna() & marks.ne(free)).any(axis=1).to_numpy()


def with_decided(edges: pd.DataFrame, ccs: pd.DataFrame, searched: pd.DataFrame | None = None) -> pd.DataFrame:
    """A fit's edges with `decided`, whether the direction of each is known.

    It must be clear in the fit's steps (`directions`) and, if the same table was searched by likelihood (`searched`:
    parent, child, decided), decided there. Between nodes not joined there, only knowledge or an experiment decides it.
    """
    is_known = directions(ccs, edges)["decided"]
    if searched is not None:
        pairs, joined = pd.MultiIndex.from_frame(edges[[*PAIR]]), pd.MultiIndex.from_frame(searched[[*PAIR]])
        is_joined = pairs.isin(joined) | pairs.isin(joined.swaplevel())
        is_known &= pairs.isin(joined[searched["decided"].astype(bool)]) | ~is_joined & _is_fixed(edges)
    return edges.assign(decided=is_known)


def fold_scores(ccs: pd.DataFrame, step: int) -> pd.DataFrame:
    """The scores of one step, one row per node and one column per fold, (nodes, folds)."""
    return ccs[ccs["step"] == step].pivot(index="node", columns="fold", values="score")


def true_sinks(remaining: Collection[str], edges: pd.DataFrame) -> list[str]:
    """The remaining nodes without a true child among them, by the true edges, columns parent and child."""
    sinks = set(remaining)
    parents = set(edges.loc[edges["parent"].isin(sinks) & edges["child"].isin(sinks), "parent"])
    return [node for node in remaining if node not in parents]
