"""Arguments beside the table: one that cannot be used is refused in a sentence, whatever its type."""

from decimal import Decimal

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch

from disco import DISCO, metrics
from disco.devices import choose_device
from disco.effects.effect import effect
from disco.effects.effect_question import among
from disco.effects.graph_fits import FittedGraphs
from disco.errors import FitStopped, InputError
from disco.fields import a_thing, require_types
from disco.knowledge import Knowledge
from disco.likelihood.model_check import check
from disco.methods import find
from disco.paper.ranks import transform_table
from disco.paper.settings import Settings
from disco.refine import Choice, refine
from disco.refine.again import adjusted
from disco.selectors import cam, selection
from disco.simulate.sampling import simulate
from disco.subjects.studies import lahman
from disco.table.counts import describe
from disco.table.read import read_table
from disco.table.roles import Roles
from disco.table.thinning import thinned

TABLE = pd.DataFrame(np.random.default_rng(0).poisson(4.0, (40, 3)), columns=list("abc"))
ABC, CPU = list("abc"), torch.device("cpu")
TRUTH = pd.DataFrame({"parent": ["a", "b"], "child": ["b", "c"]})
FOUND = TRUTH.assign(confidence=0.5)
PAIRS = "Edges must be a table, a graph, or pairs \\(parent, child\\) of names; got a"


def refined(**given: object) -> object:
    return refine(TABLE, **given)


def asked(on: object = "b", where: object = None) -> object:
    fitted = FittedGraphs.of_dag(nx.DiGraph([("a", "b"), ("b", "c")]), TABLE)
    return effect(among(fitted, where), on, {"a": 3})


REFUSED = {
    "choice": (lambda: refined(choice={}), "The argument choice must be of type Choice or None; got a dict."),
    "settings": (lambda: refined(settings={}), "argument settings must be of type Settings or None; got a dict"),
    "settings of a transform": (lambda: transform_table(TABLE, "rank"), "argument settings .* got a str"),
    "device": (lambda: DISCO(device="tpu").fit(TABLE), "device must be auto, cpu or cuda; got 'tpu'"),
    "memory": (lambda: refined(memory=3), "argument memory must be of type Path or str or None; got an int"),
    "memory in no folder": (lambda: refined(memory="/no/m.json"), "memory, '/no/m.json', .* its folder does not exist"),
    "memory in a folder": (lambda: refined(memory="/"), "The file of memory, '/', cannot be written, since it is a fo"),
    "memory with a NUL": (lambda: refined(memory="/\0"), "this is not a valid path: give another"),
    "checkpoint": (lambda: DISCO().fit(TABLE, checkpoint=3), "argument checkpoint must be of type Path or str or None"),
    "checkpoint in no folder": (lambda: DISCO().fit(TABLE, checkpoint="/no/c"), "checkpoint, '/no/c', .* not exist"),
    "callback": (lambda: refined(callback="x"), "argument callback must be a function; got a str"),
    "name of a reader": (lambda: read_table("t.csv", name=b"t.csv"), "argument name .* got a bytes"),
    "kinds of artefacts": (
        lambda: refined(dismissed=[97]),
        "There is no artefact 97; the kinds are relation, exclusive, code",
    ),
    "kinds as a word": (lambda: refined(dismissed="depth"), r"must be a list of kinds, as \['depth'\]; got 'depth'"),
    "kinds of lists": (lambda: refined(dismissed=[["depth"]]), r"There is no artefact \['depth'\]; the kinds are"),
    "preset": (lambda: DISCO(preset=[]).fit(TABLE), "preset must be one of tuned, .*; got \\[\\]"),
    "device of an array": (lambda: choose_device(np.arange(2)), "device must be auto, cpu or cuda; got array"),
    "exposure": (lambda: Roles(exposure=np.arange(2)), "A computed exposure is total or median of ratios; got array"),
    "where": (lambda: asked(where="x"), "argument where must be of type Mapping or None; got a str"),
    "where as a list": (lambda: asked(where=[]), "argument where must be of type Mapping or None; got a list"),
    "outcome": (lambda: asked(on=np.arange(2)), "argument node must be of type str; got a ndarray"),
    "knowledge": (lambda: refined(knowledge={}), "argument knowledge must be of type Knowledge or None; got a dict"),
    "knowledge of a fit": (lambda: DISCO().fit(TABLE, knowledge={}), "argument knowledge must be of type Knowledge"),
    "knowledge of a method": (lambda: find("refined", TABLE, knowledge=[]), "argument knowledge .* got a list"),
    "adjustment": (lambda: adjusted(TABLE, {"c": "group"}), "argument adjustment must be of type Adjustment; got a"),
    "roles": (lambda: refined(roles=["c"]), "Roles map the names of columns to their roles; got a list"),
    "roles of a fit": (
        lambda: DISCO().fit(TABLE, roles=3),
        "Roles map the names of columns to their roles; got an int",
    ),
    "roles of numbers": (lambda: find("diffan", TABLE, roles="c"), "Roles map the names of columns to their roles"),
    "edges": (lambda: refined(edges=["a"]), f"{PAIRS} list"),
    "edges of words": (lambda: refined(edges=["ab"]), f"{PAIRS} list"),
    "edges elsewhere": (lambda: refined(edges=[("a", "z")]), 'An edge names "z"'),
    "edges of no name": (lambda: refined(edges=TABLE[["a"]]), "Edges need columns parent and child"),
    "order": (lambda: refined(order=3), "The order must be a list of names; got 3"),
    "order of a set": (lambda: cam.edges(TABLE, {"a", "b", "c"}), "The order must be a list of names; got"),
    "order of an estimate": (lambda: metrics.evaluate(TRUTH, order=3), "The order must be a list of names; got 3"),
    "selector": (lambda: selection.candidates("mle", TABLE, ABC, Settings()), "selector must be one of cam, pcm"),
    "method": (lambda: find(3, TABLE), "argument name must be of type str; got an int"),
    "options": (lambda: find("sort-mean", TABLE, []), "argument changes must be of type Mapping or None; got a list"),
    "direction": (
        lambda: metrics.evaluate(TRUTH.assign(direction="sideways"), order=list("abc")),
        "The direction of a true edge must be one of known, unknown, not proved, experiment; got 'sideways'",
    ),
    "truth": (lambda: metrics.evaluate(3), f"{PAIRS}n int"),
    "estimate": (lambda: metrics.f1(TRUTH, [("a", "b", "c")]), f"{PAIRS} list"),
    "bins": (lambda: metrics.calibration(TRUTH, FOUND, bins=0), "bins must be a whole number from 1 up; got 0"),
    "top": (lambda: lahman.cohort(2015, 2016, top=-5), "top must be a whole number from 1 up; got -5"),
    "design": (lambda: simulate({}), "The argument design must be of type Design; got a dict."),
    "share": (lambda: thinned(TABLE, "half"), "The share that thinning keeps .* got 'half'"),
    "simulations": (lambda: check(TABLE, {"one": {}}, simulations=0), "simulations must be a whole number from 1 up"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_argument_that_cannot_be_used_is_refused_in_a_sentence(case):
    call, words = REFUSED[case]
    with pytest.raises(InputError, match=words) as error:
        call()
    assert str(error.value).endswith(".") and "\n" not in str(error.value)


def test_what_can_be_used_is(tmp_path):
    for given in ({"edges": [("a", "b")]}, {"memory": str(tmp_path / "m.json")}, {"order": TABLE.columns}):
        with pytest.raises(FitStopped):
            refine(TABLE, Choice(), knowledge=Knowledge(), callback=lambda event: False, **given)
    assert metrics.calibration(TRUTH, FOUND, bins=1)["edges"].tolist() == [2]
    assert metrics.f1(iter(TRUTH.to_numpy()), np.array([["a", "b"]])) == pytest.approx(2 / 3)


@pytest.mark.parametrize("rows", [[3], [1, 3], list(range(40))])
def test_a_signalling_nan_is_a_missing_cell(rows):
    table = TABLE.astype(object)
    table.loc[rows, "a"] = Decimal("sNaN")
    with pytest.raises(InputError, match=f'Column "a", row {rows[0] + 1}: the value is missing'):
        refine(table)
    for role in ("covariate", "context", "exposure", "group"):
        with pytest.raises(InputError, match=f'"a" has {len(rows)} missing cells?, the first in row {rows[0] + 1}'):
            refine(table, roles={"a": role})
    assert describe(table)["type"].tolist()[1:] == ["counts"] * 2


def test_an_exposure_has_one_name_in_python_and_on_the_command_line():
    assert Roles(exposure="median-of-ratios") == Roles(exposure="median of ratios")
    assert Roles(exposure="median-of-ratios").to_dict()["exposure"] == "median of ratios"


def test_types_are_named_in_words():
    require_types(one=(3, int), other=(None, int | None))
    assert [a_thing(value) for value in (None, 3, [], "")] == ["None", "an int", "a list", "a str"]
