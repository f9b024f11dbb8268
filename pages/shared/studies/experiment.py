"""What the experiment of a study says, beside what graphs say. Owns the key `study_comparison`."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from disco.figures import experiment as figures
from disco.runs import Run, stamps
from disco.studies import experiment as experiments
from disco.studies.experiment import CONTRADICTED, FORWARD, INDIRECT, NONE, OPEN, SUPPORTED, Experiment
from disco.studies.study import Study
from pages.shared.frame import answers, figure, table
from pages.shared.frame.names import plain
from pages.shared.refined import refinement
from pages.shared.studies import group
from pages.shared.work import machine
from pages.shared.work.facts import fact

_CLAIM = (
    "The arrow between the two, from the cause (→) or to it (←), and whether its direction is decided. For →, also the "
    "effect of removing the cause according to the fitted curve, to be compared with the experiment's."
)
_VERDICT = (
    "Supported: the direction is decided, and direction and sign agree with the experiment. Contradicted: the other "
    "direction, the other sign, or no path for an effect that the experiment shows. Otherwise nothing can be said."
)


def section(study: Study, columns: Sequence[str], runs: Mapping[str, Run]) -> None:
    """The measured effects; once there are graphs, the verdict on every pair; and what the study teaches.

    Args:
        columns: whose effects are shown.
        runs: refined ones, by label.
    """
    experiment = study.experiment
    if experiment is None:
        return
    st.subheader("What the experiment says", anchor=False)
    st.markdown(experiment.about)
    label, help = f"{experiment.unit.capitalize()}s compared with controls", "The verdicts below use the first."
    words = {name: name[0].upper() + name[1:] for name in experiment.comparisons}
    chosen = answers.segments(label, words, "study_comparison", help=help)
    means, note = _units(experiment, tuple(columns), chosen)
    effects = experiments.effects(means, columns)
    figure.show(figures.effects(effects, means, chosen, experiment, study.names), "study_effects")
    group.names(study, [name for name in columns if figures.in_words(name, study.names) == name])
    st.caption(
        f"{note} Intervals: 95 %, Welch's t of the log ratio with {experiment.unit}s as units. Few "
        f"{experiment.unit}s make them wide."
    )
    if runs and not 0 < sum(name in experiment.causes for name in columns) < len(columns):
        st.caption(
            f"The experiment removed {experiment.removed}: choose them and another {experiment.noun} to see verdicts."
        )
    elif runs:
        machine.once(machine.compiled, machine.PREPARING, lambda: _verdicts(experiment, runs))
    if study.lesson and runs:
        st.info(study.lesson, icon=":material/school:")
    st.caption(plain(study.credit))


@fact(lambda experiment, *given: (experiment.causes, *given), 32)
def _units(experiment: Experiment, columns: tuple[str, ...], comparison: str) -> tuple[pd.DataFrame, str]:
    return experiment.units(columns, comparison)


@fact(lambda experiment, run: (experiment.causes, str(run.path), stamps.refinement(run)))
def _said(experiment: Experiment, run: Run) -> pd.DataFrame:
    counts = run.table()
    measured = experiment.effects([name for name in counts if name not in experiment.causes])
    refined = refinement.of(run).refined
    return experiments.verdicts(refined, counts, run.adjustment, measured, experiment.causes)


def _verdicts(experiment: Experiment, runs: Mapping[str, Run]) -> None:
    """One row per pair: the experiment's ratio, and each graph's arrow with the verdict on it."""
    st.markdown("**What each graph says of each pair**")
    said = {label: _said(experiment, run) for label, run in runs.items()}
    label, last = list(said.items())[-1]
    pair = ["node"] if last["cause"].nunique() == 1 else ["cause", "node"]
    rows = last[pair].assign(experiment=[ratio_words(one.ratio, one.low, one.high) for one in last.itertuples()])
    text = st.column_config.TextColumn
    columns = {
        "cause": text("Removed", pinned=True, width=105),
        "node": text(experiment.noun.capitalize(), pinned=True, width=95),
        "experiment": text("Experiment", width=150, help=f"{experiment.measured.capitalize()} over those on controls."),
    }
    for name, one in said.items():
        rows[name] = [_claim(*claim) for claim in one[["arrow", "decided", "without"]].to_numpy()]
        rows[f"verdict_{name}"], columns[name] = one["verdict"], text(f"Graph, {name}", help=_CLAIM)
        columns[f"verdict_{name}"] = text(f"Verdict, {name}", help=_VERDICT)
    alt = "Pairs of a removed column and another one: experiment, graphs and verdicts"
    columns["why"] = text(f"Why, {label}", width=270)
    table.show(rows.assign(why=last["why"]), alt, columns, most=400)
    counted = last["verdict"].value_counts()
    parts = [f"**{int(counted.get(one, 0))}** {one}" for one in (SUPPORTED, CONTRADICTED, OPEN)]
    st.markdown(f"{label.capitalize()}: {', '.join(parts)}.")


def ratio_words(ratio: float, low: float, high: float) -> str:
    """A ratio with its interval; without one, a mean is 0."""
    return "too few counts" if math.isnan(low) else f"× {ratio:.2f} ({low:.2f} to {high:.2f})"


def _claim(arrow: str, decided: bool, without: float) -> str:
    """What a graph says of a pair, in words."""
    effect = f" × {without:.2f}" if arrow == FORWARD else ""
    return f"{arrow}{effect}{'' if arrow in (INDIRECT, NONE) else ', decided' if decided else ', open'}"
