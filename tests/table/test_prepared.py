"""One front door: whatever is wrong with a table, every public function says it in the same sentence."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from disco import DISCO, fitting, metrics
from disco.effects.graph_fits import FittedGraphs
from disco.errors import FitStopped, InputError
from disco.hidden import all_artefacts as hidden
from disco.knowledge import Knowledge
from disco.likelihood.model import Model
from disco.likelihood.model_check import check
from disco.methods import METHODS, diffan, find, general, interventional, mrs, notears, ods, ours, sorting
from disco.methods import cont as disco_cont
from disco.methods.general import Options as General
from disco.methods.likelihoods import usable
from disco.metrics import evaluate
from disco.paper.fitted_networks import Fitted
from disco.paper.ranks import transform_table
from disco.paper.settings import Settings
from disco.progress import Reporter
from disco.refine import refine
from disco.refine.again import adjusted, costs
from disco.selectors import cam, evidence, pcm, selection
from disco.table import artefacts, counts, dispersion, guesses, identifiers, quality, relations, rows, thinning
from disco.table.adjustment import Adjustment
from disco.table.cells import as_frame, names_of
from disco.table.prepared import as_numbers, finite, is_continuous, no_counts, prepare

COUNTS = pd.DataFrame(np.random.default_rng(0).poisson([[3.0, 5.0, 4.0, 6.0]] * 40), columns=list("abcd"))
SMALL = {"joint_epochs": 1, "joint_steps": 0, "projection_epochs": 1, "projection_steps": 0, "width": 8}
CPU = torch.device("cpu")


def stop(event: object) -> bool:
    """The callback of an accepted table: no nasty one may come so far."""
    return False


def names(table: object) -> list[str]:
    """A causal order of the table, if it is one."""
    return names_of(as_frame(table)) if _is_table(table) else []


def edge(table: object) -> list[list[str]]:
    """One true edge among its columns, if it has any."""
    return [(names(table) + ["a", "b"])[:2]]


def around(table: object) -> Adjustment:
    """The adjustment of as many rows as the table has."""
    return Adjustment(len(table) if _is_table(table) else 0)


def _is_table(table: object) -> bool:
    return isinstance(table, pd.DataFrame) or (isinstance(table, np.ndarray) and table.ndim == 2)


def by(name: str) -> Callable:
    """A method run on a table through `find`."""
    return lambda table: find(name, table, callback=stop)


Entries = dict[str, Callable[[object], object]]

# A graph is looked for in the counts: at least two columns, none constant.
GRAPHS: Entries = {
    "disco.estimator.DISCO.fit": lambda table: DISCO("tuned", "cpu", **SMALL).fit(table, callback=stop),
    "disco.fitting.fit": lambda table: fitting.fit(table, Settings.of(**SMALL), CPU, callback=stop),
    "disco.paper.fitted_networks.Fitted.restore": lambda table: Fitted.restore(table, Settings(), {}, CPU),
    "disco.refine.refinement.refine": lambda table: refine(table, callback=stop),
    "disco.refine.again.adjusted": lambda table: adjusted(table, around(table), callback=stop),
    "disco.refine.again.costs": lambda table: costs(table, Knowledge(), callback=stop),
    "disco.effects.graph_fits.FittedGraphs.of_dag": lambda table: FittedGraphs.of_dag(nx.DiGraph(), table),
    "disco.methods.ours.find": lambda table: ours.find(table, ours.Options("likelihood"), callback=stop),
    "disco.methods.sorting.find": lambda table: sorting.find(table, sorting.Options()),
    "disco.methods.ods.find": lambda table: ods.find(table, ods.Options(), callback=stop),
    "disco.methods.mrs.find": lambda table: mrs.find(table, mrs.Options(), callback=stop),
    "disco.methods.general.find": lambda table: general.find(table, General("boss"), callback=stop),
    "disco.methods.interventional.find": lambda t: interventional.find(t, interventional.Options(), callback=stop),
    "disco.methods.notears.find": lambda table: notears.find(table, notears.Options(), callback=stop),
    "disco.methods.likelihoods.usable": lambda table: usable(table, "ODS"),
    "disco.methods.dispatch.find": by("sort-mean"),
    **{f"find {name}": by(name) for name, method in METHODS.items() if not method.numbers and method.installed},
    "disco.table.counts.as_counts": counts.as_counts,
    "disco.table.prepared.prepare": prepare,
}

# Counts of any size are used as they are, constant columns too.
WHOLE: Entries = {
    "disco.table.quality.quality": quality.quality,
    "disco.table.quality.doubts": quality.doubts,
    "disco.hidden.all_artefacts.artefacts": hidden.artefacts,
    "disco.hidden.all_artefacts.looked_for": hidden.looked_for,
    "disco.hidden.all_artefacts.begun": hidden.begun,
    "disco.table.artefacts.plain_artefacts": artefacts.plain_artefacts,
    "disco.table.relations.relations": relations.relations,
    "disco.table.thinning.thinned": lambda table: thinning.thinned(table, 0.5),
    "disco.table.thinning.halves": thinning.halves,
    "disco.paper.ranks.transform_table": lambda table: transform_table(table, Settings()),
    "disco.likelihood.model.Model.of": lambda table: Model.of(table, {}, reporter=Reporter(stop, {"": 1.0}, "")),
    "disco.likelihood.model_check.check": lambda table: check(table, {"one": {}}, callback=stop),
    "disco.selectors.evidence.edges": lambda table: evidence.edges(table, names(table), callback=stop),
    "disco.selectors.selection.candidates": lambda table: selection.candidates("cam", table, names(table), Settings()),
}

# Any finite numbers will do.
NUMBERS: Entries = {
    "disco.selectors.cam.edges": lambda table: cam.edges(table, names(table)),
    "disco.selectors.pcm.edges": lambda table: pcm.edges(table, names(table), trees=0),
    "disco.metrics.orders.order_by_mean": metrics.order_by_mean,
    "disco.metrics.orders.order_by_variance": metrics.order_by_variance,
    "disco.metrics.orders.order_by_excess": metrics.order_by_excess,
    "disco.metrics.orders.controls": lambda table: metrics.controls(table, edge(table)),
    "disco.metrics.evaluate": lambda table: evaluate(edge(table), table=table),
    "disco.table.prepared.finite": finite,
}
NUMBERS_OF_GRAPHS: Entries = {
    "disco.methods.diffan.find": lambda table: diffan.find(table, diffan.Options(epochs=1, width=8), callback=stop),
    "disco.methods.cont.find": lambda table: disco_cont.find(table, disco_cont.Options(epochs=1), callback=stop),
    "find diffan": by("diffan"),
    "find disco-cont": by("disco-cont"),
    "disco.table.prepared.as_numbers": as_numbers,
}

# What looks at a table as it was loaded and says what is wrong with it: it refuses only what is no table.
LOOKING: Entries = {
    "disco.table.cells.columns_of": lambda table: list(counts.columns_of(table)),
    "disco.table.counts.problems": counts.problems, "disco.table.counts.describe": counts.describe,
    "disco.table.prepared.is_continuous": is_continuous, "disco.table.prepared.no_counts": no_counts,
    "disco.table.dispersion.spreads": dispersion.spreads,
    "disco.table.identifiers.identifiers": identifiers.identifiers,
    "disco.table.guesses.guesses": guesses.guesses, "disco.table.rows.proposal": rows.proposal,
    "disco.table.cells.as_frame": as_frame,
}  # fmt: skip # a table

# What only gets a table that one of those has checked.
INSIDE = {
    "disco.paper.fitted_networks": {"by_name"},
    "disco.fitting": {"fingerprint"},
    "disco.likelihood.covariates": {"on_grids"},
    "disco.likelihood.model": {"Model.held_out", "Model.row_log_likelihood"},  # tried below
    "disco.metrics.precision_recall": {"at_threshold"},  # of accuracies
    "disco.paper.ocs": {"allowed", "passes"},  # a table of edges
    "disco.selectors.selection": {"check", "rows_of"},
    "disco.selectors.smooths": {"in_order"},
    "disco.refine.settling": {"next_experiment"},  # beside a finished refinement of the same table, as the next two
    "disco.refine.fitted_graphs": {"fitted_graphs"},
    "disco.refine.over_time": {"over_time"},
    "disco.refine.refinement_result": {"Refined.effect"},
    "disco.methods.isolated": {"find_apart"},  # which calls `find` elsewhere
    "disco.methods.cont": {"order"},
    "disco.methods.diffan": {"begun", "logged", "standardised"},
    "disco.methods.general": {"standardised"},
    "disco.hidden.all_artefacts": {"kinds_as_column"},  # says that this table has none
    "disco.paper.ranks": {"check_split"},
}
COUNTING = {**GRAPHS, **WHOLE}
ANY = {**COUNTING, **NUMBERS, **NUMBERS_OF_GRAPHS}


def with_cell(cell: object, row: int = 6, column: int = 2) -> pd.DataFrame:
    """The good table with one cell replaced, in a column of Python's own objects."""
    cells = COUNTS.iloc[:, column].astype(object).tolist()
    cells[row] = cell
    return COUNTS.assign(**{COUNTS.columns[column]: pd.Series(cells, dtype=object)})


def with_column(values: object) -> pd.DataFrame:
    return COUNTS.assign(c=values)


def called(*labels: object) -> pd.DataFrame:
    return COUNTS.set_axis(pd.Index(labels, dtype=object), axis=1)


# What nobody can use.
BAD = {
    "missing": with_column(COUNTS["c"].where(COUNTS.index != 6)),
    "infinite": with_column(COUNTS["c"].where(COUNTS.index != 6, np.inf)),
    "minus infinite": with_column(COUNTS["c"].where(COUNTS.index != 6, -np.inf)),
    "NA": with_column(COUNTS["c"].astype("Int64").where(COUNTS.index != 6)), "None": with_cell(None),
    "text": with_cell("many"), "a number as text": with_column(COUNTS["c"].astype(str)), "true": with_cell(True),
    "a date": with_cell(pd.Timestamp("2020-01-02")), "dates": with_column(pd.date_range("2020-01-02", periods=40)),
    "a list": with_cell([1, 2]), "a dict": with_cell({"one": 1}), "an array": with_cell(np.array([1, 2])),
    "one complex": with_cell(1j), "complex": with_column(COUNTS["c"] + 1j), "endless": with_cell(Decimal("1e400")),
    "duplicate": called("a", "b", "c", "a"), "1 twice": called("a", "b", 1, "1"),
    "empty name": called("a", "b", "c", ""), "blank name": called("a", " ", "c", "d"),
    "no name": called("a", "b", None, "d"), "no row": COUNTS.head(0), "no column": COUNTS[[]],
    "list": COUNTS.to_numpy().tolist(), "tuple": ((1, 2), (3, 4)), "dict": COUNTS.to_dict("list"), "nothing": None,
    "words": "counts.csv", "series": COUNTS["a"], "number": 3, "0-D": np.array(3), "1-D": np.arange(40),
    "3-D": np.zeros((40, 4, 2), dtype=int),
}  # fmt: skip # a table
# What is no count.
UNCOUNTED = {
    "negative": with_column(COUNTS["c"].where(COUNTS.index != 6, -2)),
    "fractional": with_column(COUNTS["c"].where(COUNTS.index != 6, 1.5)),
    "a fraction": with_cell(Fraction(1, 3)),
    "a decimal fraction": with_cell(Decimal("1.5")),
    "a long fraction": with_cell(Decimal("8328914320584737.4")),
    "2^53": with_column(COUNTS["c"].where(COUNTS.index != 6, 2**53 + 1)),
    "an object of 2^53": with_cell(2**53 + 1),
    "uint64": with_column(COUNTS["c"].astype("uint64").where(COUNTS.index != 6, np.iinfo(np.uint64).max)),
}
# Of which not even the variance can be computed.
HUGE = {
    "1e300": with_column(COUNTS["c"].astype(float).where(COUNTS.index != 6, 1e300)),
    "10^400": with_cell(10**400),
    "-10^400": with_cell(-(10**400)),
    "10^5000": with_cell(10**5000),
}
# What holds no graph.
LONE = {"one column": COUNTS[["a"]], "constant": with_column(7)}
GOOD = {
    "counts": COUNTS, "array": COUNTS.to_numpy(), "Int64": COUNTS.astype("Int64"), "uint8": COUNTS.astype("uint8"),
    "float": COUNTS.astype(float), "objects": COUNTS.astype(object),
    "decimals": COUNTS.map(lambda count: Decimal(int(count))).astype(object), "truths": with_column(COUNTS["c"] > 4),
    "categories": with_column(COUNTS["c"].astype("category")), "numbers as names": COUNTS.set_axis(range(4), axis=1),
    "an index": COUNTS.set_axis([7] * 40),
}  # fmt: skip # a table


def said(call: Callable[[object], object], table: object) -> str | None:
    """The sentence with which a table is refused; None if it is accepted."""
    try:
        call(table)
    except InputError as error:
        return str(error)
    except (FitStopped, KeyError) as error:  # stopped as asked; `restore` misses the weights
        assert isinstance(error, FitStopped) or error.args == ("fold_of_row",), error
    return None


def is_sentence(text: str | None) -> bool:
    return text is not None and re.fullmatch(r'["A-Z0-9].*\.', text) is not None


def only(entries: Entries, table: object) -> str | None:
    """What all entries say of a table."""
    takes = {name: call for name, call in entries.items() if table is not None or name != "disco.metrics.evaluate"}
    found = {name: said(call, table) for name, call in takes.items()}
    assert len(set(found.values())) == 1, found
    return next(iter(found.values()))


@pytest.mark.parametrize("case", BAD)
def test_what_nobody_can_use_is_refused_everywhere_in_the_same_sentence(case):
    assert is_sentence(only(ANY, BAD[case])), case
    if not _is_table(BAD[case]):
        assert only(ANY | LOOKING, BAD[case]).startswith("A table is a DataFrame or a two-dimensional array of numbers")
    else:
        for name, call in LOOKING.items():
            assert said(call, BAD[case]) is None, name


@pytest.mark.parametrize("case", UNCOUNTED)
def test_what_is_no_count_is_refused_where_counts_are_needed(case):
    assert is_sentence(only(COUNTING, UNCOUNTED[case]))
    assert only(NUMBERS, UNCOUNTED[case]) is None and as_numbers(UNCOUNTED[case]).shape == (40, 4)


@pytest.mark.parametrize("case", HUGE)
def test_a_huge_number_is_refused_in_a_sentence(case):
    assert only(COUNTING, HUGE[case]).endswith("Correct the table, or leave the column out.")
    assert "squares are too large" in only({**NUMBERS, **NUMBERS_OF_GRAPHS}, HUGE[case])


@pytest.mark.parametrize("case", LONE)
def test_what_holds_no_graph_is_refused_where_one_is_looked_for(case):
    assert is_sentence(only({**GRAPHS, **NUMBERS_OF_GRAPHS}, LONE[case]))
    of_graphs = {
        "disco.likelihood.model.Model.of",
        "disco.likelihood.model_check.check",
        "disco.selectors.evidence.edges",
    }
    for name, call in {**WHOLE, **NUMBERS}.items():
        if name not in of_graphs and len(names(LONE[case])) > 1:
            assert said(call, LONE[case]) is None, name


NEEDED = ("missing: pip install", "give a column the role intervention")
HEAVY = {"disco.estimator.DISCO.fit", "disco.paper.method.fit", "disco.methods.interventional.find"}
HEAVY |= {f"find {name}" for name in METHODS}


@pytest.mark.parametrize("case", GOOD)
def test_a_table_in_any_form_is_read_as_the_same_counts(case):
    prepared = prepare(GOOD[case])
    expected = np.where(COUNTS.columns == "c", COUNTS > 4, COUNTS) if case == "truths" else COUNTS
    assert np.array_equal(prepared.counts, expected) and prepared.counts.dtypes.eq("int64").all()
    assert all(isinstance(name, str) for name in prepared.counts) and list(prepared.counts.index) == list(range(40))
    for name, call in (ANY if case == "counts" else {**COUNTING, **NUMBERS}).items():
        if case == "counts" or name not in HEAVY:
            assert not (text := said(call, GOOD[case])) or any(needed in text for needed in NEEDED), name


CELLS = st.one_of(
    st.sampled_from([None, np.nan, pd.NA, pd.NaT, True, "", "3", "1e5", b"3", 1j, object(), (), {1}, 2**64, -(2**70)]),
    st.integers(-(2**70), 2**70), st.floats(), st.decimals(allow_nan=False), st.fractions(), st.text(max_size=5),
    st.dates(), st.lists(st.integers(), max_size=2),
)  # fmt: skip # a table


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)
@given(cell=CELLS, row=st.integers(0, 39), column=st.integers(0, 3), entry=st.sampled_from(sorted(COUNTING)))
def test_any_cell_is_a_count_or_refused_in_the_sentence_of_the_door(cell, row, column, entry):
    table = with_cell(cell, row, column)
    expected = said(prepare, table)
    assert expected is None or is_sentence(expected)
    if expected is not None:
        assert said(COUNTING[entry], table) == expected
        return
    counts = prepare(table).counts
    assert counts.iloc[row, column] == cell and 0 <= cell < 2**53
    assert entry in HEAVY or not (text := said(COUNTING[entry], table)) or any(needed in text for needed in NEEDED)


def test_every_public_function_with_a_table_is_tried():
    found = set()
    for folder in "estimator fitting paper likelihood metrics effects selectors refine methods hidden".split():
        first = importlib.import_module(f"disco.{folder}")
        inner = pkgutil.walk_packages(getattr(first, "__path__", []), f"{first.__name__}.")
        modules = [first, *(importlib.import_module(one.name) for one in inner)]
        for module in modules:
            for name, public in vars(module).items():
                if name.startswith("_") or getattr(public, "__module__", "") != module.__name__:
                    continue
                parts = {name: public}
                if inspect.isclass(public):
                    parts = {f"{name}.{part}": getattr(public, part) for part in vars(public) if part[0] != "_"}
                found |= {f"{module.__name__}.{part}" for part, one in parts.items() if _takes_a_table(one)}
    tried = {name for name in ANY if name.startswith("disco.") and not name.startswith("disco.table.")}
    inside = {f"{module}.{name}" for module, names in INSIDE.items() for name in names}
    assert found == tried | inside and not tried & inside


def _takes_a_table(public: object) -> bool:
    """Whether a function has an argument `table` of that type; a table of numbers on a grid has none."""
    parameters = {} if inspect.isclass(public) or not callable(public) else inspect.signature(public).parameters
    return "table" in parameters and parameters["table"].annotation is not inspect.Parameter.empty


def test_other_rows_of_a_model_need_its_columns_and_counts_in_them():
    model = Model(("a", "b"), *[None] * 6)
    for read in (model.held_out, model.row_log_likelihood):
        assert said(read, COUNTS[["a"]]) == 'The table lacks the column "b" of the model.'
        assert said(read, COUNTS.assign(b=-1, c="text")) == said(prepare, COUNTS.assign(b=-1))
        assert said(read, [1, 2]).startswith("A table is")


def test_a_prepared_table_passes_without_another_check(monkeypatch):
    given = prepare(COUNTS)
    monkeypatch.setattr("disco.table.prepared.problems", None)
    assert prepare(given) is given and finite(given) is given.counts
    for entry in ("disco.refine.refinement.refine", "disco.table.relations.relations", "disco.selectors.cam.edges"):
        said(ANY[entry], given)


@pytest.mark.parametrize("entry", ["disco.estimator.DISCO.fit", "disco.refine.refinement.refine", *list(WHOLE)])
def test_a_table_is_checked_once_in_one_call(entry, monkeypatch):
    from disco.table import prepared

    calls, problems = [], prepared.problems
    monkeypatch.setattr(prepared, "problems", lambda *given, **named: calls.append(1) or problems(*given, **named))
    said(ANY[entry], COUNTS)
    assert len(calls) == 1


def test_what_comes_beside_the_counts():
    roles = {"d": ("covariate", "continuous")}
    given = prepare(COUNTS, roles)
    assert list(given.counts) == list("abc") and [one.name for one in given.adjustment.covariates] == ["d"]
    assert given.take(np.arange(40) < 9).adjustment.rows == len(given.take(np.arange(9)).counts) == 9
    other = prepare(given, Adjustment(40))
    assert other.adjustment.covariates == () and other.counts is given.counts
    assert prepare(COUNTS, Adjustment(40)).adjustment.rows == 40 and prepare(COUNTS).adjustment is None
    notes = prepare(COUNTS.assign(d=np.arange(40), c=COUNTS["c"] > 4)).notes
    assert len(notes) == 2 and all(map(is_sentence, notes)) and "looks like an index" in notes[1]
    for table, other, words in (
        (COUNTS.to_numpy(), roles, "an array has none"),
        (COUNTS, Adjustment(3), "has 3 rows, and the table 40"),
        (given, Adjustment(3), "has 3 rows, and the table 40"),
        (given, roles, "was prepared with its roles"),
        (COUNTS, ["d"], "Roles map the names of columns to their roles; got a list."),
        (COUNTS, 3, "got an int."),
        (COUNTS, {"x": "covariate"}, '"x", which is not a column'),
        (COUNTS, {"d": "batch"}, 'The role of "d" must be one of'),
    ):
        with pytest.raises(InputError, match=words):
            prepare(table, other)  # fmt: skip # a table
