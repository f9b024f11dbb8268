"""Every method of the registry, in the same form."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import FitStopped, InputError
from disco.knowledge import Knowledge
from disco.rivals import METHODS, Result, find, options_of

SHORT = {"joint_epochs": 20, "joint_steps": 0, "projection_epochs": 20, "projection_steps": 0, "width": 64}
CHANGES = dict.fromkeys(("disco", "disco-norank", "disco-constant"), {"settings": SHORT})  # a whole fit takes a minute


def two_nodes(rows: int = 3000) -> pd.DataFrame:
    """A Poisson cause and its effect, whose mean and variance both grow along the edge cause → effect."""
    rng = np.random.default_rng(0)
    cause = rng.poisson(2.0, rows)
    return pd.DataFrame({"effect": rng.poisson(0.7 + 0.9 * cause), "cause": cause})


def installed() -> list[str]:
    return [name for name, method in METHODS.items() if method.installed]


def telling() -> list[str]:
    """Without NOTEARS, which turns this pair: of standardised columns it cannot tell which comes first."""
    return [name for name in installed() if name != "notears"]


@pytest.mark.parametrize("name", telling())
def test_every_method_gives_the_edge_from_cause_to_effect_or_says_that_its_direction_is_open(name):
    table = two_nodes()
    result = find(name, table, CHANGES.get(name))
    assert list(result.adjacency.index) == list(result.adjacency.columns) == ["effect", "cause"]
    assert result.edges == [("cause", "effect")] or result.undirected == [("effect", "cause")]
    assert result.order is None or result.order == ("cause", "effect")
    assert result.seconds > 0 and {"parent", "child", "score"} <= set(result.scores)


def test_an_edge_without_direction_is_kept_as_such():
    result = Result.of(["a", "b", "c"], [("c", "a")], undirected=[("a", "b")])
    assert result.edges == [("c", "a")] and result.undirected == [("a", "b")]
    assert result.adjacency.loc["c", "a"] == 1 and result.adjacency.loc["a", "c"] == 0
    assert result.adjacency.loc["a", "b"] == result.adjacency.loc["b", "a"] == 1


def test_unknown_methods_options_and_values_are_named():
    with pytest.raises(InputError, match="no method 'magic'; the methods are .*sort-mean"):
        find("magic", two_nodes())
    with pytest.raises(InputError, match="sort-mean has no option 'depth'; it has by, cutoff"):
        options_of("sort-mean", {"depth": 3})
    with pytest.raises(InputError, match="cutoff must be a number from 0 to 1; got 2"):
        options_of("sort-mean", {"cutoff": 2})


def test_what_a_method_cannot_use_is_said():
    table = two_nodes().assign(site=np.arange(3000) % 3)
    knowledge = Knowledge(tiers=(("cause",), ("effect",)))
    result = find("sort-mean", table, roles={"site": ("covariate", "categorical")}, knowledge=knowledge)
    assert result.notes == ("sorted by mean cannot use knowledge: no tier and no rule was kept to.",)
    assert list(result.adjacency) == ["effect", "cause"]


def test_a_method_stops_when_asked():
    with pytest.raises(FitStopped):
        find("sort-mean", two_nodes(), callback=lambda event: False)
