"""Regressions whose own parameters are fitted too against statsmodels, and derivatives against finite differences."""

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.discrete.count_model import ZeroInflatedNegativeBinomialP
from statsmodels.discrete.discrete_model import NegativeBinomial

from disco.methods.families import Counts, GLMFamily
from disco.methods.glm import maximised

NAMES = ("poisson", "nb", "zinb", "binomial")


def drawn(rows: int = 800) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Two features beside a constant, and a count of every family."""
    rng = np.random.default_rng(5)
    design = np.column_stack([np.ones(rows), rng.normal(size=(rows, 2))])
    eta = design @ [0.8, 0.4, -0.3]
    mean = np.exp(eta)
    nb = rng.negative_binomial(3, 3 / (3 + mean))
    counts = {
        "poisson": rng.poisson(mean),
        "nb": nb,
        "zinb": np.where(rng.random(rows) < 0.25, 0, nb),
        "binomial": rng.binomial(12, 1 / (1 + np.exp(-eta))),
    }
    return design, counts


DESIGN, COUNTS = drawn()


def family_of(name: str, values: np.ndarray) -> GLMFamily:
    return GLMFamily(name, {"nb": np.nan, "binomial": float(values.max())}.get(name, np.inf))


def fitted(name: str, values: np.ndarray, design: np.ndarray = DESIGN):
    family, counts = family_of(name, values), Counts(values)
    eta, own = family.begin(counts)
    return maximised(family, counts, design, np.r_[eta, np.zeros(design.shape[1] - 1)], own)


def by_statsmodels(name: str, values: np.ndarray, design: np.ndarray = DESIGN) -> float:
    """The maximised log-likelihood."""
    if name == "poisson":
        return sm.GLM(values, design, sm.families.Poisson()).fit().llf
    if name == "binomial":
        pairs = np.column_stack([values, values.max() - values])
        return sm.GLM(pairs, design, sm.families.Binomial()).fit().llf
    if name == "nb":
        return NegativeBinomial(values, design).fit(disp=0, maxiter=500).llf
    return ZeroInflatedNegativeBinomialP(values, design).fit(disp=0, maxiter=2000, method="bfgs").llf


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("columns", [1, 3])
def test_the_likelihood_is_that_of_statsmodels(name, columns):
    design = DESIGN[:, :columns]
    ours = fitted(name, COUNTS[name], design)
    assert ours.slopes.value == pytest.approx(by_statsmodels(name, COUNTS[name], design), abs=2e-4)


@pytest.mark.parametrize("name", NAMES)
def test_the_derivatives_are_those_of_the_likelihood(name):
    family, counts = family_of(name, COUNTS[name]), Counts(COUNTS[name])
    rng = np.random.default_rng(1)
    eta, own = rng.normal(0.5, 0.5, len(DESIGN)), np.array([0.7, -0.4])[: family.own]
    at, step = family.slopes(counts, eta, own), 1e-5

    def along(eta_step: np.ndarray, own_step: np.ndarray, of):
        ahead, behind = (family.slopes(counts, eta + s * eta_step, own + s * own_step) for s in (step, -step))
        return (of(ahead) - of(behind)) / (2 * step)

    still = np.zeros_like(own)
    for row in (int(np.argmin(counts.values)), int(np.argmax(counts.values)), 3):
        move = np.eye(len(eta))[row]
        assert along(move, still, lambda s: s.value) == pytest.approx(at.first[row], abs=1e-5)
        assert along(move, still, lambda s: s.first)[row] == pytest.approx(-at.weight[row], abs=1e-6)
    for number in range(family.own):
        move = np.eye(family.own)[number]
        assert along(0 * eta, move, lambda s: s.value) == pytest.approx(at.own[number], abs=1e-4)
        np.testing.assert_allclose(along(0 * eta, move, lambda s: s.own), -at.curvature[number], atol=1e-3)
        np.testing.assert_allclose(along(0 * eta, move, lambda s: s.first), -at.cross[number], atol=1e-6)


def test_a_family_that_needs_less_falls_back_on_the_simpler_one():
    """Underdispersed counts have no finite size, and counts without an excess of zeros no inflation."""
    few = np.random.default_rng(0).binomial(6, 0.5, len(DESIGN))
    assert fitted("nb", few).slopes.value == pytest.approx(fitted("poisson", few).slopes.value, abs=0.01)
    many = COUNTS["nb"] + 1
    assert fitted("zinb", many).slopes.value == pytest.approx(fitted("nb", many).slopes.value, abs=0.01)


def test_separated_rows_end_at_the_limit_of_the_likelihood():
    values = (DESIGN[:, 1] > 0).astype(int)
    found = fitted("binomial", values, DESIGN[:, :2])
    assert np.isfinite(found.theta).all() and found.slopes.value == pytest.approx(0, abs=1e-4)
