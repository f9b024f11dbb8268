"""A run's fit, loaded once and read only; other criteria and boundaries score its nodes again, without a new fit."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from disco.errors import InputError, ScoreUnavailable
from disco.graph.draw import placing
from disco.paper import jackknife, removals
from disco.paper.ocs import frequencies, means, own_thresholds, with_z
from disco.progress import Callback, Event
from disco.runs import Run
from disco.subjects import FIT, stamps
from disco.subjects.fit import network_cache, results
from disco.subjects.fit.results import StoredFit
from pages.shared import session
from pages.shared.compute.background import Key, Slow
from pages.shared.compute.cache import cached
from pages.shared.result.truth import TruthComparison
from pages.shared.widgets.names import plain

TAUS = [step * 0.05 for step in range(101)]  # of the curves against a known truth

VARIANT_WORDS = {
    "ccs-clipped": "CCS, clipped",
    "ccs-admissible": "CCS, admissible",
    "constant-clipped": "constant curvature, clipped",
    "constant-admissible": "constant curvature, admissible",
}


@dataclass(frozen=True)
class Result:
    """An order recovered from a run's networks, with its scores.

    Attributes:
        variant: its criterion and boundary, such as "ccs-clipped".
        rule: the rule of parent selection whose Z it holds: iqr or jackknife.
        order: node names, source first.
        ccs, ocs: the frames of `disco.runs`.
        steps: the removals, as from `disco.paper.removals.all_steps`.
    """

    run: Run
    variant: str
    rule: str
    order: list[str]
    ccs: pd.DataFrame
    ocs: pd.DataFrame
    steps: pd.DataFrame
    folds: int

    @property
    def criterion(self) -> str:
        """ccs or constant."""
        return self.variant.split("-")[0]

    @property
    def boundary(self) -> str:
        """clipped or admissible."""
        return self.variant.split("-")[1]

    @cached_property
    def positions(self) -> dict[str, tuple[float, float]]:
        """Of the graph's nodes, in pixels."""
        return placing.positions(self.order, frequencies(self.ocs, 1.0))

    @cached_property
    def criteria(self) -> pd.DataFrame:
        """The scores under each criterion, the largest file of a fit: read where they are drawn."""
        return StoredFit(self.run, self.variant).criteria

    @cached_property
    def thresholds(self) -> tuple[float, float]:
        """The rule's own (τ_Z, π_min)."""
        groups = self.groups if self.rule == "jackknife" else None
        return own_thresholds(self.ocs, self.run.settings.replace(parent_rule=self.rule), groups)

    @cached_property
    def z(self) -> np.ndarray:
        """One Z per candidate: that of the rule jackknife, which is the same in every fold."""
        return self.ocs.loc[self.ocs["fold"] == 1, "z"].to_numpy()

    @cached_property
    def groups(self) -> jackknife.TwoGroups:
        """The candidates without and with an edge, by `z`."""
        return jackknife.two_groups(self.z)

    @cached_property
    def strongest(self) -> float:
        """The largest mean OCS of all candidates, so that widths do not change with the thresholds."""
        return float(means(self.ocs)["score"].max())

    @property
    def has_curvature(self) -> bool:
        """Whether there is a mean curvature, which the jackknife needs; runs of older versions lack it."""
        return "curvature" in self.ocs

    @cached_property
    def known(self) -> TruthComparison | None:
        """The comparison with the run's truth, if there is one; pages ask `truth.shown`, which may hide it."""
        return TruthComparison.of(self.run, self.order, self.ocs, TAUS)

    def candidates(self, tau_z: float) -> pd.DataFrame:
        """Every candidate edge: parent, child, ocs, z, frequency."""
        return frequencies(self.ocs, tau_z)


def current(run: Run) -> Result:
    """The result shown of a run: the chosen variant and rule, or the run's own if it lacks them."""
    try:
        return of(run, session.shown.variant.current() or results.own_variant(run), session.shown.parent_rule.current())
    except InputError:
        session.shown.variant.keep(None)
        session.shown.parent_rule.keep(None)
        return of(run, results.own_variant(run))


def of(run: Run, variant: str, rule: str | None = None) -> Result:
    """The result of one variant with the Z of a rule, by default the run's own; InputError if the run has none."""
    stamp = stamps.fit(run, variant)
    if not stamp:
        raise InputError(f"The run {run.name} has no result for {variant} yet.")
    return _read(run, variant, rule or run.settings.parent_rule, stamp)


# The stamps ensure that a variant recovered again, or a run with another truth, is read again.
@cached(lambda run, *which: (run.key, *which, stamps.truth(run)))
def _read(run: Run, variant: str, rule: str, _stamp: int) -> Result:
    result = StoredFit(run, variant)
    ocs = result.ocs
    if rule != run.settings.parent_rule:
        ocs = with_z(ocs, rule)
    return Result(
        run=run,
        variant=variant,
        rule=rule,
        order=result.order,
        ccs=result.ccs,
        ocs=ocs,
        steps=removals.all_steps(result.ccs),
        folds=int(ocs["fold"].nunique()),
    )


def rows_note(run: Run) -> None:
    """Which rows of an experiment a fit used, and which of its rules it did not; nothing without one."""
    for note in run.status(FIT).notes:
        st.caption(plain(note))


def variant_picker(result: Result) -> None:
    """Which of the run's orders the result pages show; drawn only if there is a choice."""
    available = results.variants(result.run)
    if len(available) < 2:
        return

    def words(name: str) -> str:
        return VARIANT_WORDS[name] + (" (as fitted)" if name == results.own_variant(result.run) else "")

    key = f"variant_{result.run.id}"
    st.session_state[key] = result.variant
    st.segmented_control(
        "Variant",
        available,
        format_func=words,
        key=key,
        required=True,
        on_change=lambda: session.shown.variant.keep(st.session_state[key]),
        help="All come from the same fitted networks. Ordering, Parents and Graph show the same one.",
    )


Variant = tuple[Run, str]  # and its name


def recover(variants: Sequence[Variant], hear: Callback) -> None:
    """Recover one after the other, and store each with its run; one that fails does not stop the rest."""
    problems = []
    for index, (run, variant) in enumerate(variants):

        def callback(event: Event, index: int = index) -> bool | None:
            return hear(replace(event, progress=(index + event.progress) / len(variants)))

        criterion, boundary = variant.split("-")
        try:
            recovered = network_cache.fitted(run).recover(boundary=boundary, criterion=criterion, callback=callback)
            results.save_variant(run, recovered, variant)
        except (InputError, ScoreUnavailable) as error:
            problems.append(str(error))
    if problems:
        raise InputError(" ".join(dict.fromkeys(problems)))


def variants_section(run: Run) -> None:
    """One line for each criterion and boundary: shown, ready, in progress, or to be computed."""
    if not stamps.networks(run):
        st.info("This needs the run's fitted networks, which are not in its folder.", icon=":material/info:")
    available, selected = results.variants(run), session.shown.variant.current() or results.own_variant(run)
    for variant, words in VARIANT_WORDS.items():
        label, right = st.columns([3, 2], vertical_alignment="center")
        label.markdown(f"**{words}**" + (" · as fitted" if variant == results.own_variant(run) else ""))
        with right:
            if variant not in available:
                key, is_off = (str(run.path),), not stamps.networks(run)
                offer_variants(f"variant_{variant}", [(run, variant)], "Order again", key, disabled=is_off)
            elif st.button(
                "Shown" if variant == selected else "Show", key=f"variant_show_{variant}", disabled=variant == selected
            ):
                session.shown.variant.keep(variant)
                st.rerun()


def offer_variants(name: str, variants: Sequence[Variant], label: str, key: Key, **options: Any) -> None:
    """The button that scores variants from the fitted networks, or the progress of that.

    Args:
        variants: runs, each with a variant that it lacks; without any there is no button.
        key: of the computation, after the name.
    """

    def button() -> bool:
        help = "Uses the fitted networks; nothing is refitted."
        return bool(variants) and st.button(label, key=name, help=help, **options)

    Slow(
        (name, *key),
        partial(recover, variants),
        lambda stage: "Scoring edges" if stage == "parents" else "Scoring nodes",
        "The scores could not be computed",
    ).panel(lambda _: None, button)
