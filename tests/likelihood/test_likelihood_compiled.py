"""What is compiled: the same as the exact sums, kept on disk, in several threads."""

import shutil
import threading

import compiled_world
import numba
import numpy as np
import pytest
from likelihood_exact import fit_exactly
from likelihood_world import BINARY, LINKED, MANY, NOISE, PAIRS, THREE, beside, close
from threadpoolctl import threadpool_info

from disco.likelihood import compiled, cpu, grid, products, row_sums, score_test, small
from disco.likelihood.batch import Problems
from disco.likelihood.compile_cache import KEPT_IN, kept_in
from disco.likelihood.newton import fit, marginal_start
from disco.likelihood.rank_design import RankDesign
from disco.likelihood.score_test import additions, removals


@pytest.mark.slow
def test_a_process_that_has_compiled_finds_what_one_finds_that_reads_it_back(tmp_path):
    """Equal to the last digit, so that interrupting a first refinement changes nothing.

    Compiling takes half a minute, so what the process found that compiled for all tests is kept beside the code.
    """
    by_compiling = compiled_world.kept()
    folder = KEPT_IN.parent
    if not by_compiling.exists():  # all was compiled before the tests
        folder = tmp_path
        by_compiling.write_text(compiled_world.digest(compiled_world.FITS, folder))
    assert len(by_compiling.read_text()) == 65 and list(folder.rglob("*.nbi"))
    assert compiled_world.digest(compiled_world.FITS, folder) == by_compiling.read_text()


@pytest.mark.parametrize("of_rows", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_fits_are_the_exact_ones(ranks, weights, dtype, of_rows, rng):
    """At the end of a fit, also after shortened steps, with different weights for each problem."""
    own = beside(len(ranks)) if of_rows else None
    design, problems = RankDesign.of(ranks, dtype=dtype, prior=LINKED, beside=own), Problems.of(PAIRS)
    own = np.stack([weights["tail" if number % 3 else "bootstrap"] for number in range(len(PAIRS))])
    near = marginal_start(design, problems)
    far = near + rng.normal(size=near.shape) * (near != 0)
    candidates = np.array([[NOISE, -1, THREE, BINARY, MANY]] * len(PAIRS))
    tolerance = 1e-12 if dtype == np.float64 else 1e-9
    for start, given in ((near, None), (far, None), (near, own)):
        one = fit_exactly(design, problems, start, weights=given, tolerance=tolerance)
        other = fit(design, problems, start, weights=given, tolerance=tolerance)
        assert one.converged.all() and other.converged.all()
        close(other.log_likelihood, one.log_likelihood, rtol=0, atol=1e-5 if dtype == np.float64 else 2e-3)
        # Second moments are interpolated by a line. The log determinant of a nearly singular information rounds by the
        # processor: .012 was seen in single precision.
        close(other.evidence, one.evidence, rtol=0, atol=5e-3 if dtype == np.float64 else 2e-2)
        close(other.theta, one.theta, rtol=0, atol=1e-5 if dtype == np.float64 else 2e-2)
        blocks = design.blocks(problems.parents)
        asked = design.columns, blocks, design.own, other.moments.slopes, other.moments.curvature, candidates
        for found, expected in zip(products.of_candidates(*asked), summed(*asked), strict=True):
            double = dtype == np.float64
            close(found, expected, rtol=1e-10 if double else 1e-4, atol=1e-8 if double else 1e-2)


def summed(columns, blocks, outside, slopes, curvature, candidates):
    """`products.of_candidates` as sums over all rows at once."""
    columns, slopes, curvature = (part.astype(float) for part in (columns, slopes, curvature))
    own, z = (columns[nodes] * (nodes >= 0)[..., None, None] for nodes in (blocks, candidates))  # (B, k, WIDTH, n)
    own = np.concatenate([own[:, :outside] * slopes[:, None, 1:2], own[:, outside:] * curvature[:, None, None]], 1)
    own = own.reshape(len(own), -1, own.shape[3])
    sums = np.einsum("bin,bcwn->bicw", np.concatenate([slopes, own], 1), z, optimize=True)
    return sums, np.einsum("bcvn,bcwn,bn->bcvw", z, z, curvature, optimize=True)


def test_without_a_folder_to_keep_it_in_it_is_compiled_anew(monkeypatch):
    monkeypatch.setattr("numba.core.caching.CompileResultCacheImpl._locator_classes", [])
    with pytest.raises(RuntimeError, match="no locator"):
        numba.njit(cache=True)(products.padded.py_func)
    assert [cpu.compiled(products.padded.py_func)(count) for count in (4, 5)] == [4, 8]


def test_what_is_compiled_is_kept_apart_for_every_state_of_the_sources(tmp_path, monkeypatch):
    """A constant that changes in one file is compiled into the functions of another."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    here, copied = tmp_path / "here", tmp_path / "copied"
    here.mkdir()
    (here / "one.py").write_text("LIMIT = 1\n")
    first = kept_in(here)
    assert first.parent == here / "__pycache__" and kept_in(here) == first
    shutil.copytree(here, copied)
    assert kept_in(copied).name != first.name  # Numba would find nothing in a copy of the folder
    (here / "one.py").write_text("LIMIT = 2\n")
    assert kept_in(here) != first
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "elsewhere"))
    assert kept_in(here).parent == tmp_path / "elsewhere" and str(KEPT_IN) in score_test._additions.stats.cache_path


def test_no_part_of_what_is_compiled_is_kept_apart_from_its_caller():
    """Files on disk must not change what a process compiles, so only functions that Python calls are cached."""
    kept, parts = set(), set()
    for module in (products, row_sums, grid, small, score_test, compiled):
        for name, found in vars(module).items():
            if isinstance(found, numba.core.dispatcher.Dispatcher) and found.py_func.__module__ == module.__name__:
                (kept if found.stats.cache_path else parts).add(name)
    assert kept == {"_newton", "_products", "_additions", "_removals", "_solve", "_inverse"}
    assert {"factorise", "dot", "index_at_rows", "_evaluate"} <= parts


def test_threads_change_nothing(design, monkeypatch):
    problems, results = Problems.of(PAIRS), []
    candidates = np.array([[NOISE, THREE]] * len(PAIRS))
    for number in (1, 3):
        monkeypatch.setenv("OMP_NUM_THREADS", str(number))
        assert cpu.threads() == number
        fits = fit(design, problems)
        more, less = additions(design, problems, fits, candidates), removals(design, problems, fits)
        results.append((fits.theta, fits.evidence, *more, *less))
    assert all(np.array_equal(*pair) for pair in zip(*results, strict=True))


def test_one_problem_with_weights_runs_what_is_compiled_for_many(design):
    """Weights broadcast to one problem are a view that cannot be written; compiling for it would take 9 seconds."""
    fit(design, Problems.of(PAIRS[:1]), weights=np.ones(design.rows))
    assert "readonly" not in str(compiled._newton.signatures)


def test_where_arrays_lie_in_memory_changes_nothing(design):
    """A loop that sums and writes may be run in two ways, by how far its arrays lie apart."""
    problems, kept = Problems.of(PAIRS), []
    first = fit(design, problems)
    for size in range(1, 100):
        kept.append(np.empty(37 * size))
        again = fit(design, problems)
        assert (first.theta == again.theta).all() and (first.evidence == again.evidence).all(), size


def test_the_exponential_of_a_loop_is_that_of_the_library():
    values = np.linspace(-100.0, 4.0, 1001)
    assert [row_sums.exp(value) for value in values] == pytest.approx(np.exp(values), rel=1e-12)
    assert row_sums.exp(-745.0) == row_sums.exp(-100.0)


def test_in_a_refinement_only_the_work_at_the_rows_takes_several_threads(monkeypatch):
    """Threads of libraries that wait between small calls would keep the processors busy for nothing."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    both = threading.Barrier(2, timeout=30)
    with cpu.threads_at_the_rows():
        assert {library["num_threads"] for library in threadpool_info()} == {1}
        cpu.side_by_side(2, lambda part: both.wait())  # breaks where one thread takes both
