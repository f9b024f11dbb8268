"""Graphs with next to no edges: when a graph is one, and what the OCS would keep by another rule.

The paper's rule asks a parent to stand far above the child's other candidates. Few can where candidates are few, where
many of them are parents, or where the joint network has lost curvature: an empty graph then tells of the rule, not of
the table.
"""

import pandas as pd

from disco.parents.ocs import own_thresholds, select, with_z
from disco.settings import Settings

LOWER = (1.0, 1.0)  # (τ_Z, π_min) that the paper's own comparison finds better than its default, in three families


def is_sparse(edges: int, nodes: int) -> bool:
    """Whether a graph has fewer edges than half as many as nodes, so that some node is alone."""
    return 2 * edges < nodes


def other_rules(ocs: pd.DataFrame, settings: Settings, rule: str, edges: int) -> dict[str, int]:
    """What keeps more of the candidates than the present graph does: `jackknife` or `lower` → edges.

    Args:
        ocs: every candidate: fold, parent, child, ocs, curvature where it is known, z.
        settings: of the fit.
        rule: the present one, iqr or jackknife.
        edges: of the present graph.
    """
    if rule == "jackknife":
        return {}
    found = {"lower": len(select(with_z(ocs, "iqr"), *LOWER))}
    if "curvature" in ocs:
        folds = with_z(ocs, "jackknife")
        found["jackknife"] = len(select(folds, *own_thresholds(folds, settings.replace(parent_rule="jackknife"))))
    return {name: count for name, count in found.items() if count > edges}
