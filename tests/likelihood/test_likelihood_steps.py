"""What a step predicts, an edge more or less, against the fits that it leads to."""

import numpy as np
import pytest
from likelihood_exact import exact, fit_exactly, log_determinant
from likelihood_world import BINARY, COUNT, NOISE, PAIRS, POISSON, THREE, TRIALS, beside, close, of_effects

from disco.likelihood.batch import BatchDesign, Problems
from disco.likelihood.newton import fit
from disco.likelihood.rank_design import FREE, WIDTH, Prior, RankDesign
from disco.likelihood.score_test import additions, removals


@pytest.mark.parametrize("weighted", ["none", "bootstrap"])
def test_an_addition_is_the_newton_step_of_the_larger_problem(ranks, weights, weighted, rng):
    own = beside(len(ranks)) if weighted == "none" else None
    design = RankDesign.of(
        ranks, offset=rng.normal(size=len(ranks)) / 20, beside=own, prior=Prior(0.3, 2.0, 5.0, 0.4, 0.7)
    )
    for node, parents in PAIRS[:4]:
        problems = Problems.of([(node, parents)])
        fits = fit_exactly(design, problems, weights=weights[weighted], tolerance=0.5)
        back = np.linalg.solve(fits.moments.information[0], fits.moments.gradient[0])
        predicted = additions(design, problems, fits, np.array([[NOISE, -1]]))
        larger = BatchDesign(design, Problems.of([(node, [*parents, NOISE])]), weights[weighted])
        begin = np.concatenate([fits.theta[0] - back, np.zeros(WIDTH)])
        moments = exact(larger, begin[None])
        step = np.linalg.solve(moments.information[0], moments.gradient[0])
        close(fits.theta[0] + predicted.others[0, 0], (begin + step)[:-WIDTH], rtol=1e-5, atol=1e-5)
        close(predicted.own[0, 0], step[-WIDTH:], rtol=1e-6, atol=1e-8)
        gain = (moments.gradient[0] @ step - fits.moments.gradient[0] @ back) / 2
        expected, precisions = of_effects(design, node, [NOISE])
        gain -= precisions @ expected**2 / 2  # what no effect at all costs, which it did not before
        close(predicted.gain[0], [gain, 0], rtol=1e-6, atol=1e-9)
        spread = log_determinant(moments.information[0]) - log_determinant(fits.moments.information[0])
        close(predicted.evidence[0], [gain + (np.log(precisions).sum() - spread) / 2, 0], rtol=1e-6, atol=1e-8)
        assert not predicted.own[0, 1].any() and not predicted.others[0, 1].any()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_weak_candidate_gains_what_is_predicted(ranks, dtype):
    design = RankDesign.of(np.column_stack([ranks, ranks[:, [COUNT, BINARY]], ranks[:, COUNT] > 2]), dtype=dtype)
    problems = Problems.of([(POISSON, [COUNT, BINARY]), (TRIALS, [COUNT, BINARY])])
    fits = fit(design, problems, tolerance=1e-4)
    predicted = additions(design, problems, fits, np.array([[NOISE, THREE, 7, 8]] * 2))
    assert np.abs(predicted.gain[:, 2:]).max() < 1e-2
    for row, node in enumerate((POISSON, TRIALS)):
        for place, candidate in enumerate((NOISE, THREE)):
            larger = Problems.of([(node, [COUNT, BINARY, candidate])])
            start = np.concatenate([fits.theta[row] + predicted.others[row, place], predicted.own[row, place]])
            cold, warm = fit(design, larger, tolerance=1e-4), fit(design, larger, start[None], tolerance=1e-4)
            gain = (cold.log_likelihood - fits.log_likelihood[row]).item()
            assert 0.1 < gain < 10 and predicted.gain[row, place] == pytest.approx(gain, rel=0.05, abs=0.03)
            close(warm.log_likelihood, cold.log_likelihood, rtol=0, atol=2e-3)
            close(predicted.evidence[row, place], (cold.evidence - fits.evidence[row])[0], rtol=0, atol=1.0)


@pytest.mark.parametrize("of_rows", [False, True])
@pytest.mark.parametrize("prior", [FREE, Prior(0.3, 2.0, 5.0, 0.4, 0.7)])
def test_a_removal_costs_what_the_fit_without_it_loses(ranks, prior, of_rows):
    design = RankDesign.of(ranks, prior=prior, beside=beside(len(ranks)) if of_rows else None)
    parents = [NOISE, COUNT, THREE]
    problems = Problems.of([(POISSON, parents), (TRIALS, [NOISE])])
    fits = fit(design, problems, tolerance=1e-9)
    predicted = removals(design, problems, fits)
    penalised = fits.log_likelihood - BatchDesign(design, problems).prior(fits.theta)
    for row, place in ((0, 0), (0, 2), (1, 0)):
        node, now = (POISSON, parents) if row == 0 else (TRIALS, [NOISE])
        less = Problems.of([(node, [*now[:place], *now[place + 1 :]])])
        without, batch = fit(design, less, tolerance=1e-9), BatchDesign(design, less)
        reached = without.log_likelihood - batch.prior(without.theta)
        loss = (penalised[row] - reached).item()
        assert 0.1 < loss < 10 and predicted.loss[row, place] == pytest.approx(loss, rel=0.15, abs=0.03)
        close(predicted.evidence[row, place], (fits.evidence[row] - without.evidence)[0], rtol=0, atol=1.0)
        first = design.head + WIDTH * place
        start = fits.theta[row] + predicted.others[row, place]
        close(start[first : first + WIDTH], np.zeros(WIDTH), atol=1e-9)
        start = np.concatenate([start[:first], start[first + WIDTH :]])[None, : without.theta.shape[1]]
        close(exact(batch, start).log_likelihood - batch.prior(start), reached, rtol=0, atol=0.1)
    assert predicted.loss[0, 1] > 20 and not predicted.loss[1, 1:].any()
