"""The settings of a fit and the choices of a refinement in words: the label and the help of each."""

from disco.settings import PRESETS
from pages.shared.frame.glossary import define

CHOICE_WORDS = {
    "iqr": "Median and IQR",
    "jackknife": "Folds",
    "updates": "Updates",
    "epochs": "Epochs",
    "ocs": "OCS",
    "cam": "CAM",
    "pcm": "PCM",
    "evidence": "Evidence",
    "schur": "None",
    "network": "Trained",
    "rank": "Ranks",
    "quantile": "Quantile levels",
    "ccs": "CCS",
}
_FACTS = {"True": "On", "False": "Off", "None": "Empty"}
SEARCH = {  # the choices of a refinement
    "starts": ("Starts", "Orders to search from: the run's own, the columns sorted, then random ones."),
    "bootstrap": (
        "Bootstrap tables",
        "Tables drawn from the rows with replacement, to show how stable every edge is. 0 for none.",
    ),
    "restarts": (
        "Restarts",
        "Most searches from near the best order. They stop when a round of four gains nothing.",
    ),
    "folds": (
        "Parts left out in turn",
        "To show how often an edge is found on the rest of the rows. 0 for none.",
    ),
    "bound": (
        "Bound, nats",
        f"A direction with less evidence is undecided. Misfit raises this. {define('nats')}",
    ),
    "seed": ("Seed", "For the random orders, the bootstrap tables and the parts left out."),
    "seconds": (
        "Time limit, seconds",
        "The search ends then with the best graph so far, without bootstrap tables. The evidence on its edges takes "
        "further time. 0 for no limit.",
    ),
    "margin": (
        "Counts as unchanged, ± share",
        "With experiments: where the rate of a column changes by less than this, it counts as left alone.",
    ),
    "redone": (
        "Search every bootstrap table from scratch",
        "On: each gets its own screen, prior and starts, like the whole table. Off: a short search from the graph "
        "found measures the edges' local stability, which is higher than the share of full searches.",
    ),
}
_SCHEDULE = (
    "Epochs: the rate falls until the last epoch. Updates: it falls over as many optimiser updates as there are "
    "epochs, then holds its last value. The paper does not say; preset Paper uses {paper}, our reading."
)
_DECAY = "Epochs or updates until the learning rate reaches its last value; empty: the number of epochs."
GROUPS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "Rows": (
        ("max_rows", "Rows used at most", "A random sample with the seed; empty uses all rows."),
        ("evaluation_rows", "Held-out rows scored per fold", "At most; empty scores every held-out row."),
    ),
    "Networks": (
        ("width", "Width", "Units per hidden layer, in every network."),
        ("hidden_layers", "Hidden layers", "In every network."),
        ("skip_connection", "Skip connection", "A linear map beside the joint network's hidden layers."),
        ("batch_size", "Batch size", "Rows per training step."),
    ),
    "Joint network": (
        ("joint_epochs", "Epochs at most", "Training stops earlier if the validation loss no longer falls."),
        ("joint_steps", "Steps at least", "A small table is trained for more epochs to reach them."),
        ("joint_schedule", "Learning rate falls with", _SCHEDULE.format(paper=PRESETS["paper"]["joint_schedule"])),
        ("joint_decay", "Learning rate falls for", _DECAY),
        ("joint_learning_rate", "Learning rate, first", "Falls along a cosine to the last."),
        ("joint_learning_rate_end", "Learning rate, last", "At the end of the cosine."),
        ("joint_gradient_norm", "Gradient norm at most", "Longer gradients are scaled down to this."),
        ("validation_share", "Share held out for validation", "Of the training folds' rows; decides when to stop."),
        ("validation_rows", "Validation rows at most", "A limit on the rows held out for validation."),
        ("validation_start", "First validation epoch", "No stopping before it."),
        ("validation_every", "Epochs between validations", "From the first validation on."),
        ("patience", "Patience", "Validations without a gain before training stops."),
        ("min_improvement", "Least gain", "A smaller fall of the loss does not count."),
    ),
    "Projection network": (
        (
            "projection",
            "Training",
            "None: the curvature without a removed column follows from the joint network alone, by half of a Schur "
            "complement, in a third of the time. Trained: a second network learns it, as in the paper.",
        ),
        ("projection_epochs", "Epochs", "There is no early stopping."),
        ("projection_steps", "Steps at least", "A small table is trained for more epochs to reach them."),
        (
            "projection_schedule",
            "Learning rate falls with",
            _SCHEDULE.format(paper=PRESETS["paper"]["projection_schedule"]),
        ),
        ("projection_decay", "Learning rate falls for", _DECAY),
        ("projection_learning_rate", "Learning rate, first", "Falls along a cosine to the last."),
        ("projection_learning_rate_end", "Learning rate, last", "At the end of the cosine."),
        ("projection_gradient_norm", "Gradient norm at most", "Longer gradients are scaled down to this."),
        ("full_set_probability", "Share of full masks", "Probability that a mask keeps every column."),
        ("full_set_weight", "Weight of the full set", "Of the loss term on all columns."),
        ("log_clip", "Bound on the log correction", "Larger corrections are cut."),
    ),
    "Noise": (
        ("sigma_min", "Least training noise", "Of the birth–death corruption."),
        ("sigma_max", "Largest training noise", "At most 3."),
        ("time_min", "Earliest time", "Of the noise schedule."),
        ("noise_levels", "Noise levels scored", "Curvature is averaged over them."),
        ("noise_min", "Least noise scored", "Near zero, where scores are those of the data."),
        ("noise_max", "Largest noise scored", "The levels are evenly spaced in logarithm between the two."),
    ),
    "Parents and monitoring": (
        (
            "selector",
            "Selector of parents",
            "The selector whose edges are the run's. You can compute the others after the fit, on Parents. PCM adds "
            "minutes to the estimated time if there are many nodes.",
        ),
        (
            "disjoint_rows",
            "Disjoint rows",
            "On: a random half of the rows for networks and order, the other half for the parents. Off: all for both.",
        ),
        (
            "parent_rule",
            "Rule of parent selection",
            "The paper's median and IQR, or the agreement of the folds. You can change it after the fit, on Parents.",
        ),
        ("tau_z", "Threshold τ_Z", "For the paper's rule. You can change it later on Parents, without refitting."),
        ("pi_min", "Share of folds π_min", "You can change it later on Parents, without refitting."),
        ("fdr", "False discovery rate", "Nominal; sets the threshold for the agreement of the folds."),
        ("monitor_every", "Epochs between measured losses", "Only for the curves; does not change results."),
    ),
}
_OTHERS = {  # on Preprocess, in sight on Train, or on no page
    "seed": "Seed",
    "transform": "Transform",
    "levels": "Levels per column",
    "folds": "Folds",
    "folds_by": "Folds by",
    "boundary": "Boundary",
    "criterion": "Sink criterion",
    "min_level_rows": "Rows per level at least",
    "roles": "Roles",
    "knowledge": "Knowledge",
}
_OF_SEARCH = "refinement: "  # before its choices, in the comparison of two runs
_NETWORKS = ("Joint network", "Projection network")  # groups whose labels repeat


def label(name: str) -> str:
    """A setting in words, with its network if both have one of these words; a name that is not listed stays."""
    choice = name.removeprefix(_OF_SEARCH)
    if choice != name and choice in SEARCH:
        words = SEARCH[choice][0]
        return f"Refinement: {words[0].lower()}{words[1:]}"
    for title, fields in GROUPS.items():
        for known, words, _ in fields:
            if known == name:
                return f"{title}: {words[0].lower()}{words[1:]}" if title in _NETWORKS else words
    return _OTHERS.get(name, name)


def value(text: str) -> str:
    """The value of a setting in words, as the pages write it."""
    return (_FACTS | CHOICE_WORDS).get(text, text.capitalize() if text.isalpha() else text)


def said(name: str, value: object) -> str:
    """A setting and its value, in the middle of a sentence."""
    words = label(name)
    told = "empty" if value is None else ("off", "on")[value] if isinstance(value, bool) else str(value)
    return f"{words[0].lower()}{words[1:]} {CHOICE_WORDS.get(told, told)}"
