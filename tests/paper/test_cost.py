import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from disco import DISCO
from disco.paper.curvature import HeldOut, NetworkScores, diagonal, off_diagonal
from disco.paper.networks import new_networks
from disco.paper.operations import peak_bytes, stage_flops
from disco.paper.plan import Plan
from disco.paper.ranks import fold_of_rows, fold_ranks
from disco.paper.settings import Settings
from disco.paper.training import Training, TrainingRows, train_joint, train_projection

SETTINGS = Settings.of(
    "paper", width=32, joint_epochs=1, projection_epochs=1, validation_start=2, monitor_every=5, noise_levels=2
)


def counted(work) -> int:
    with FlopCounterMode(display=False) as counter:
        work()
    return counter.get_total_flops()


@pytest.fixture
def folds(rng):
    return fold_ranks(rng.poisson(3, (90, 6)), fold_of_rows(90, 3, 0), SETTINGS)


@pytest.mark.parametrize("skip", [False, True])
def test_stage_operations_are_those_the_stages_make(folds, skip):
    settings = SETTINGS.replace(skip_connection=skip)
    plan = Plan.of(90, settings)
    floor = stage_flops(plan, 6)
    rows = TrainingRows(folds, plan, torch.device("cpu"))
    joint, projection = new_networks(folds, settings)
    held_out, scores = HeldOut.of(folds, settings), NetworkScores(joint, projection, settings)
    with FlopCounterMode(display=False) as counter:
        list(train_joint(Training.start(joint), rows, plan))
    # The last epoch is validated too: 1 024 noisy rows a fold, forward.
    weights = 32 * (13 + 3 * 32 + 12) + skip * 13 * 12
    monitor = 3 * 2 * (1024 // plan.holdout * plan.holdout) * weights
    assert counter.get_total_flops() - monitor == pytest.approx(floor["joint"], rel=0.1)
    with FlopCounterMode(display=False) as counter:
        list(train_projection(Training.start(projection), joint, rows, plan))
    monitor = 3 * 2 * (1024 // 30 * 30) * 2 * (weights + 32 * (19 + 3 * 32 + 12))
    assert counter.get_total_flops() - monitor == pytest.approx(floor["projection"], rel=0.1)
    sets = [tuple(range(size)) for size in range(2, 7)]
    ordering = counted(lambda: [diagonal(scores, held_out, R, R, settings.noise_levels) for R in sets])
    assert ordering == pytest.approx(floor["ordering"], rel=0.1)
    parents = counted(lambda: [off_diagonal(scores, held_out, R, R[-1], settings.noise_levels) for R in sets])
    assert parents == pytest.approx(floor["parents"], rel=0.1)


def test_lahman_costs_about_forty_tera_operations():
    assert sum(stage_flops(Plan.of(1400, Settings.of("paper")), 17).values()) == pytest.approx(41e12, rel=0.15)


def test_memory_grows_with_the_table_and_the_row_cap_bounds_it():
    shapes = ((1400, 17), (1400, 1000), (200_000, 17))
    small, wide, long = (peak_bytes(Plan.of(rows, Settings.of("paper")), nodes) for rows, nodes in shapes)
    assert small < 0.8e9 and wide > 2 * small and long > 1.5 * small
    few, many = (Plan.of(rows, Settings.of("paper", max_rows=1400)) for rows in (1400, 200_000))
    assert few == many and peak_bytes(few, 17) == peak_bytes(many, 17) and stage_flops(few, 5) == stage_flops(many, 5)


def test_a_small_table_gets_more_epochs_and_the_paper_none():
    paper = Plan.of(1400, Settings.of("paper"))
    assert (paper.joint.epochs, paper.projection.epochs) == (800, 800)
    asked = Settings.of("paper", joint_epochs=30, joint_steps=500, projection_epochs=40, projection_steps=700)
    small, large = Plan.of(5000, asked), Plan.of(50_000, asked)
    # 5 000 rows in 3 folds: 3 333 to train on, 333 of them held out; batches of 512.
    assert (small.joint.epochs, small.projection.epochs) == (84, 100)
    assert (large.joint.epochs, large.projection.epochs) == (30, 40)
    longer = Plan.of(5000, asked.replace(joint_epochs=84, projection_epochs=100))
    assert stage_flops(small, 6) == stage_flops(longer, 6)


def test_a_fit_makes_the_steps_asked_for(rng):
    asked = {"joint_epochs": 2, "joint_steps": 9, "projection_epochs": 1, "projection_steps": 4, "batch_size": 20}
    more, seen = {"width": 8, "validation_start": 100, "noise_levels": 1, "folds": 2}, []
    hear = lambda event: seen.append((event.stage, event.done, event.total))  # noqa: E731
    fit = DISCO("paper", **asked, **more).fit(rng.poisson(2, (80, 3)), callback=hear)
    # 40 rows to train on, 4 held out: two batches per epoch in both stages.
    assert (fit.training_["joint"]["epochs"], fit.training_["projection"]["epochs"]) == (5, 2)
    assert ("joint", 5, 5) in seen and ("projection", 2, 2) in seen
