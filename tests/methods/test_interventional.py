"""GIES and GnIES: what they are given, what is read, and what is refused; their packages need not be installed."""

import sys
from types import ModuleType

import numpy as np
import pytest

from disco.errors import InputError
from disco.methods import METHODS, find
from disco.simulate import Design, simulate

CHAIN = Design(graph="chain", nodes=3, rows=400, family="poisson-log", interventions=["x2"], intervention_rows=100)


@pytest.fixture
def seen(monkeypatch):
    """Both packages, replaced by ones that keep what they are given and find x1 → x2 and x2 – x3."""
    found = np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]])
    given = []
    for name in ("gies", "gnies"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["gies"].fit_bic = lambda arms, targets: given.append((arms, targets)) or (found, 0.0)
    sys.modules["gnies"].fit = lambda arms, **more: given.append((arms, more)) or (0.0, found, {1})
    monkeypatch.setattr("disco.methods.registry.find_spec", lambda name: name in ("gies", "gnies"))
    return given


@pytest.mark.parametrize("name", ["gies", "gnies"])
def test_the_arms_are_environments_and_an_edge_in_both_directions_is_open(name, seen):
    drawn = simulate(CHAIN)
    result = find(name, drawn.whole, roles=drawn.design.roles())
    assert result.directed == [("x1", "x2")] and result.undirected == [("x2", "x3")] and result.order is None
    assert result.notes == ("Undirected edges: 1 of 2.",)
    arms, more = seen[0]
    assert [len(arm) for arm in arms] == [400, 100] and np.ptp(arms[1][:, 1]) == 0
    assert more == ([[], [1]] if name == "gies" else {"approach": "rank", "center": False})


def test_without_arms_they_say_what_they_need(seen):
    with pytest.raises(InputError, match="GIES compares arms of an experiment: give a column the role intervention"):
        find("gies", simulate(CHAIN).table)
    assert {name for name, method in METHODS.items() if method.needs_arms} == {"gies", "gnies"}


def test_covariates_are_ignored_aloud_and_arms_are_not(seen):
    drawn = simulate(CHAIN.replace(batches=2))
    assert (
        "GIES cannot use roles: covariates, exposure and groups were ignored."
        in find("gies", drawn.whole, roles=drawn.design.roles()).notes
    )


def test_the_refinement_of_compare_uses_the_arms():
    """x1 → x2 → x3, unknown without the arm that sets x2: with it x2 → x3 is known."""
    drawn = simulate(CHAIN.replace(rows=4000, intervention_rows=4000))
    found = find("refined", drawn.whole, roles=drawn.design.roles())
    assert ("x2", "x3") in found.directed and not any("cannot use interventions" in note for note in found.notes)
