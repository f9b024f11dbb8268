import dataclasses

import pytest

from disco import DISCO, InputError, Settings
from disco.commands import parse
from disco.paper.settings import PRESETS
from disco.subjects.studies import lahman


def test_the_tuned_preset_is_the_default_everywhere():
    assert Settings() == Settings.of() == Settings.of("tuned") == lahman.settings("raw")
    assert DISCO().get_params()["preset"] == "tuned"
    for command in (["fit", "counts.csv", "--out", "run"], ["lahman", "--out", "runs"]):
        assert (parse(command).preset or "tuned") == "tuned"


def test_paper_numbers():
    paper = Settings.of("paper")
    assert (paper.sigma_min, paper.sigma_max, paper.time_min) == (1e-3, 3.0, 1e-3)
    assert (paper.width, paper.hidden_layers, paper.batch_size, paper.folds) == (512, 4, 512, 3)
    assert (paper.joint_epochs, paper.projection_epochs) == (800, 800)
    assert (paper.joint_learning_rate, paper.joint_learning_rate_end, paper.joint_gradient_norm) == (1e-3, 1e-5, 1)
    assert (paper.projection_learning_rate, paper.projection_learning_rate_end) == (1.5e-3, 3e-5)
    assert (paper.projection_gradient_norm, paper.full_set_probability, paper.full_set_weight) == (5, 0.2, 1)
    assert (paper.validation_share, paper.validation_rows, paper.validation_start) == (0.1, 4096, 300)
    assert (paper.validation_every, paper.patience, paper.min_improvement) == (100, 2, 1e-4)
    assert (paper.noise_levels, paper.noise_min, paper.noise_max, paper.min_level_rows) == (5, 1e-3, 5e-3, 2)
    assert (paper.boundary, paper.criterion, paper.tau_z, paper.pi_min) == ("clipped", "ccs", 2, 1)
    assert paper.max_rows is None and paper.evaluation_rows is None
    assert (paper.skip_connection, paper.joint_steps, paper.projection_steps) == (False, 0, 0)
    assert (paper.parent_rule, paper.selector, paper.disjoint_rows) == ("iqr", "ocs", False)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"folds": 1}, "folds must be at least 2; got 1."),
        ({"pi_min": 0}, "pi_min must be greater than 0; got 0."),
        ({"noise_min": 0.1}, "noise_min must be at most noise_max; got 0.1 and 0.002."),
        ({"sigma_max": 9.0}, "sigma_max must be at most 3, where the kernel's series is exact; got 9.0."),
        ({"min_level_rows": 1}, "min_level_rows must be at least 2; got 1."),
        ({"folds_by": "counts"}, "folds_by counts splits every count in two, so folds must be 2; got 3."),
        (
            {"folds_by": "counts", "folds": 2, "disjoint_rows": True},
            "folds_by counts trains on all rows, and disjoint_rows on half of them: choose one.",
        ),
    ],
)
def test_bad_values_are_refused_in_words(changes, words):
    with pytest.raises(InputError) as caught:
        Settings(**changes)
    assert str(caught.value) == words


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="unknown setting 'epochs'; the settings are seed, transform"):
        Settings.from_dict({"epochs": 3})
    with pytest.raises(InputError, match="preset must be one of tuned, paper; got 'preview'"):
        Settings.of("preview")


def test_settings_survive_json_and_cannot_be_changed():
    settings = Settings.of("paper", tau_z=1)
    assert Settings.from_dict(settings.to_dict()) == settings
    assert settings.preset == "paper" and settings.noise_levels == 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.seed = 3


def test_no_preset_can_carry_the_numbers_of_another():
    with pytest.raises(TypeError, match="preset"):
        Settings(preset="paper")
    with pytest.raises(InputError, match="choose another with Settings.of"):
        Settings().replace(preset="paper")
    renamed = Settings.from_dict({**Settings.of("paper").to_dict(), "preset": "tuned"})
    assert renamed == Settings.of("paper") and renamed.preset == "paper"


@pytest.mark.parametrize("name", ["tuned", "paper"])
def test_a_preset_is_told_by_its_numbers(name):
    assert Settings.of(name, seed=4).preset == name
    others = PRESETS["paper"] if name == "tuned" else Settings().to_dict()
    for field in PRESETS["paper"]:
        changed = Settings.of(name, **{field: others[field]})
        assert (changed.preset, changed.changed()) == (name, {field: others[field]})


def test_a_result_can_say_what_differs_from_its_preset():
    assert Settings.of("paper", seed=4).changed() == {}
    assert Settings.of("tuned", width=512, transform="none").changed() == {"width": 512, "transform": "none"}
