"""Designs of the model class: controls, and tables that show the power and how it grows with the rows."""

from typing import Any

import numpy as np
from numpy.random import Generator

from benchmarks.misled.design import IN_CLASS, POWER, Design, Drawn, dag, grown, simulated


def of_class(random: Generator, **design: Any) -> Drawn:
    """A table of the model class (`disco.simulate`). Right: the true directions, as many as before."""
    return simulated(random, **design)


def nearly_of_class(random: Generator, rows: int) -> Drawn:
    """Negative binomial counts whose variance is 1.4 times their mean: nearly of the class, so that misfit grows with
    the rows and stays small beside the evidence. Right: the true directions, never fewer with more rows."""
    graph, dispersion = dag(random, 30, 57), 0.4

    def law(parents: np.ndarray) -> np.ndarray:
        means = 0.2 + np.logaddexp(0.0, 0.5 + 0.45 * parents.sum(axis=1))
        return random.poisson(random.gamma(means / dispersion, dispersion))

    return Drawn(grown(graph, rows, law), graph.edges)


def _own(edges: list[tuple[int, int]]) -> dict[str, Any]:
    """Options of a graph with these edges, by the numbers of its nodes."""
    return {"graph": "own", "edges": tuple((f"x{a}", f"x{b}") for a, b in edges), "rows": 2000}


_POISSON, _NB, _BINOMIAL = "poisson-softplus", "nb-softplus", "binomial-sigmoid"
NB, NEARLY_NB = "d 30, NB", "d 30, nearly NB"  # one graph per seed, with more and more rows
_CONTROLS: dict[str, dict[str, Any]] = {
    "d 6, ER1, Poisson, 500 rows": {"nodes": 6, "k": 1, "rows": 500},
    "d 6, ER2, NB": {"nodes": 6, "k": 2, "rows": 2000, "family": _NB},
    "d 8, ER1, NB, 1,000 rows": {"nodes": 8, "k": 1, "rows": 1000, "family": _NB},
    "d 8, SF1, binomial": {"nodes": 8, "graph": "sf", "k": 1, "rows": 2000, "family": _BINOMIAL},
    "d 12, ER1, binomial": {"nodes": 12, "k": 1, "rows": 3000, "family": _BINOMIAL},
    "d 12, ER2, Poisson": {"nodes": 12, "k": 2, "rows": 2000},
    "d 12, ER3, NB": {"nodes": 12, "k": 3, "rows": 3000, "family": _NB},
    "d 12, SF2, Poisson, 1,000 rows": {"nodes": 12, "graph": "sf", "k": 2, "rows": 1000},
    "d 12, ER2, three families": {"nodes": 12, "k": 2, "rows": 2000, "family": f"{_POISSON},{_NB},{_BINOMIAL}"},
    "d 12, ER2, Poisson, unsortable": {"nodes": 12, "k": 2, "rows": 3000, "unsortable": True},
    "d 10, one hub with nine children": _own([(1, child) for child in range(2, 11)]),
    "d 10, two hubs with shared children": _own([(hub, child) for hub in (1, 2) for child in range(3, 11)]),
    "d 9, a child with five parents": _own([*((parent, 6) for parent in range(1, 6)), (6, 7), (7, 8), (8, 9)]),
    "d 6, ER3: all pairs joined": {"nodes": 6, "graph": "complete", "rows": 2000},
    "d 12, ER2, Poisson, bimodal sources": {"nodes": 12, "k": 2, "rows": 2000, "sources": "bimodal"},
    "d 12, ER2, NB, zero-inflated sources": {"nodes": 12, "k": 2, "family": _NB, "sources": "zero-inflated"},
    "d 8, ER1, geometric": {"nodes": 8, "k": 1, "rows": 2000, "family": "geometric"},
    "d 12, ER2, exponential link": {"nodes": 12, "k": 2, "rows": 2000, "family": "poisson-exp"},
    "d 20, ER1, NB": {"nodes": 20, "k": 1, "rows": 2000, "family": _NB},
    "d 20, ER3, Poisson": {"nodes": 20, "k": 3, "rows": 3000},
    "d 20, SF3, NB": {"nodes": 20, "graph": "sf", "k": 3, "rows": 2000, "family": _NB},
    "d 20, ER2, binomial": {"nodes": 20, "k": 2, "rows": 3000, "family": _BINOMIAL},
}
_LARGE: dict[str, Any] = {"nodes": 50, "k": 3, "rows": 5000}
_POWER: dict[str, dict[str, Any]] = {
    "d 50, Poisson": _LARGE,
    "d 50, NB": {**_LARGE, "family": _NB},
    "d 50, binomial": {**_LARGE, "family": _BINOMIAL},
    "d 50, unsortable": {**_LARGE, "unsortable": True},
}
_ROWS = (2000, 8000, 32_000, 128_000)

DESIGNS = (
    *(Design(name, IN_CLASS, of_class, design) for name, design in _CONTROLS.items()),
    *(Design(name, POWER, of_class, design) for name, design in _POWER.items()),
    *(
        Design(f"{NB}, {rows:,} rows", POWER, of_class, {"nodes": 30, "k": 2, "rows": rows, "family": _NB}, stream=NB)
        for rows in _ROWS
    ),
    *(
        Design(f"{NEARLY_NB}, {rows:,} rows", POWER, nearly_of_class, {"rows": rows}, stream=NEARLY_NB)
        for rows in _ROWS
    ),
)
