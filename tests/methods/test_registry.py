"""Every method of the registry, in the same form."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import FitStopped, InputError
from disco.graph.result import GraphResult
from disco.knowledge import Knowledge
from disco.methods import METHODS, find, options_of

SHORT = {"joint_epochs": 20, "joint_steps": 0, "projection_epochs": 20, "projection_steps": 0, "width": 64}
QUICK = {"width": 32, "epochs": 40, "batch": 100, "rate": 3e-3}
CHANGES = {  # networks that train within some seconds
    **dict.fromkeys("disco disco-norank disco-constant disco-direct disco-recursive".split(), {"settings": SHORT}),
    "diffan": QUICK,
    "disco-cont": {**QUICK, "projection_epochs": 40, "projection_width": 32},
}


def two_nodes(rows: int = 3000) -> pd.DataFrame:
    """A Poisson cause and its effect, whose mean and variance both grow along the edge cause → effect."""
    rng = np.random.default_rng(0)
    cause = rng.poisson(2.0, rows)
    return pd.DataFrame({"effect": rng.poisson(0.7 + 0.9 * cause), "cause": cause})


def two_numbers(rows: int = 1000) -> pd.DataFrame:
    """The same with normal noise, where the effect is no straight line of its cause."""
    rng = np.random.default_rng(0)
    cause = rng.normal(size=rows)
    return pd.DataFrame({"effect": 3 * np.sin(2 * cause) + rng.normal(size=rows), "cause": cause})


def installed() -> list[str]:
    return [name for name, method in METHODS.items() if method.installed and not method.needs_arms]


def telling() -> list[str]:
    """Without NOTEARS, which turns this pair: of standardised columns it cannot tell which comes first."""
    return [name for name in installed() if name != "notears"]


@pytest.mark.parametrize("name", telling())
def test_every_method_gives_the_edge_from_cause_to_effect_or_says_that_its_direction_is_open(name):
    table = two_numbers() if METHODS[name].numbers else two_nodes()
    result = find(name, table, CHANGES.get(name))
    assert result.directed == [("cause", "effect")] or set(*result.undirected) == {"cause", "effect"}
    assert result.nodes == (["effect", "cause"] if result.order is None else ["cause", "effect"])
    assert result.seconds > 0 and {"parent", "child", "score"} <= set(result.scores)


@pytest.mark.parametrize("name", [name for name in installed() if not METHODS[name].numbers])
def test_a_handful_of_rows_is_refused_without_a_word_of_folds(name):
    with pytest.raises(InputError, match="needs at least 12 rows; the table has 8\\.") as refused:
        find(name, two_nodes(8))
    assert "fold" not in str(refused.value)


def test_an_edge_without_direction_is_kept_as_such():
    result = GraphResult.of(["a", "b", "c"], [("c", "a")], undirected=[("a", "b")])
    assert result.directed == [("c", "a")] and result.undirected == [("a", "b")]
    assert result.pairs == [("c", "a"), ("a", "b"), ("b", "a")]
    assert result.adjacency("bca").to_numpy().tolist() == [[0, 0, 1], [0, 0, 1], [1, 0, 0]]


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
    assert result.notes == ("sorted by mean cannot use knowledge: tiers and rules were ignored.",)
    assert set(result.nodes) == {"effect", "cause"}


def test_a_method_stops_when_asked():
    with pytest.raises(FitStopped):
        find("sort-mean", two_nodes(), callback=lambda event: False)


def test_a_method_for_counts_refuses_other_numbers_and_names_those_that_take_them():
    sentence = 'sorted by mean needs counts, and column "effect" has other numbers: use .*disco-cont'
    with pytest.raises(InputError, match=sentence):
        find("sort-mean", two_numbers())


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.numbers])
def test_a_method_for_numbers_says_which_column_has_no_logarithms(name):
    with pytest.raises(InputError, match='Column "effect" has a value of -1 or less, so log'):
        find(name, two_numbers(30), {"logged": True})


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.numbers])
def test_a_method_for_numbers_depends_on_its_seed_alone_and_stops_when_asked(name):
    table, small = two_numbers(60), CHANGES[name] | {"epochs": 3}
    first = find(name, table, small)
    np.random.default_rng(5).normal(size=3)
    assert find(name, table, small).scores.equals(first.scores) and first.order is not None
    seen = []

    def hear(event):
        seen.append(event.stage)
        return event.stage != "ordering"

    with pytest.raises(FitStopped, match="Stopped in the stage ordering"):
        find(name, table, small, callback=hear)
    assert "joint" in seen and "selector" not in seen


@pytest.mark.parametrize("name", ["ods-poisson", "mrs", "sort-mean", "diffan", "disco-cont"])
def test_too_few_rows_for_parents_are_told_before_anything_is_computed(name):
    wide = pd.DataFrame(np.random.default_rng(0).gamma(6, 5, (80, 30)).round()).add_prefix("x")
    events = []
    with pytest.raises(InputError, match="80 rows are too few: give at least 89 rows, or fewer columns"):
        find(name, wide, callback=events.append)
    assert events == []


@pytest.mark.parametrize("name", ["boss", "notears", "diffan", "disco-cont"])
def test_a_seed_is_one_that_every_generator_takes(name):
    with pytest.raises(InputError, match="seed must be a whole number from 0 to 4,294,967,295"):
        options_of(name, {"seed": 2**32})
