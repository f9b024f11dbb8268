import dataclasses

import pytest

from disco import InputError, Settings


def test_paper_preset_is_the_default():
    assert Settings.of("paper") == Settings()


def test_paper_numbers():
    paper = Settings()
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


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"width": 0}, "width must be at least 1; got 0."),
        ({"folds": 1}, "folds must be at least 2; got 1."),
        ({"folds": 2.5}, "folds must be a whole number; got 2.5."),
        ({"folds": True}, "folds must be a whole number; got True."),
        ({"skip_connection": 1}, "skip_connection must be true or false; got 1."),
        ({"tau_z": "2"}, "tau_z must be a number; got '2'."),
        ({"tau_z": float("nan")}, "tau_z must be a finite number; got nan."),
        ({"pi_min": 0}, "pi_min must be greater than 0; got 0."),
        ({"pi_min": 1.2}, "pi_min must lie between 0 and 1; got 1.2."),
        ({"transform": "log"}, "transform must be one of rank, quantile, none; got 'log'."),
        ({"noise_min": 0.1}, "noise_min must not exceed noise_max; got 0.1 and 0.005."),
        ({"sigma_max": 9.0}, "sigma_max must be at most 3, where the kernel's series is exact; got 9.0."),
        ({"max_rows": 1.0}, "max_rows must be a whole number or none; got 1.0."),
        ({"min_level_rows": 1}, "min_level_rows must be at least 2; got 1."),
    ],
)
def test_bad_values_are_refused_in_words(changes, words):
    with pytest.raises(InputError) as caught:
        Settings(**changes)
    assert str(caught.value) == words


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="unknown setting 'epochs'; the settings are preset, seed"):
        Settings.from_dict({"epochs": 3})
    with pytest.raises(InputError, match="preset must be one of paper, tuned, preview; got 'fast'"):
        Settings.of("fast")


def test_settings_survive_json_and_cannot_be_changed():
    settings = Settings.of("preview", tau_z=1)
    assert Settings.from_dict(settings.to_dict()) == settings
    assert settings.preset == "preview" and settings.max_rows is not None
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.seed = 3


def test_a_result_can_say_what_differs_from_its_preset():
    assert Settings.of("preview", seed=4).changed() == {}
    assert Settings.of("preview", width=512, transform="none").changed() == {"width": 512, "transform": "none"}
