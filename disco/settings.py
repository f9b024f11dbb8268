"""Every number of the method. The defaults are the preset `tuned`; `PRESETS` has the paper's values.

The comments name sections of the paper's appendix *DISCO Implementation* and of *Experimental Setup*.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from disco.errors import InputError
from disco.fields import About, among, boolean, changed, check, number, one_of, options, require, share, whole

_JOINT, _PROJECTION, _PARENTS = "Joint network", "Projection network", "Parents and monitoring"  # groups
_UNITS = ("updates", "epochs")
_STEPS: About = {"label": "Steps at least", "help": "A small table is trained for more epochs to reach them."}
_SCHEDULE: About = {
    "older": "epochs",
    "label": "Learning rate falls with",
    "help": "Epochs: the rate falls until the last epoch. Updates: it falls over as many optimiser updates as there "
    "are epochs, then holds its last value. The paper does not say; preset Paper uses updates, our reading.",
}
_DECAY: About = {
    "older": None,
    "label": "Learning rate falls for",
    "help": "Epochs or updates until the learning rate reaches its last value; empty: the number of epochs.",
}
_FIRST: About = {"label": "Learning rate, first", "help": "Falls along a cosine to the last."}
_LAST: About = {"label": "Learning rate, last", "help": "At the end of the cosine."}
_NORM: About = {"label": "Gradient norm at most", "help": "Longer gradients are scaled down to this."}


def _in(group: str, about: About) -> About:
    return {"group": group, **about}


@dataclass(frozen=True)
class Settings:
    """The settings of one fit; checked at creation, immutable.

    Raises:
        InputError: a value has the wrong type or is out of range.
    """

    seed: int = whole(
        0, at_least=0, label="Seed", help="The same seed on the same device gives the same result.", flag="--seed"
    )

    # Rank Transform, Lahman. none: DISCO-NoRank
    transform: str = one_of(
        "rank",
        {"rank": "Ranks", "quantile": "Quantile levels", "none": "None"},
        help="How counts become the levels that the networks use. It is fitted on the training folds only.",
        flag="--transform",
    )
    levels: int = whole(
        4,
        at_least=2,
        label="Levels per column",
        help="Of each column, with the transform quantile. Four are the paper's q4.",
        flag="--levels",
    )
    max_rows: int | None = whole(
        None,
        at_least=8,
        optional=True,
        group="Rows",
        label="Rows used at most",
        help="A random sample with the seed; empty uses all rows.",
    )

    # Cross-fitting. folds: B; folds_by counts is not in the paper
    folds: int = whole(3, at_least=2, help="Cross-fitting folds. Each has its own networks.", flag="--folds")
    folds_by: str = one_of(
        "rows",
        ("rows", "counts"),
        older="rows",
        label="Folds by",
        help="With counts, every count is split in two, one half to train on and one to score on, which needs 2 "
        "folds. Rows that belong together cannot leak. Right if counts are Poisson given their causes. Otherwise use "
        "rows: counts of half the size carry less information.",
        flag="--folds-by",
    )

    # Joint Concrete-Score Training: schedule and corruption. time_min: epsilon_t
    sigma_min: float = number(
        1e-3, above=0, group="Noise", label="Least training noise", help="Of the birth–death corruption."
    )
    sigma_max: float = number(0.5, above=0, group="Noise", label="Largest training noise", help="At most 3.")
    time_min: float = share(1e-3, group="Noise", label="Earliest time", help="Of the noise schedule.")

    # Network architecture, the same for both networks
    width: int = whole(256, at_least=1, group="Networks", help="Units per hidden layer, in every network.")
    hidden_layers: int = whole(2, at_least=1, group="Networks", help="In every network.")
    skip_connection: bool = boolean(
        True, group="Networks", help="A linear map beside the joint network's hidden layers."
    )

    # Training settings
    batch_size: int = whole(512, at_least=1, group="Networks", help="Rows per training step.")
    joint_epochs: int = whole(
        30,
        at_least=1,
        group=_JOINT,
        label="Epochs at most",
        help="Training stops earlier if the validation loss no longer falls.",
    )
    joint_steps: int = whole(500, at_least=0, **_in(_JOINT, _STEPS))
    joint_schedule: str = one_of("epochs", _UNITS, **_in(_JOINT, _SCHEDULE))
    joint_decay: int | None = whole(None, at_least=1, optional=True, **_in(_JOINT, _DECAY))
    joint_learning_rate: float = number(1e-3, above=0, **_in(_JOINT, _FIRST))
    joint_learning_rate_end: float = number(1e-5, above=0, **_in(_JOINT, _LAST))
    joint_gradient_norm: float = number(1.0, above=0, **_in(_JOINT, _NORM))
    validation_share: float = share(
        0.1,
        group=_JOINT,
        label="Share held out for validation",
        help="Of the training folds' rows; decides when to stop.",
    )
    validation_rows: int = whole(
        4096,
        at_least=1,
        group=_JOINT,
        label="Validation rows at most",
        help="A limit on the rows held out for validation.",
    )
    validation_start: int = whole(
        20, at_least=1, group=_JOINT, label="First validation epoch", help="No stopping before it."
    )
    validation_every: int = whole(
        5, at_least=1, group=_JOINT, label="Epochs between validations", help="From the first validation on."
    )
    patience: int = whole(5, at_least=1, group=_JOINT, help="Validations without a gain before training stops.")
    min_improvement: float = number(
        1e-4, at_least=0, group=_JOINT, label="Least gain", help="A smaller fall of the loss does not count."
    )
    projection: str = one_of(  # schur is not in the paper
        "schur",
        {"schur": "None", "network": "Trained"},
        older="network",
        group=_PROJECTION,
        label="Training",
        help="None: the curvature without a removed column follows from the joint network alone, by half of a Schur "
        "complement, in a third of the time. Trained: a second network learns it, as in the paper.",
    )
    projection_epochs: int = whole(
        40, at_least=1, group=_PROJECTION, label="Epochs", help="There is no early stopping."
    )
    projection_steps: int = whole(1000, at_least=0, **_in(_PROJECTION, _STEPS))
    projection_schedule: str = one_of("epochs", _UNITS, **_in(_PROJECTION, _SCHEDULE))
    projection_decay: int | None = whole(None, at_least=1, optional=True, **_in(_PROJECTION, _DECAY))
    projection_learning_rate: float = number(1.5e-3, above=0, **_in(_PROJECTION, _FIRST))
    projection_learning_rate_end: float = number(3e-5, above=0, **_in(_PROJECTION, _LAST))
    projection_gradient_norm: float = number(5.0, above=0, **_in(_PROJECTION, _NORM))

    # Mask Distribution, Score-Entropy Training
    full_set_probability: float = share(
        0.2, group=_PROJECTION, label="Share of full masks", help="Probability that a mask keeps every column."
    )
    full_set_weight: float = number(
        1.0, at_least=0, group=_PROJECTION, label="Weight of the full set", help="Of the loss term on all columns."
    )
    log_clip: float = number(
        8.0, above=0, group=_PROJECTION, label="Bound on the log correction", help="Larger corrections are cut."
    )

    # Curvature Estimation. min_level_rows: n_min
    boundary: str = one_of(
        "clipped",
        ("clipped", "admissible"),
        help="Clipped: {clipped boundary} Admissible: {admissible boundary} You can compare them after the fit.",
        flag="--boundary",
    )
    criterion: str = one_of(
        "ccs",
        {"ccs": "CCS", "constant": "Constant"},
        label="Sink criterion",
        help="CCS: {CCS} Constant: {constant criterion} You can compare them after the fit.",
        flag="--criterion",
    )
    noise_levels: int = whole(
        1, at_least=1, group="Noise", label="Noise levels scored", help="Curvature is averaged over them."
    )
    noise_min: float = number(
        2e-3, above=0, group="Noise", label="Least noise scored", help="Near zero, where scores are those of the data."
    )
    noise_max: float = number(
        2e-3,
        above=0,
        group="Noise",
        label="Largest noise scored",
        help="The levels are evenly spaced in logarithm between the two.",
    )
    min_level_rows: int = whole(2, at_least=2, label="Fewest rows that a level needs", help="{n_min} The paper uses 2.")
    evaluation_rows: int | None = whole(
        1000,
        at_least=4,
        optional=True,
        group="Rows",
        label="Held-out rows scored per fold",
        help="At most; empty scores every held-out row.",
    )

    # Parent Selection. evidence and jackknife are not in the paper, iqr is
    selector: str = one_of(
        "ocs",
        {"ocs": "OCS", "cam": "CAM", "pcm": "PCM", "evidence": "Evidence"},
        resumes=True,
        group=_PARENTS,
        label="Selector of parents",
        help="The selector whose edges are the run's. You can compute the others after the fit, on Parents. PCM adds "
        "minutes to the estimated time if there are many nodes.",
        flag="--parents",
    )
    disjoint_rows: bool = boolean(
        False,
        older=False,
        group=_PARENTS,
        help="A random half of the rows for networks and order, the other half for parents. Otherwise all for both.",
        flag="--disjoint-rows",
    )
    parent_rule: str = one_of(
        "jackknife",
        {"iqr": "Median and IQR", "jackknife": "Folds"},
        group=_PARENTS,
        label="Rule of parent selection",
        help="The paper's median and IQR, or the agreement of the folds. You can change it after the fit, on Parents.",
    )
    tau_z: float = number(
        2.0,
        group=_PARENTS,
        label="Threshold τ_Z",
        help="By the paper's rule, iqr, an edge of the OCS needs Z above this; the rule jackknife computes its own. "
        "It can be changed later, without refitting.",
        flag="--tau-z",
        metavar="Z",
    )
    pi_min: float = share(
        1.0,
        above=0,
        group=_PARENTS,
        label="Share of folds π_min",
        help="An edge of the OCS needs a large Z in at least this share of folds. It can be changed later, without "
        "refitting.",
        flag="--pi-min",
        metavar="SHARE",
    )
    fdr: float = share(
        0.3,
        above=0,
        group=_PARENTS,
        label="False discovery rate",
        help="Nominal, local; sets the threshold for the agreement of the folds, the rule jackknife.",
    )

    # Monitoring only: no rule of the method uses these losses
    monitor_every: int = whole(
        5,
        at_least=1,
        group=_PARENTS,
        label="Epochs between measured losses",
        help="Only for the curves; does not change results.",
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
