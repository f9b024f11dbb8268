"""Every number of the method. The defaults are the preset `tuned`; `PRESETS` holds the paper's values.

The comments name sections of the paper's appendix *DISCO Implementation* and of *Experimental Setup*.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from disco.errors import InputError

CHOICES = {
    "transform": ("rank", "quantile", "none"),
    "joint_schedule": ("updates", "epochs"),
    "projection_schedule": ("updates", "epochs"),
    "boundary": ("clipped", "admissible"),
    "criterion": ("ccs", "constant"),
    "parent_rule": ("iqr", "jackknife"),
    "selector": ("ocs", "cam", "pcm", "evidence"),
}


@dataclass(frozen=True)
class Settings:
    """The settings of one fit; checked when they are made, never changed.

    Raises:
        InputError: a value has the wrong type or is out of its range.
    """

    seed: int = 0

    # Rank Transform, Lahman
    transform: str = "rank"  # rank | quantile | none (DISCO-NoRank)
    levels: int = 4  # quantile levels per column, with transform="quantile"
    max_rows: int | None = None  # a seeded sample of the rows; None uses all

    # Cross-fitting
    folds: int = 3  # B

    # Joint Concrete-Score Training: schedule and corruption
    sigma_min: float = 1e-3
    sigma_max: float = 0.5
    time_min: float = 1e-3  # epsilon_t

    # Network architecture, the same for both networks
    width: int = 256
    hidden_layers: int = 2
    skip_connection: bool = True  # adds a linear map of the inputs to the joint network's hidden layers

    # Training settings
    batch_size: int = 512
    joint_epochs: int = 30
    joint_steps: int = 500  # at least; a small table gets more epochs to reach it
    joint_schedule: str = "epochs"  # updates | epochs: the unit of the cosine learning-rate schedule
    joint_learning_rate: float = 1e-3
    joint_learning_rate_end: float = 1e-5
    joint_gradient_norm: float = 1.0
    validation_share: float = 0.1  # internal holdout of the score-training split
    validation_rows: int = 4096  # at most
    validation_start: int = 20
    validation_every: int = 5
    patience: int = 5
    min_improvement: float = 1e-4
    projection_epochs: int = 40
    projection_steps: int = 1000  # as joint_steps
    projection_schedule: str = "epochs"  # as joint_schedule
    projection_learning_rate: float = 1.5e-3
    projection_learning_rate_end: float = 3e-5
    projection_gradient_norm: float = 5.0

    # Mask Distribution, Score-Entropy Training
    full_set_probability: float = 0.2
    full_set_weight: float = 1.0
    log_clip: float = 8.0  # bound on the log correction and its target

    # Curvature Estimation
    boundary: str = "clipped"  # clipped | admissible
    criterion: str = "ccs"  # ccs | constant
    noise_levels: int = 1
    noise_min: float = 2e-3
    noise_max: float = 2e-3
    min_level_rows: int = 2  # n_min
    evaluation_rows: int | None = 1000  # at most, per fold; None uses every held-out row

    # Parent Selection
    selector: str = "ocs"  # ocs | cam | pcm | evidence (not in the paper)
    disjoint_rows: bool = False  # one half of the rows for networks and order, the other for the parents
    parent_rule: str = "jackknife"  # iqr (the paper's) | jackknife (not in the paper)
    tau_z: float = 2.0  # threshold of the rule iqr
    pi_min: float = 1.0
    fdr: float = 0.3  # nominal local false discovery rate of the rule jackknife

    # Monitoring only: no rule of the method uses these losses
    monitor_every: int = 5

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            _check_type(field, getattr(self, field.name))
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} must be one of {', '.join(allowed)}; got {getattr(self, name)!r}.")
        for name, low in _AT_LEAST.items():
            value = getattr(self, name)
            if value is not None and value < low:
                raise InputError(f"{name} must be at least {low}; got {value}.")
        for name in _POSITIVE:
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be greater than 0; got {getattr(self, name)}.")
        for name in _SHARES:
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} must lie between 0 and 1; got {getattr(self, name)}.")
        for low, high in (("sigma_min", "sigma_max"), ("noise_min", "noise_max")):
            if getattr(self, low) > getattr(self, high):
                raise InputError(f"{low} must not exceed {high}; got {getattr(self, low)} and {getattr(self, high)}.")
        if self.sigma_max > 3.0:
            raise InputError(f"sigma_max must be at most 3, where the kernel's series is exact; got {self.sigma_max}.")

    @classmethod
    def of(cls, preset: str = "tuned", **changes: Any) -> "Settings":
        """The settings of a preset, with some changed.

        Raises:
            InputError: the preset or a setting is unknown, or a value does not fit.
        """
        if preset not in PRESETS:
            raise InputError(f"preset must be one of {', '.join(PRESETS)}; got {preset!r}.")
        return cls.from_dict({**PRESETS[preset], **changes})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Settings":
        """Settings from names and values, as `to_dict` returns them; the entry `preset` is ignored.

        Raises:
            InputError: a name is unknown or a value does not fit.
        """
        known = [field.name for field in dataclasses.fields(cls)]
        unknown = sorted(set(values) - {"preset", *known})
        if unknown:
            raise InputError(f"unknown setting {unknown[0]!r}; the settings are {', '.join(known)}.")
        return cls(**{name: value for name, value in values.items() if name != "preset"})

    @property
    def preset(self) -> str:
        """The preset with these values, or the preset from which the fewest values differ."""
        return min(PRESETS, key=lambda name: len(self._unlike(name)))

    def to_dict(self) -> dict[str, Any]:
        """The preset and all values by name, ready for JSON."""
        return {"preset": self.preset, **dataclasses.asdict(self)}

    def changed(self) -> dict[str, Any]:
        """The settings that differ from the preset, except the seed; a result names them beside the preset."""
        return self._unlike(self.preset)

    def replace(self, **changes: Any) -> "Settings":
        """A copy with some settings changed, checked again.

        Raises:
            InputError: a name is unknown, is `preset` (use `Settings.of`), or a value does not fit.
        """
        if "preset" in changes:
            raise InputError("preset stands for many settings; choose another with Settings.of.")
        return Settings.from_dict({**self.to_dict(), **changes})

    def _unlike(self, preset: str) -> dict[str, Any]:
        """The settings that differ from those of a preset, except the seed."""
        numbers = {**_DEFAULTS, **PRESETS[preset], "seed": self.seed}
        return {name: value for name, value in dataclasses.asdict(self).items() if value != numbers[name]}


_DEFAULTS = {field.name: field.default for field in dataclasses.fields(Settings)}

# tuned: networks and schedule were chosen by the held-out joint loss; the largest noise and the parent rule by the
# edges of tables that are used for nothing else. Curvature is evaluated at almost no noise, a region with little weight
# in training up to σ = 3 (benchmarks/log/2026-11-23-less-noise.md).
# paper: the paper's numbers. The paper does not give the unit of its cosine schedules. We take updates: with epochs the
# joint network overfits and the graph ends nearly empty, far from the paper's figures.
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

_AT_LEAST = {
    "seed": 0, "levels": 2, "max_rows": 8, "folds": 2, "width": 1, "hidden_layers": 1, "batch_size": 1,
    "joint_epochs": 1, "joint_steps": 0, "validation_rows": 1, "validation_start": 1, "validation_every": 1,
    "patience": 1, "min_improvement": 0, "projection_epochs": 1, "projection_steps": 0, "full_set_weight": 0,
    "noise_levels": 1, "min_level_rows": 2, "evaluation_rows": 4, "monitor_every": 1,
}  # fmt: skip
_POSITIVE = (
    "sigma_min", "sigma_max", "joint_learning_rate", "joint_learning_rate_end", "joint_gradient_norm",
    "projection_learning_rate", "projection_learning_rate_end", "projection_gradient_norm", "log_clip",
    "noise_min", "noise_max", "pi_min", "fdr",
)  # fmt: skip
_SHARES = ("time_min", "validation_share", "full_set_probability", "pi_min", "fdr")


def _check_type(field: dataclasses.Field, value: Any) -> None:
    """Refuse a value of the wrong type; a whole number counts as a float, but true and false are not numbers."""
    kind = field.type if isinstance(field.type, type) else None
    optional = kind is None
    if optional and value is None:
        return
    wanted = int if optional else kind
    accepted = (int, float) if wanted is float else (wanted,)
    if isinstance(value, bool) != (wanted is bool) or not isinstance(value, accepted):
        raise InputError(f"{field.name} must be {_WORDS[wanted]}{' or none' if optional else ''}; got {value!r}.")
    if wanted is float and not math.isfinite(value):
        raise InputError(f"{field.name} must be a finite number; got {value!r}.")


_WORDS = {int: "a whole number", float: "a number", str: "a word", bool: "true or false"}
