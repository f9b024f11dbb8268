"""Graphs with almost no edges: detection, and the number of edges that another rule would keep.

The paper's rule keeps a parent only if its OCS is far above those of the child's other candidates. That is rare if
there are few candidates, if many of them are parents, or if the joint network has lost curvature. Then the rule causes
an empty graph, not the table.
"""

import pandas as pd

from disco.paper.ocs import own_thresholds, select, with_z
from disco.paper.settings import Settings

LOWER = (1.0, 1.0)  # (τ_Z, π_min): better than the default in the paper's own comparison, in three families


def is_sparse(edges: int, nodes: int) -> bool:
    """Whether a graph has fewer than half as many edges as nodes, so that some node has no edge."""
    return 2 * edges < nodes


def other_rules(ocs: pd.DataFrame, settings: Settings, rule: str, edges: int) -> dict[str, int]:
    """The rules that select more edges than the current graph: `jackknife` or `lower` → number of edges.

    Args:
        ocs: every candidate: fold, parent, child, ocs, curvature if present, z.
        rule: the current rule, iqr or jackknife.
        edges: number of edges in the current graph.
    """
    if rule == "jackknife":
        return {}
    edge_counts = {"lower": len(select(with_z(ocs, "iqr"), *LOWER))}
    if "curvature" in ocs:
        folds = with_z(ocs, "jackknife")
        edge_counts["jackknife"] = len(select(folds, *own_thresholds(folds, settings.replace(parent_rule="jackknife"))))
    return {name: count for name, count in edge_counts.items() if count > edges}
