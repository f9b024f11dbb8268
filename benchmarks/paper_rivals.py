"""Rows of the paper's tables by other methods (`disco.methods`): what they are told, and what is read from them.

An undirected edge counts as an edge in both directions. If it joins a true pair, that is one true and one false
positive, so SHD counts one error and F1 half a hit.

    pip install -r benchmarks/requirements.txt
"""

import dataclasses
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmarks.paper_data import Cohort, Known
from disco.errors import InputError, ScoreUnavailable
from disco.found import Found
from disco.methods import METHODS, find, options_of
from disco.metrics import Edges, a_top, edge_jaccard, evaluate, order_agreement, shd
from disco.simulate import Design, Simulated, simulate
from disco.studies.lahman import R7, R17
from disco.table.artefacts import ARTEFACTS
from disco.words import duration

if TYPE_CHECKING:
    from benchmarks.paper_rows import Method, Row


LIMIT = 4 * 3600  # seconds of a method, the paper's


def told(drawn: Simulated) -> dict[str, Any]:
    """The options of ODS with the true family of every node, and its parameter.

    Raises:
        InputError: a node is of another family than Poisson, negative binomial and binomial.
    """
    given = drawn.design.parameters
    known = {
        "poisson": ["poisson"],
        "nb": ["nb", given.get("size", 6)],
        "binomial": ["binomial", given.get("trials", 50)],
    }
    if strange := sorted({family for family in drawn.families.values() if family.split("-")[0] not in known}):
        raise InputError(f"ODS cannot be told the family {strange[0]}.")
    return {"families": {name: known[family.split("-")[0]] for name, family in drawn.families.items()}}


def options_for(name: str, row: "Row", seed: int) -> dict[str, Any]:
    """The options with which a method runs on a row, where they differ from its own.

    Raises:
        InputError: it is to be told families that no method knows.
    """
    options = dict(row.options)
    if "seed" in {item.name for item in dataclasses.fields(options_of(name))}:
        options["seed"] = seed
    if name == "ods-oracle" and isinstance(row.source, Design):
        options |= told(simulate(row.source.replace(seed=seed)))
    return options


def read_rival(row: "Row", method: "Method", known: Known, seed: int) -> dict[str, Any]:
    """A row by another method: its metrics, or the comparison of two if the row is of two.

    Raises:
        InputError: a package is not installed, or the table cannot be used.
        ScoreUnavailable: a method would take longer than `LIMIT`.
    """
    table = row.seen_table(known)
    names = row.rivals if method.is_own else (method.rival,)
    if (seconds := max(METHODS[name].seconds(*table.shape) for name in names)) > LIMIT:
        raise ScoreUnavailable(f"about {duration(seconds)} on one core by its estimate, above the limit of 4 h")
    found = [find(name, table, options_for(name, row, seed), dismissed=ARTEFACTS) for name in names]
    if len(found) == 2:
        return {**compared(*found), "controls": None}
    if isinstance(row.source, Cohort):
        return agreement(found[0], table)
    return measured(found[0], known.truth, known.table)


def measured(found: Found, truth: Edges, table: pd.DataFrame) -> dict[str, Any]:
    """A result compared with the truth; `undirected` is the number of edges without direction."""
    values = evaluate(truth, order=found.order, edges=found.likelier, table=table)
    return {**values, "undirected": len(found.undirected)}


def agreement(found: Found, table: pd.DataFrame) -> dict[str, Any]:
    """Agreement of an order with both references of Lahman, its edges, and the controls' agreement with the seven."""
    sorted_controls = evaluate(R7, table=table)["controls"]
    agreed = {"r7": a_top(found.order, R7), "r17": a_top(found.order, R17)} if found.order else {}
    return {**agreed, "edges": len(found.edges), "controls": sorted_controls}


def compared(one: Found, other: Found) -> dict[str, Any]:
    """Agreement of two orders, Jaccard index and SHD of two graphs."""
    same = order_agreement(one.order or (), other.order or ())
    return {
        "agreement": same,
        "jaccard": edge_jaccard(one.edges, other.edges),
        "shd": shd(one.edges, other.edges),
    }
