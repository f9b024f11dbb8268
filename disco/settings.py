"""Every number of the method. The defaults are the preset `tuned`; `PRESETS` has the paper's values.

The comments name sections of the paper's appendix *DISCO Implementation* and of *Experimental Setup*.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from disco.checks import among, check, choices, flag, number, one_of, require, share, whole
from disco.errors import InputError


@dataclass(frozen=True)
class Settings:
    """The settings of one fit; checked at creation, immutable.

    Raises:
        InputError: a value has the wrong type or is out of range.
    """

    seed: int = whole(0, at_least=0)

    # Rank Transform, Lahman
    transform: str = one_of("rank", ("rank", "quantile", "none"))  # none: DISCO-NoRank
    levels: int = whole(4, at_least=2)  # quantile levels per column, with transform="quantile"
    max_rows: int | None = whole(None, at_least=8, optional=True)  # a seeded sample of the rows; None uses all

    # Cross-fitting
    folds: int = whole(3, at_least=2)  # B
    folds_by: str = one_of("rows", ("rows", "counts"))  # counts: two folds of the same rows, not in the paper

    # Joint Concrete-Score Training: schedule and corruption
    sigma_min: float = number(1e-3, above=0)
    sigma_max: float = number(0.5, above=0)
    time_min: float = share(1e-3)  # epsilon_t

    # Network architecture, the same for both networks
    width: int = whole(256, at_least=1)
    hidden_layers: int = whole(2, at_least=1)
    skip_connection: bool = flag(True)  # adds a linear map of the inputs to the joint network's hidden layers

    # Training settings
    batch_size: int = whole(512, at_least=1)
    joint_epochs: int = whole(30, at_least=1)
    joint_steps: int = whole(500, at_least=0)  # minimum; a small table gets more epochs to reach it
    joint_schedule: str = one_of("epochs", ("updates", "epochs"))  # the unit of the cosine learning-rate schedule
    joint_decay: int | None = whole(None, at_least=1, optional=True)  # its length in that unit; None: as many as epochs
    joint_learning_rate: float = number(1e-3, above=0)
    joint_learning_rate_end: float = number(1e-5, above=0)
    joint_gradient_norm: float = number(1.0, above=0)
    validation_share: float = share(0.1)  # internal holdout of the score-training split
    validation_rows: int = whole(4096, at_least=1)  # at most
    validation_start: int = whole(20, at_least=1)
    validation_every: int = whole(5, at_least=1)
    patience: int = whole(5, at_least=1)
    min_improvement: float = number(1e-4, at_least=0)
    projection_epochs: int = whole(40, at_least=1)
    projection_steps: int = whole(1000, at_least=0)  # as joint_steps
    projection_schedule: str = one_of("epochs", ("updates", "epochs"))  # as joint_schedule
    projection_decay: int | None = whole(None, at_least=1, optional=True)  # as joint_decay
    projection_learning_rate: float = number(1.5e-3, above=0)
    projection_learning_rate_end: float = number(3e-5, above=0)
    projection_gradient_norm: float = number(5.0, above=0)

    # Mask Distribution, Score-Entropy Training
    projection: str = one_of("schur", ("schur", "network"))  # schur: from the joint network alone, not in the paper
    full_set_probability: float = share(0.2)
    full_set_weight: float = number(1.0, at_least=0)
    log_clip: float = number(8.0, above=0)  # bound on the log correction and its target

    # Curvature Estimation
    boundary: str = one_of("clipped", ("clipped", "admissible"))
    criterion: str = one_of("ccs", ("ccs", "constant"))
    noise_levels: int = whole(1, at_least=1)
    noise_min: float = number(2e-3, above=0)
    noise_max: float = number(2e-3, above=0)
    min_level_rows: int = whole(2, at_least=2)  # n_min
    evaluation_rows: int | None = whole(1000, at_least=4, optional=True)  # at most, per fold; None: all held-out

    # Parent Selection
    selector: str = one_of("ocs", ("ocs", "cam", "pcm", "evidence"))  # evidence: not in the paper
    disjoint_rows: bool = flag(False)  # one half of the rows for networks and order, the other for the parents
    parent_rule: str = one_of("jackknife", ("iqr", "jackknife"))  # iqr: the paper's
    tau_z: float = number(2.0)  # threshold of the rule iqr
    pi_min: float = share(1.0, above=0)
    fdr: float = share(0.3, above=0)  # nominal local false discovery rate of the rule jackknife

    # Monitoring only: no rule of the method uses these losses
    monitor_every: int = whole(5, at_least=1)

    def __post_init__(self) -> None:
        check(self)
        for low, high in (("sigma_min", "sigma_max"), ("noise_min", "noise_max")):
            if getattr(self, low) > getattr(self, high):
                raise InputError(f"{low} must be at most {high}; got {getattr(self, low)} and {getattr(self, high)}.")
        if self.sigma_max > 3.0:
            raise InputError(f"sigma_max must be at most 3, where the kernel's series is exact; got {self.sigma_max}.")
        if self.folds_by == "counts":
            if self.folds != 2:
                raise InputError(f"folds_by counts splits every count in two, so folds must be 2; got {self.folds}.")
            if self.disjoint_rows:
                raise InputError("folds_by counts trains on all rows, and disjoint_rows on half of them: choose one.")

    @classmethod
    def of(cls, preset: str = "tuned", **changes: Any) -> "Settings":
        """The settings of a preset, with some changed.

        Raises:
            InputError: the preset or a setting is unknown, or a value is not allowed.
        """
        require("preset", preset, among(PRESETS))
        return cls.from_dict({**PRESETS[preset], **changes})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Settings":
        """Settings from names and values, as `to_dict` returns them; the entry `preset` is ignored.

        Raises:
            InputError: a name is unknown or a value is not allowed.
        """
        known = [field.name for field in dataclasses.fields(cls)]
        unknown = sorted(set(values) - {"preset", *known})
        if unknown:
            raise InputError(f"unknown setting {unknown[0]!r}; the settings are {', '.join(known)}.")
        return cls(**{name: value for name, value in values.items() if name != "preset"})

    @property
    def networks(self) -> tuple[str, ...]:
        """The networks that a fit trains, in order; also its training stages."""
        return ("joint", "projection") if self.projection == "network" else ("joint",)

    @property
    def preset(self) -> str:
        """The preset with these values, or the preset from which the fewest values differ."""
        return min(PRESETS, key=lambda name: len(self._unlike(name)))

    def to_dict(self) -> dict[str, Any]:
        """The preset and all values by name, ready for JSON."""
        return {"preset": self.preset, **vars(self)}

    def changed(self) -> dict[str, Any]:
        """The settings that differ from the preset, except the seed; results list them beside the preset."""
        return self._unlike(self.preset)

    def replace(self, **changes: Any) -> "Settings":
        """A copy with some settings changed, checked again.

        Raises:
            InputError: a name is unknown, is `preset` (use `Settings.of`), or a value is not allowed.
        """
        if "preset" in changes:
            raise InputError("a preset is a whole set of settings; choose another with Settings.of.")
        return Settings.from_dict({**self.to_dict(), **changes})

    def _unlike(self, preset: str) -> dict[str, Any]:
        """The settings that differ from those of a preset, except the seed."""
        numbers = {**_DEFAULTS, **PRESETS[preset], "seed": self.seed}
        return {name: value for name, value in vars(self).items() if value != numbers[name]}


CHOICES = choices(Settings)  # setting → its allowed words
_DEFAULTS = {field.name: field.default for field in dataclasses.fields(Settings)}

# tuned: networks and schedule were chosen by the held-out joint loss; the largest noise and the parent rule by the
# edges of tables that have no other use. Curvature is evaluated at almost no noise, a region with little weight in
# training up to σ = 3 (benchmarks/log/2026-11-23-less-noise.md).
# paper: the paper's numbers. The paper does not state the unit of its cosine schedules. We use updates: with epochs the
# joint network overfits and the graph is nearly empty, far from the paper's figures.
PRESETS: dict[str, dict[str, Any]] = {
    "tuned": {},
    "paper": {
        "sigma_max": 3.0,
        "width": 512,
        "hidden_layers": 4,
        "skip_connection": False,
        "joint_epochs": 800,
        "joint_steps": 0,
        "joint_schedule": "updates",
        "validation_start": 300,
        "validation_every": 100,
        "patience": 2,
        "projection": "network",
        "projection_epochs": 800,
        "projection_steps": 0,
        "projection_schedule": "updates",
        "noise_levels": 5,
        "noise_min": 1e-3,
        "noise_max": 5e-3,
        "evaluation_rows": None,
        "parent_rule": "iqr",
        "monitor_every": 20,
    },
}
