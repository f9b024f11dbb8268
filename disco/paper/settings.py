"""Every number of the method. The defaults are the preset `tuned`; `PRESETS` has the paper's values.

The comments name sections of the paper's appendix *DISCO Implementation* and of *Experimental Setup*.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from disco.errors import InputError
from disco.fields import among, boolean, changed, check, number, one_of, options, require, share, whole

_JOINT, _PROJECTION, _PARENTS = "Joint network", "Projection network", "Parents and monitoring"  # groups
_UNITS = ("updates", "epochs")
_STEPS = "Steps at least", "A small table is trained for more epochs to reach them."
_SCHEDULE = (
    "Learning rate falls with",
    "Epochs: the rate falls until the last epoch. Updates: it falls over as many optimiser updates as there are "
    "epochs, then holds its last value. The paper does not say; preset Paper uses updates, our reading.",
)
_DECAY = (
    "Learning rate falls for",
    "Epochs or updates until the learning rate reaches its last value; none or empty: the number of epochs.",
)
_FIRST = "Learning rate, first", "Falls along a cosine to the last."
_LAST = "Learning rate, last", "At the end of the cosine."
_NORM = "Gradient norm at most", "Longer gradients are scaled down to this."


@dataclass(frozen=True)
class Settings:
    """The settings of one fit; checked at creation, immutable. InputError: a value has a wrong type or range."""

    BY_SET: ClassVar = True  # without a flag

    seed: int = whole(0, "Seed", "The same seed on the same device gives the same result.", at_least=0, flag="--seed")

    # Rank Transform, Lahman. none: DISCO-NoRank
    transform: str = one_of(
        "rank",
        {"rank": "Ranks", "quantile": "Quantile levels", "none": "None"},
        "Transform",
        "How counts become levels. A fit computes it from the training folds only.",
        flag="--transform",
    )
    levels: int = whole(
        4,
        "Levels per column",
        "Quantile levels of each column, with the transform quantile. Four are the paper's q4.",
        at_least=2,
        flag="--levels",
    )
    max_rows: int | None = whole(
        None,
        "Rows used at most",
        "A random sample with the seed; none or empty uses all rows.",
        at_least=8,
        optional=True,
        group="Rows",
    )

    # Cross-fitting. folds: B; folds_by counts is not in the paper
    folds: int = whole(3, "Folds", "Cross-fitting folds. Each has its own networks.", at_least=2, flag="--folds")
    folds_by: str = one_of(
        "rows",
        ("rows", "counts"),
        "Folds by",
        "With counts, every count is split in two, one half to train on and one to score on, which needs 2 "
        "folds. Rows that belong together cannot leak. Right if counts are Poisson given their causes. Otherwise use "
        "rows: counts of half the size carry less information.",
        older="rows",
        flag="--folds-by",
    )

    # Joint Concrete-Score Training: schedule and corruption. time_min: epsilon_t
    sigma_min: float = number(1e-3, "Least training noise", "Of the birth–death corruption.", above=0, group="Noise")
    sigma_max: float = number(0.5, "Largest training noise", "At most 3.", above=0, group="Noise")
    time_min: float = share(1e-3, "Earliest time", "Of the noise schedule.", group="Noise")

    # Network architecture, the same for both networks
    width: int = whole(256, "Width", "Units per hidden layer, in every network.", at_least=1, group="Networks")
    hidden_layers: int = whole(2, "Hidden layers", "In every network.", at_least=1, group="Networks")
    skip_connection: bool = boolean(
        True, "Skip connection", "A linear map beside the joint network's hidden layers.", group="Networks"
    )

    # Training settings
    batch_size: int = whole(512, "Batch size", "Rows per training step.", at_least=1, group="Networks")
    joint_epochs: int = whole(
        30, "Epochs at most", "Training stops earlier if the validation loss no longer falls.", at_least=1, group=_JOINT
    )
    joint_steps: int = whole(500, *_STEPS, at_least=0, group=_JOINT)
    joint_schedule: str = one_of("epochs", _UNITS, *_SCHEDULE, group=_JOINT, older="epochs")
    joint_decay: int | None = whole(None, *_DECAY, at_least=1, optional=True, group=_JOINT, older=None)
    joint_learning_rate: float = number(1e-3, *_FIRST, above=0, group=_JOINT)
    joint_learning_rate_end: float = number(1e-5, *_LAST, above=0, group=_JOINT)
    joint_gradient_norm: float = number(1.0, *_NORM, above=0, group=_JOINT)
    validation_share: float = share(
        0.1, "Share held out for validation", "Of the training folds' rows; decides when to stop.", group=_JOINT
    )
    validation_rows: int = whole(
        4096, "Validation rows at most", "A limit on the rows held out for validation.", at_least=1, group=_JOINT
    )
    validation_start: int = whole(20, "First validation epoch", "No stopping before it.", at_least=1, group=_JOINT)
    validation_every: int = whole(
        5, "Epochs between validations", "From the first validation on.", at_least=1, group=_JOINT
    )
    patience: int = whole(5, "Patience", "Validations without a gain before training stops.", at_least=1, group=_JOINT)
    min_improvement: float = number(
        1e-4, "Least gain", "A smaller fall of the loss does not count.", at_least=0, group=_JOINT
    )
    projection: str = one_of(
        "schur",
        {"schur": "None", "network": "Trained"},
        "Training",
        "None (schur): the curvature without a removed column follows from the joint network alone, by half of a Schur "
        "complement, in a third of the time. Trained (network): a second network learns it, as in the paper.",
        older="network",
        group=_PROJECTION,
    )
    projection_epochs: int = whole(40, "Epochs", "There is no early stopping.", at_least=1, group=_PROJECTION)
    projection_steps: int = whole(1000, *_STEPS, at_least=0, group=_PROJECTION)
    projection_schedule: str = one_of("epochs", _UNITS, *_SCHEDULE, group=_PROJECTION, older="epochs")
    projection_decay: int | None = whole(None, *_DECAY, at_least=1, optional=True, group=_PROJECTION, older=None)
    projection_learning_rate: float = number(1.5e-3, *_FIRST, above=0, group=_PROJECTION)
    projection_learning_rate_end: float = number(3e-5, *_LAST, above=0, group=_PROJECTION)
    projection_gradient_norm: float = number(5.0, *_NORM, above=0, group=_PROJECTION)

    # Mask Distribution, Score-Entropy Training
    full_set_probability: float = share(
        0.2, "Share of full masks", "Probability that a mask keeps every column.", group=_PROJECTION
    )
    full_set_weight: float = number(
        1.0, "Weight of the full set", "Of the loss term on all columns.", at_least=0, group=_PROJECTION
    )
    log_clip: float = number(
        8.0, "Bound on the log correction", "Larger corrections are cut.", above=0, group=_PROJECTION
    )

    # Curvature Estimation. min_level_rows: n_min
    boundary: str = one_of(
        "clipped",
        ("clipped", "admissible"),
        "Boundary",
        "Clipped: {clipped boundary} Admissible: {admissible boundary} You can compare them after the fit.",
        flag="--boundary",
    )
    criterion: str = one_of(
        "ccs",
        {"ccs": "CCS", "constant": "Constant"},
        "Sink criterion",
        "CCS: {CCS} Constant: {constant criterion} You can compare them after the fit.",
        flag="--criterion",
    )
    noise_levels: int = whole(1, "Noise levels scored", "Curvature is averaged over them.", at_least=1, group="Noise")
    noise_min: float = number(
        2e-3, "Least noise scored", "Near zero, where scores are those of the data.", above=0, group="Noise"
    )
    noise_max: float = number(
        2e-3,
        "Largest noise scored",
        "The levels are evenly spaced in logarithm between the two.",
        above=0,
        group="Noise",
    )
    min_level_rows: int = whole(2, "Fewest rows that a level needs", "{n_min} The paper uses 2.", at_least=2)
    evaluation_rows: int | None = whole(
        1000,
        "Held-out rows scored per fold",
        "At most; none or empty scores every held-out row.",
        at_least=4,
        optional=True,
        group="Rows",
    )

    # Parent Selection. evidence and jackknife are not in the paper, iqr is
    selector: str = one_of(
        "ocs",
        {"ocs": "OCS", "cam": "CAM", "pcm": "PCM", "evidence": "Evidence"},
        "Selector of parents",
        "The selector whose edges are the run's. You can compute the others after the fit, on the page Parents. PCM "
        "adds minutes to the estimated time if there are many nodes.",
        resumes=True,
        group=_PARENTS,
        flag="--parents",
    )
    disjoint_rows: bool = boolean(
        False,
        "Disjoint rows",
        "A random half of the rows for networks and order, the other half for parents. Otherwise all for both.",
        older=False,
        group=_PARENTS,
        flag="--disjoint-rows",
    )
    parent_rule: str = one_of(
        "jackknife",
        {"iqr": "Median and IQR", "jackknife": "Folds"},
        "Rule of parent selection",
        "The paper's median and IQR, or the agreement of the folds. You can change it after the fit, on the page "
        "Parents.",
        group=_PARENTS,
    )
    tau_z: float = number(
        2.0,
        "Threshold τ_Z",
        "By the paper's rule, iqr, an edge of the OCS needs Z above this; the rule jackknife computes its own. "
        "It can be changed later, without refitting.",
        group=_PARENTS,
        flag="--tau-z",
        metavar="Z",
    )
    pi_min: float = share(
        1.0,
        "Share of folds π_min",
        "An edge of the OCS needs a large Z in at least this share of folds. It can be changed later, without "
        "refitting.",
        above=0,
        group=_PARENTS,
        flag="--pi-min",
        metavar="SHARE",
    )
    fdr: float = share(
        0.3,
        "False discovery rate",
        "Nominal, local; sets the threshold for the agreement of the folds, the rule jackknife.",
        above=0,
        group=_PARENTS,
    )

    # Monitoring only: no rule of the method uses these losses
    monitor_every: int = whole(
        5, "Epochs between measured losses", "Only for the curves; does not change results.", at_least=1, group=_PARENTS
    )

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
        """The settings of a preset, with some changed. InputError: unknown preset or setting, or an invalid value."""
        require("preset", preset, among(PRESETS))
        return cls.from_dict({**PRESETS[preset], **changes})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Settings":
        """Settings from names and values, as `to_dict` returns them; the entry `preset` is ignored.

        InputError: a name is unknown or a value is not allowed.
        """
        names = [field.name for field in dataclasses.fields(cls)]
        unknown = sorted(set(values) - {"preset", *names})
        if unknown:
            raise InputError(f"unknown setting {unknown[0]!r}; the settings are {', '.join(names)}.")
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

        InputError: a name is unknown, is `preset` (use `Settings.of`), or a value is not allowed.
        """
        if "preset" in changes:
            raise InputError("a preset is a whole set of settings; choose another with Settings.of.")
        return Settings.from_dict({**self.to_dict(), **changes})

    def _unlike(self, preset: str) -> dict[str, Any]:
        return {name: value for name, value in changed(self, _of_preset(preset)).items() if name != "seed"}


WITHOUT_FIT = ("transform", "levels")  # the settings on which a refinement without a fit depends
CHOICES = {name: tuple(option.words) for name, option in options(Settings).items() if option.words}


@cache
def _of_preset(name: str) -> Settings:
    return Settings.of(name)


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
