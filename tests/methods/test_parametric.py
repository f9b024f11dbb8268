"""The search with a fixed family: local scores against statsmodels, the whole against enumeration, and its refusals."""

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.discrete.discrete_model import NegativeBinomial

from disco.errors import FitStopped, InputError
from disco.knowledge import Knowledge
from disco.methods import find, options_of
from disco.methods.families import assigned
from disco.methods.parametric import FamilyScores
from disco.refine.search import Optimum


def diamond(rows: int = 1500) -> pd.DataFrame:
    """a → b, a → c, b → d, c → d, Poisson with a log link on log(1 + x)."""
    rng = np.random.default_rng(2)
    a = rng.poisson(4, rows)
    b, c = (rng.poisson(np.exp(0.2 + 0.8 * np.log1p(a))) for _ in range(2))
    d = rng.poisson(np.exp(0.1 + 0.4 * np.log1p(b) + 0.4 * np.log1p(c)))
    return pd.DataFrame({"d": d, "b": b, "c": c, "a": a})


TABLE = diamond()
EVERY = [tuple(other for other in range(4) if other != node) for node in range(4)]
LOGS = np.log1p(TABLE.to_numpy(dtype=float))


def scores_of(name: str = "search-poisson", candidates=EVERY, **changes) -> FamilyScores:
    options = options_of(name, changes)
    kinds = assigned(TABLE, options.family, np.nan, options.trials)
    return FamilyScores(TABLE, kinds, candidates, options.penalty)


def fit_of(scores: FamilyScores, node: int, parents: tuple[int, ...]):
    scores.make([(node, parents)])
    return scores.fits[node][parents]


@pytest.mark.parametrize("parents", [(), (1,), (1, 2, 3)])
@pytest.mark.parametrize(("name", "own"), [("search-poisson", 0), ("search-nb", 1), ("search-binomial", 0)])
def test_a_local_score_is_the_bic_of_statsmodels(name, own, parents):
    y, design = TABLE["d"].to_numpy(), sm.add_constant(LOGS[:, list(parents)], has_constant="add")
    if name == "search-nb":
        llf = NegativeBinomial(y, design).fit(disp=0, maxiter=500, method="bfgs").llf
    elif name == "search-binomial":
        llf = sm.GLM(np.column_stack([y, y.max() - y]), design, sm.families.Binomial()).fit().llf
    else:
        llf = sm.GLM(y, design, sm.families.Poisson()).fit().llf
    odds = (len(parents) + 1 + own) * np.log(len(y)) / 2
    assert fit_of(scores_of(name), 0, parents).score == pytest.approx(llf - odds, abs=0.01)


@pytest.mark.parametrize("name", ["search-poisson", "search-binomial"])
def test_promises_are_the_tests_of_rao_and_wald(name):
    scores = scores_of(name, penalty=2)
    fit, odds = fit_of(scores, 0, (1,)), 2 * np.log(len(TABLE))
    y, binomial = TABLE["d"].to_numpy(), name == "search-binomial"
    family = sm.families.Binomial() if binomial else sm.families.Poisson()
    target = np.column_stack([y, y.max() - y]) if binomial else y
    ours = sm.GLM(target, sm.add_constant(LOGS[:, [1]]), family).fit()
    assert fit.loss == pytest.approx([ours.tvalues[1] ** 2 / 2 - odds], rel=1e-4)
    if not binomial:
        for place, node in ((1, 2), (2, 3)):
            rao = np.ravel(ours.score_test(exog_extra=LOGS[:, [node]])[0])[0]
            assert fit.gain[place] == pytest.approx(rao / 2 - odds, rel=1e-4)
    assert fit.gain[0] == -np.inf, "a parent already"


@pytest.mark.parametrize("name", ["search-nb", "search-zinb"])
def test_the_promised_gain_is_near_the_true_one_if_that_is_small(name):
    """Rao's statistic and the likelihood ratio agree to second order; the node's own parameters count in both."""
    scores = scores_of(name, penalty=0)
    fit, more = fit_of(scores, 0, (1, 2)), fit_of(scores, 0, (1, 2, 3))
    assert fit.gain[2] == pytest.approx(more.score - fit.score, rel=0.1, abs=0.02)
    assert more.loss[2] == pytest.approx(more.score - fit.score, rel=0.1, abs=0.02)


def test_the_search_finds_the_best_of_all_graphs():
    scores = scores_of()

    def best_in(order: tuple[int, ...]) -> float:
        total = 0.0
        for at, node in enumerate(order):
            before = [tuple(sorted(chosen)) for size in range(at + 1) for chosen in combinations(order[:at], size)]
            total += max(fit_of(scores, node, parents).score for parents in before)
        return total

    most = max(best_in(order) for order in permutations(range(4)))
    result = find("search-poisson", TABLE)
    assert set(result.directed) == {("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")} and result.order[0] == "a"
    names = list(TABLE.columns)
    parents = [tuple(names.index(u) for u, v in sorted(result.directed, key=lambda e: names.index(e[0])) if v == node)
               for node in names]  # fmt: skip
    assert sum(fit_of(scores, node, chosen).score for node, chosen in enumerate(parents)) == pytest.approx(most)
    gained = result.scores.set_index(["parent", "child"])["score"]
    assert gained["b", "d"] == pytest.approx(fit_of(scores, 0, (1, 2)).score - fit_of(scores, 0, (2,)).score)


def test_a_pair_that_the_screen_left_out_comes_back():
    narrow = scores_of(candidates=[(1,), (0, 3), (3,), (1, 2)])
    found = Optimum([3, 1, 2, 0], [(1,), (3,), (3,), ()], 0.0, [])
    assert narrow.widened(found) == [(1, 2, 3), (0, 3), (0, 3), (0, 1, 2)], "without c, a tells of d too"
    whole = scores_of(candidates=[(1, 2), (0, 3), (0, 3), (1, 2)])
    assert whole.widened(Optimum([3, 1, 2, 0], [(1, 2), (3,), (3,), ()], 0.0, [])) == whole.candidates


def test_rules_are_kept():
    knowledge = Knowledge(tiers=(("d",), ("a", "b", "c")), forbidden=(("b", "a"),))
    result = find("search-poisson", TABLE, knowledge=knowledge)
    assert result.order[0] == "d" and ("b", "a") not in result.directed
    assert all(child != "d" for _, child in result.directed)


def test_what_a_family_cannot_hold_is_one_sentence():
    with pytest.raises(InputError, match=r'of 5 trials cannot fit "d", with largest count 1\d: give it more'):
        find("search-binomial", TABLE[["d", "a"]], {"trials": 5})
    with pytest.raises(InputError, match="family must be one of poisson, nb, zinb, binomial"):
        options_of("search-nb", {"family": "gamma"})


def test_a_parent_that_separates_is_doubted():
    rng = np.random.default_rng(0)
    x = rng.poisson(5, 400)
    result = find("search-binomial", pd.DataFrame({"x": x, "late": (x > 5).astype(int)}), {"trials": 30})
    noted = find("search-binomial", pd.DataFrame({"x": x, "late": (x > 5).astype(int)}))
    assert len(result.edges) == 1
    assert any("separates values of" in note for note in noted.notes) == (("x", "late") in noted.directed)


def test_it_stops_in_the_middle():
    stages = []
    with pytest.raises(FitStopped):
        find("search-zinb", TABLE, callback=lambda event: stages.append(event.stage) or event.stage != "search")
    assert stages[-1] == "search" and "screen" in stages
