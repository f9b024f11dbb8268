"""The plan of a fit: the numbers of rows that the fit then really uses, and the steps that it then really makes."""

import math

import pytest

from disco.paper.plan import Plan, most_evaluated
from disco.paper.ranks import Folds, fold_of_rows
from disco.paper.settings import Settings


@pytest.mark.parametrize(
    "changes",
    [
        {}, {"max_rows": 101}, {"disjoint_rows": True}, {"folds": 4, "validation_share": 1.0},
        {"folds": 2, "folds_by": "counts"}, {"folds": 2, "folds_by": "counts", "max_rows": 101},
    ],
)  # fmt: skip # a table
@pytest.mark.parametrize("rows", [118, 119, 120])
def test_the_plan_counts_the_rows_of_the_folds(rng, rows, changes):
    settings = Settings(projection="network", **changes)
    plan, folds = Plan.of(rows, settings), Folds.of(rng.poisson(2.0, (rows, 2)), settings)
    assert plan.rows == len(folds.rows) and plan.used == min(rows, settings.max_rows or rows)
    parts = folds.parent_ranks[:1] if settings.folds_by == "counts" else folds.parent_ranks
    assert plan.parent_rows == sum(len(fold.rows) for fold in parts) and plan == Plan.of(rows, settings, folds)
    assert plan.train == min(len(fold.train) for fold in folds.ranks)
    assert plan.evaluated == min(len(fold.held_out) for fold in folds.ranks)
    assert plan.train == plan.projection.rows == plan.joint.rows + plan.holdout and plan.joint.rows >= 1


@pytest.mark.parametrize("rows", [768, 769, 770, 771, 853, 855, 860])
def test_the_steps_asked_for_are_made_whatever_row_decides_over_a_batch(rows):
    """Of 769 rows one fold trains on 513 and the others on 512; each visits 512, which is one batch and not two."""
    few = {"joint_epochs": 1, "joint_steps": 500, "projection_epochs": 1, "projection_steps": 1000}
    settings = Settings(batch_size=512, projection="network", **few)
    plan, train = Plan.of(rows, settings), rows - math.ceil(rows / 3)
    for schedule, visited, steps in ((plan.joint, train - plan.holdout, 500), (plan.projection, train, 1000)):
        assert schedule.rows == visited and schedule.batches == math.ceil(visited / 512)
        assert steps <= schedule.epochs * schedule.batches < steps + schedule.batches


def test_the_evaluation_rows_have_a_bound():
    assert Plan.of(3000, Settings(evaluation_rows=None)).evaluated == 1000
    assert Plan.of(3000, Settings(evaluation_rows=40)).evaluated == 40


def test_every_pair_of_many_nodes_at_every_row_fits_in_memory():
    assert most_evaluated(Settings(), 50) == 1000 and most_evaluated(Settings(evaluation_rows=None), 50) > 30_000
    few = most_evaluated(Settings(), 500)
    assert few < 1000 and 4 * 3 * few * 500**2 <= 2**30 < 4 * 3 * (few + 1) * 500**2
    assert most_evaluated(Settings(projection="network"), 500) == 1000


def test_without_a_projection_network_no_epochs_train_it():
    assert (
        Plan.of(3000, Settings()).projection.epochs
        == 0
        < Plan.of(3000, Settings(projection="network")).projection.epochs
    )


def test_folds_of_an_earlier_fit_are_taken_as_they_are(rng):
    counts, settings = rng.poisson(2.0, (60, 2)), Settings()
    drawn, other = Folds.of(counts, settings), fold_of_rows(60, 3, 7)
    again = Folds.of(counts, settings, other)
    assert (again.of_row == other).all() and not (again.of_row == drawn.of_row).all()
    assert [fold.rows.tolist() for fold in again.ranks] == [(other == fold).nonzero()[0].tolist() for fold in range(3)]
